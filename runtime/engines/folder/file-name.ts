// Keys as file paths: every key has its own path, even on file systems that ignore case or
// normalize Unicode.

/** Characters of a file name, without its suffix. File systems allow 255 bytes. */
const longest = 200;

/**
 * The path of a key's file: one folder per segment (`.d`), more for a long one (`.c`), and the
 * object itself (`.o`).
 */
export function pathOf(key: string): readonly string[] {
  const segments = key.split("/").map(encodeSegment);
  return segments.flatMap((name, index) => {
    const parts: string[] = [];
    let rest = name;
    for (; rest.length > longest; rest = rest.slice(longest))
      parts.push(`${rest.slice(0, longest)}.c`);
    return [...parts, `${rest}${index === segments.length - 1 ? ".o" : ".d"}`];
  });
}

/** Splits the name of a file or folder into its part of the key, still encoded, and its kind. */
export function keyPart(name: string): { readonly text: string; readonly kind: "o" | "d" | "c" } {
  const kind = name.slice(-1);
  // No other suffix is ever written.
  return { text: name.slice(0, -2), kind: kind as "o" | "d" | "c" };
}

/** The segment of a key that an encoded name stands for. */
export function decodeName(name: string): string {
  return Buffer.from(
    name.replaceAll(/%([0-9A-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  ).toString("utf8");
}

function encodeSegment(segment: string): string {
  return [...Buffer.from(segment, "utf8")]
    .map((byte) => {
      const isPlain = (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
      if (isPlain || byte === 0x2d || byte === 0x5f) return String.fromCharCode(byte);
      return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}
