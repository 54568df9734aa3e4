// The content type of an upload, by its first bytes and its name (decisions.md "Object storage").
import { fail, type ServiceError } from "../../contract/errors.js";
import { contentTypePattern } from "../../contract/object-texts.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import {
  fits,
  recognizeType,
  sniffedBytes,
  unknownType,
  usualType,
  type Recognized,
} from "./recognition.js";
import { refusedType } from "./refused-type.js";

/** The facts of an upload besides its bytes. */
export interface Named {
  readonly filename: string;
  /** The content type that somebody names; by default the bytes and the name tell it. */
  readonly told?: string | undefined;
}

/** The beginning of a content, and the content as it was before that was looked at. */
interface Begun {
  readonly beginning: Buffer;
  /** Whether the beginning is all of it. */
  readonly isWhole: boolean;
  readonly content: AsyncIterable<Buffer>;
}

/**
 * The content type with which a storage takes an upload in, and the content as it was before its
 * beginning was looked at. Throws `upload_type_unsupported` if it does not, and
 * `core.validation` if the type that is told is none.
 */
export async function admitType(
  spec: StorageSpec,
  content: AsyncIterable<Buffer>,
  named: Named,
): Promise<{ readonly type: string; readonly content: AsyncIterable<Buffer> }> {
  if (named.told !== undefined) checkNamed(spec, named.told);
  if (named.told !== undefined && !isStrict(spec)) return { type: named.told, content };
  const begun = await beginningOf(content);
  return { type: await admittedType(spec, begun, named), content: begun.content };
}

/** As `admitted`, for an object that the engine has already. */
export async function admittedType(
  spec: StorageSpec,
  { beginning, isWhole }: Omit<Begun, "content">,
  { filename, told }: Named,
): Promise<string> {
  const found = await recognizeType(beginning, isWhole);
  const byName = await typeByName(filename);
  const type = isStrict(spec)
    ? strictType(spec, found, byName, told)
    : acceptedOf(spec, told ?? (hasSignature(found) ? usualType(found) : (byName ?? unknownType)));
  if (type !== undefined) return type;
  throw refusalOf(spec, found, byName, told);
}

function acceptedOf({ accept }: StorageSpec, type: string): string | undefined {
  return accept === null || accepts(accept, type) ? type : undefined;
}

/**
 * Why a file is refused: what somebody named does not fit, or the bytes are not accepted, or the
 * name is not.
 */
function refusalOf(
  spec: StorageSpec,
  found: Recognized,
  byName: string | null,
  told: string | undefined,
): ServiceError {
  const bytes = usualType(found);
  if (told !== undefined) return refusedType(told, "request", bytes);
  const isByBytes = found.kind !== "text" && acceptedOf(spec, bytes) === undefined;
  return isByBytes || byName === null
    ? refusedType(bytes, "bytes")
    : refusedType(byName, "name", bytes);
}

/** Whether the bytes say more than the name may: text that begins with a tag may be many things. */
function hasSignature(found: Recognized): boolean {
  return found.kind === "format" && !["text/html", "image/svg+xml"].includes(usualType(found));
}

/** Whether the storage takes in what fits by its bytes and its name alone. */
export function isStrict({ accept, detect }: StorageSpec): boolean {
  return accept !== null && detect !== "name";
}

/** The accepted type that the bytes fit, if the name says nothing else. */
function strictType(
  spec: StorageSpec,
  found: Recognized,
  byName: string | null,
  told: string | undefined,
): string | undefined {
  const isAccepted = (type: string): boolean => acceptedOf(spec, type) !== undefined;
  const formats = found.kind === "format" ? found.types : [];
  const candidates = told === undefined ? candidatesOf(found, byName) : [told];
  const type = candidates.find((one) => isAccepted(one) && fits(found, one));
  const isNameFit = byName === null || isAccepted(byName) || formats.includes(byName);
  return isNameFit ? type : undefined;
}

/** The types of a file, the one that says most first. */
function candidatesOf(found: Recognized, byName: string | null): readonly string[] {
  if (found.kind === "unknown") return [unknownType];
  // All that tells one text from another is its name.
  if (found.kind === "text") return [byName ?? usualType(found)];
  if (byName === null || found.types.includes(byName)) return found.types;
  return [byName, ...found.types];
}

/**
 * Throws `upload_type_unsupported` if the name is that of a type that a strict storage does not
 * take in.
 */
export async function checkFilename(spec: StorageSpec, filename: string): Promise<void> {
  if (!isStrict(spec)) return;
  const byName = await typeByName(filename);
  if (byName !== null && acceptedOf(spec, byName) === undefined) throw refusedType(byName, "name");
}

async function typeByName(filename: string): Promise<string | null> {
  const { lookup } = await import("mime-types");
  return lookup(filename) || null;
}

async function beginningOf(content: AsyncIterable<Buffer>): Promise<Begun> {
  const iterator = content[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  while (size <= sniffedBytes) {
    const { done, value } = await iterator.next();
    isWhole = done === true;
    if (isWhole) break;
    read.push(value);
    size += value.length;
  }
  return {
    beginning: Buffer.concat(read).subarray(0, sniffedBytes),
    isWhole,
    content: joinContent(read, iterator),
  };
}

async function* joinContent(
  read: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    yield* read;
    for (;;) {
      const { done, value } = await rest.next();
      if (done === true) return;
      yield value;
    }
  } finally {
    await rest.return?.();
  }
}

const contentType = new RegExp(contentTypePattern);
const maxLength = 255;

/**
 * Checks a type that somebody names. Throws `core.validation` at `/content_type`, or
 * `upload_type_unsupported`.
 */
export function checkNamed(spec: StorageSpec, type: string): void {
  if (type.length > maxLength || !contentType.test(type)) {
    const message = "must be a media type such as image/png";
    throw fail("core.validation", {
      errors: [{ path: "/content_type", keyword: "pattern", message }],
    });
  }
  if (acceptedOf(spec, type) === undefined) throw refusedType(type, "request");
}

/** Whether one of the patterns (`image/png`, `image/*`) is of the type. */
function accepts(patterns: readonly string[], type: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === type || (pattern.endsWith("/*") && type.startsWith(pattern.slice(0, -1))),
  );
}
