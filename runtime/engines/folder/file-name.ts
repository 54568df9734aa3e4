// Keys as paths of files: every key has one path, which file systems without case or with normal forms keep apart too.

/** Characters of one file name, its suffix aside; file systems have 255 bytes. */
const longest = 200;

/** The path of a key's file: a folder a segment (`.d`), long names in portions (`.c`), and the object at the end (`.o`). */
export function pathOf(key: string): readonly string[] {
  const segments = key.split("/").map(encoded);
  return segments.flatMap((name, index) => {
    const parts: string[] = [];
    let rest = name;
    for (; rest.length > longest; rest = rest.slice(longest))
      parts.push(`${rest.slice(0, longest)}.c`);
    return [...parts, `${rest}${index === segments.length - 1 ? ".o" : ".d"}`];
  });
}

/** What the name of a file or folder adds to a key. */
export function keyPart(name: string): { readonly text: string; readonly kind: "o" | "d" | "c" } {
  const kind = name.slice(-1);
  // No other suffix is ever written.
  return { text: name.slice(0, -2), kind: kind as "o" | "d" | "c" };
}

/** The segment that an encoded name stands for. */
export function decoded(name: string): string {
  return Buffer.from(
    name.replaceAll(/%([0-9A-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  ).toString("utf8");
}

function encoded(segment: string): string {
  return [...Buffer.from(segment, "utf8")]
    .map((byte) => {
      const isPlain = (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
      if (isPlain || byte === 0x2d || byte === 0x5f) return String.fromCharCode(byte);
      return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}
