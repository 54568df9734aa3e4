// What an upload is: by its first bytes, else by its name (decisions.md "Object storage").
import { fail } from "../../contract/errors.js";
import { contentTypePattern } from "../../contract/object-texts.js";
import type { StorageSpec } from "../../ports/storage-spec.js";

/** Bytes that tell the type of nearly every file. */
const sniffed = 4100;

/** The content type, and the content as it was before its beginning was looked at. */
export async function contentTypeOf(
  content: AsyncIterable<Buffer>,
  filename: string,
): Promise<{ readonly type: string; readonly content: AsyncIterable<Buffer> }> {
  const iterator = content[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let size = 0;
  while (size < sniffed) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    read.push(value);
    size += value.length;
  }
  // Loaded with the first upload: a service starts without them.
  const [{ fileTypeFromBuffer }, { lookup }] = await Promise.all([
    import("file-type"),
    import("mime-types"),
  ]);
  const found = await fileTypeFromBuffer(Buffer.concat(read).subarray(0, sniffed));
  const type = found?.mime ?? (lookup(filename) || "application/octet-stream");
  return { type, content: joined(read, iterator) };
}

async function* joined(
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

/** Checks a type that somebody names. Throws `core.validation` at `/content_type`, or `upload_type_unsupported`. */
export function checkNamed(spec: StorageSpec, type: string): void {
  if (type.length > maxLength || !contentType.test(type)) {
    const message = "must be a media type such as image/png";
    throw fail("core.validation", {
      errors: [{ path: "/content_type", keyword: "pattern", message }],
    });
  }
  checkAccepted(spec, type);
}

/** Throws `upload_type_unsupported` where the storage does not take the type in. */
export function checkAccepted({ accept }: StorageSpec, type: string): void {
  if (accept !== null && !accepts(accept, type))
    throw fail("upload_type_unsupported", { content_type: type });
}

/** Whether one of the patterns (`image/png`, `image/*`) is of the type. */
function accepts(patterns: readonly string[], type: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === type || (pattern.endsWith("/*") && type.startsWith(pattern.slice(0, -1))),
  );
}
