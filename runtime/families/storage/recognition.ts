// What the first bytes of a file say that it is, and which content types fit that (decisions.md
// "Object storage").
import { parsesAsJson } from "./json-beginning.js";

/** Bytes that tell the format of nearly every file; documents in zip reveal theirs late. */
export const sniffedBytes = 16 * 1024;

/** The format of a file by its beginning. */
export type Recognized =
  /** A format with a signature, by its names; the first is the usual one. */
  | { readonly kind: "format"; readonly types: readonly string[]; readonly text: string | null }
  /** UTF-8 text of no format that has a signature. */
  | { readonly kind: "text"; readonly text: string; readonly isWhole: boolean }
  | { readonly kind: "unknown" };

/**
 * Formats whose files are text; where a text only looks like another one, it is a text ("BMW" is no
 * bitmap).
 */
const textFormats =
  /^(?:text\/|application\/(?:pdf|rtf|postscript|eps|xml|pgp-encrypted)$|model\/(?:stl|gltf))/;

/** Recognizes the beginning of a file; `isWhole` says that it is all of it. */
export async function recognizeType(beginning: Buffer, isWhole: boolean): Promise<Recognized> {
  // Loaded with the first upload: a service starts without them.
  const [{ fileTypeFromBuffer }, { lookup }] = await Promise.all([
    import("file-type"),
    import("mime-types"),
  ]);
  const text = textIn(beginning, isWhole);
  const found = beginning.length === 0 ? undefined : await fileTypeFromBuffer(beginning);
  if (found !== undefined && (text === null || textFormats.test(found.mime))) {
    // Its extension has other names for the same format, such as audio/x-flac for audio/flac.
    const alias = lookup(found.ext);
    const types = [found.mime.split(";", 1)[0] ?? "", ...(alias === false ? [] : [alias])];
    return { kind: "format", types: [...new Set(types)], text };
  }
  if (text === null) return { kind: "unknown" };
  const root = rootOf(text);
  if (root === "svg") return { kind: "format", types: ["image/svg+xml"], text };
  if (root !== null && htmlTags.has(root)) return { kind: "format", types: ["text/html"], text };
  return { kind: "text", text, isWhole };
}

/** The content type of a recognized format, if no name says more. */
export function usualType(found: Recognized): string {
  if (found.kind === "format") return found.types[0] ?? unknownType;
  return found.kind === "text" ? "text/plain" : unknownType;
}

/** The content type of bytes that are not recognized. */
export const unknownType = "application/octet-stream";

/** Whether a file of this content type may begin so. */
export function fits(found: Recognized, type: string): boolean {
  if (found.kind === "unknown") return type === unknownType;
  if (found.kind === "text") return isTextual(type) && fitsText(found, type);
  if (found.types.includes(type)) return true;
  const [usual = ""] = found.types;
  // A README may begin with a tag; Markdown has HTML in it.
  if (usual === "text/html") return type === "text/markdown";
  if (usual === "application/xml" || usual === "image/svg+xml") return fitsXml(found.text, type);
  // A calendar is a text that has a signature.
  if (found.text !== null && /^(?:text\/|model\/stl$)/.test(usual))
    return isTextual(type) && fitsText({ text: found.text, isWhole: false }, type);
  const [family = "", subtype = ""] = usual.split("/");
  // Containers of moving pictures hold sounds alone as well.
  if (family === "video" && type === `audio/${subtype}`) return true;
  return contained[usual]?.test(type) === true;
}

/** Formats that signatures only tell by their container. */
const contained: Readonly<Record<string, RegExp>> = {
  "application/zip": /^(?:[a-z]+\/[a-z0-9.+-]+\+zip|application\/vnd\.google-earth\.kmz)$/,
  "application/x-cfb":
    /^application\/(?:msword|vnd\.ms-(?:excel|powerpoint|outlook|project)|x-msi|vnd\.visio)$/,
  "application/vnd.ms-asf": /^(?:audio\/x-ms-wma|video\/x-ms-(?:wmv|asf))$/,
  "application/ogg": /^(?:audio|video)\/ogg$/,
  "video/mp4": /^video\/x-m4v$/,
  "audio/x-m4a": /^audio\/mp4$/,
  "application/gzip": /^application\/x-(?:gzip|compressed-tar)$/,
};

const jsonTypes = /^(?:application\/json|[a-z]+\/[a-z0-9.-]+\+json)$/;
const xmlTypes = /^(?:(?:application|text)\/xml|[a-z]+\/[a-z0-9.-]+\+xml)$/;
const otherTexts =
  /^application\/(?:(?:x-)?(?:javascript|ecmascript|yaml|toml|sql|sh|tex|latex|ndjson|subrip|pem-file)|jsonl|graphql|json5|node)$/;

/** Whether files of this content type are text. */
function isTextual(type: string): boolean {
  return (
    type.startsWith("text/") || [jsonTypes, xmlTypes, otherTexts].some((one) => one.test(type))
  );
}

/** Whether a text that is no HTML fits a type of text. */
function fitsText(
  { text, isWhole }: { readonly text: string; readonly isWhole: boolean },
  type: string,
): boolean {
  if (jsonTypes.test(type)) return parsesAsJson(text, isWhole);
  if (xmlTypes.test(type)) return fitsXml(text, type);
  return type !== "text/html" && type !== "text/rtf";
}

function fitsXml(text: string | null, type: string): boolean {
  const root = rootOf(text ?? "");
  if (!xmlTypes.test(type) || root === null) return false;
  if (type === "image/svg+xml") return root === "svg";
  if (type === "application/xhtml+xml") return root === "html";
  // A page in XML is a page; where it begins with comments longer than what is looked at, nobody
  // knows.
  return root !== "html";
}

/**
 * Tags by which browsers tell that a text is HTML
 * (https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type).
 */
const htmlTags = new Set(
  "!doctype html head script iframe h1 div font table a style title b body br p".split(" "),
);

/**
 * The first tag of a text, in lower case, behind declarations and comments; null if it begins
 * with none.
 */
function rootOf(text: string): string | null {
  let at = 0;
  for (;;) {
    const skipped =
      /\s*(?:<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!doctype\s+(?!html)[^[>]*(?:\[[^\]]*\]\s*)?>)?/iy;
    skipped.lastIndex = at;
    const { length } = skipped.exec(text)?.[0] ?? "";
    if (length === 0) break;
    at += length;
  }
  const tag = /<(!doctype|(?:[\w.-]+:)?[\w.-]+)(?=[\s/>])/iy;
  tag.lastIndex = at;
  return (
    tag
      .exec(text)?.[1]
      ?.toLowerCase()
      .replace(/^[^:]+:/, "") ?? null
  );
}

// oxlint-disable-next-line no-control-regex -- these are what no text has
const binary = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/;

/** The beginning as UTF-8; null if it is none, or has bytes that no text has. */
function textIn(beginning: Buffer, isWhole: boolean): string | null {
  try {
    // The last character may be cut.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(beginning, { stream: !isWhole });
    return binary.test(text) ? null : text;
  } catch {
    return null;
  }
}
