// One range of bytes of an object (RFC 9110 §14, decisions.md "Object storage").
import type { ByteWindow } from "../../ports/object-head.js";

/**
 * The window that a Range header asks for in an object of `size` bytes, cut to `maxBytes`; null
 * where the header is to be ignored (several ranges, another unit, malformed), `unsatisfiable`
 * if it begins behind the end.
 */
export function windowOf(
  header: string | undefined,
  size: number,
  maxBytes: number,
): ByteWindow | "unsatisfiable" | null {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (match === null) return null;
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return null;
  if (from === "") {
    // The last so many bytes; more than there are is all of them.
    if (Number(to) === 0 || size === 0) return "unsatisfiable";
    const first = Math.max(0, size - Number(to));
    return { first, last: Math.min(size - 1, first + maxBytes - 1) };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  if (first >= size) return "unsatisfiable";
  const last = to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return { first, last: Math.min(last, first + maxBytes - 1) };
}
