// The size limit of uploads: exact, at the byte that crosses (decisions.md "Object storage").
import { fail } from "../contract/errors.js";

/** The content up to its limit. Throws `upload_too_large` at the byte that crosses. */
export async function* limitBytes(
  content: AsyncIterable<Buffer>,
  maxBytes: number | null,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (maxBytes !== null && size > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/** The error of a file that is too large; what follows of it is not read. */
export function tooLarge(maxBytes: number): Error {
  return fail("upload_too_large", { max_bytes: maxBytes }, { headers: { Connection: "close" } });
}
