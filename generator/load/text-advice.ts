// How paths, versions, permissions, references and other texts are written here that somebody wrote
// in another way.
import type { Advice } from "../diagnostics/diagnostics.js";
import { flowText } from "./flow-text.js";

/** The first text that has the form, as a suggestion. */
function adviseFitting(pattern: RegExp, ...candidates: readonly string[]): Advice | undefined {
  const suggestion = candidates.find((candidate) => pattern.test(candidate));
  return suggestion === undefined ? undefined : { suggestion };
}

/** `tasks/:id` → `/tasks/{id}`. */
export const pathAdvice =
  (pattern: RegExp) =>
  (given: unknown): Advice | undefined => {
    if (typeof given !== "string") return undefined;
    const rooted = `/${given.trim().replace(/^\/+/, "")}`;
    const braced = rooted.replaceAll(
      /:([A-Za-z_]\w*)|<([A-Za-z_]\w*)>|\[([A-Za-z_]\w*)\]/g,
      "{$1$2$3}",
    );
    return adviseFitting(pattern, rooted, braced);
  };

/** `Shop API` → `shop_api`. */
export const nameAdvice =
  (pattern: RegExp) =>
  (given: unknown): Advice | undefined =>
    typeof given === "string"
      ? adviseFitting(
          pattern,
          given
            .trim()
            .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
            .replaceAll(/[^A-Za-z0-9]+/g, "_")
            .toLowerCase(),
        )
      : undefined;

/** `v1` and `1.0`, which YAML reads as the number 1, → `1.0.0`. */
export function versionAdvice(given: unknown): Advice | undefined {
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(String(given));
  if (found === null) return undefined;
  const [, major = "0", minor = "0", patch = "0"] = found;
  return { suggestion: `${major}.${minor}.${patch}` };
}

/** `tasks:write` → `tasks.write`, and `write` → `{resource}.write`. */
export const permissionAdvice =
  (pattern: RegExp) =>
  (given: unknown): Advice | undefined => {
    if (typeof given !== "string") return undefined;
    const words = given
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .replaceAll(/[:/ ]+/g, ".")
      .replace(/^\{?resources?\}?\.|^\{[^}]*\}\.?/, "{resource}.")
      .replaceAll("-", "_");
    return adviseFitting(
      pattern,
      words,
      `{resource}.${words}`,
      words.split(".").slice(-2).join("."),
    );
  };

/** Media types of usual suffixes (https://www.iana.org/assignments/media-types). */
const mediaTypes: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
  json: "application/json",
  zip: "application/zip",
  csv: "text/csv",
  txt: "text/plain",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
};

/** `.jpg` → `image/jpeg`, `images` → `image/*`. */
export function contentTypeAdvice(given: unknown): Advice | undefined {
  if (typeof given !== "string") return undefined;
  if (given === "*" || given === "*/*")
    return { hint: "Leave `accept` out: then every type is taken." };
  const word = given.replace(/^\*?\./, "").toLowerCase();
  const type = mediaTypes[word] ?? /^(image|audio|video|text)s?(?:\/)?$/.exec(word)?.[1];
  if (type === undefined) return undefined;
  return { suggestion: type.includes("/") ? type : `${type}/*` };
}

/** What a reference lacks. */
export function referenceAdvice(given: unknown): Advice | undefined {
  if (typeof given !== "string")
    return { hint: "Name a file and its export: `registry/handlers/tasks.ts#complete`." };
  if (given.startsWith("/"))
    return {
      hint: "A reference is relative to the project: `registry/handlers/tasks.ts#complete`.",
    };
  const [, file, name] =
    /^([\w@./-]+?)(?:\.(?:[cm]?[jt]s))?(?:#|::|:| )?([A-Za-z_$][\w$]*)?$/.exec(given) ?? [];
  if (/^[\w@./-]+\.[cm]?[jt]s#?$/.test(given))
    return {
      hint: `Put the name of its export behind it, without a space: \`${given.replace(/#$/, "")}#<export>\`.`,
    };
  const suggestion = `${file ?? ""}.ts#${name ?? ""}`;
  return file !== undefined && name !== undefined && given.includes("#") && file.includes("/")
    ? { suggestion }
    : { hint: "Name a file and its export: `registry/handlers/tasks.ts#complete`." };
}

/** A guard names a policy: steps are declared apart. */
export function policyAdvice(given: unknown): Advice | undefined {
  if (typeof given === "boolean")
    return given
      ? {
          hint: "Declare a policy, and name it: `policies: {signed_in: [principal]}`, `guard: signed_in`.",
        }
      : { hint: "What is public says so: `policies: {open: []}`, `guard: open`." };
  if (!Array.isArray(given)) return undefined;
  const steps = given.length === 0 ? "open" : "signed_in";
  return {
    hint: `A guard names a policy. Declare its steps under \`policies\`, and name it: \`policies: {${steps}: ${flowText(given)}}\`, \`guard: ${steps}\`.`,
  };
}
