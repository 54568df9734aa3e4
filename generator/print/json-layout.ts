// JSON as reviewers read it: a value stands on one line where it fits, so that a changed member is
// a changed line.
import { width } from "../print/layout.js";

/** Bytes of JSON's punctuation. */
const code = {
  newline: 0x0a,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  bracket: 0x5b,
  backslash: 0x5c,
  bracketEnd: 0x5d,
  brace: 0x7b,
  braceEnd: 0x7d,
} as const;

/**
 * A JSON document that ends with a newline. What lies deeper than `depth` stands on one line,
 * however long it is. The engine's own text is laid out byte by byte, which takes half the time of
 * printing values here.
 */
export function jsonLayout(value: unknown, depth = Infinity): string {
  const text = Buffer.from(JSON.stringify(value));
  return laidOut(text, measureLayout(text), depth);
}

/** Where a string that begins at `start` ends: behind its quotation mark. */
function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1;
  while (text[at] !== code.quote) at += text[at] === code.backslash ? 2 : 1;
  return at + 1;
}

/** A list or an object in the text of the engine. */
interface Container {
  /** How long it is on one line. */
  length: number;
  /** The place behind it, and the number of the first container that begins there. */
  end: number;
  next: number;
}

interface Measured {
  /** In the order in which they begin. */
  readonly containers: readonly Container[];
  /** Bytes that suffice for the layout. */
  readonly room: number;
}

function measureLayout(text: Uint8Array): Measured {
  const containers: Container[] = [];
  const open: Container[] = [];
  let spaces = 0;
  let depth = 0;
  let breaks = 1;
  let at = 0;
  while (at < text.length) {
    const byte = text[at];
    if (byte === code.quote) {
      at = endOfString(text, at);
      continue;
    }
    if (byte === code.comma || byte === code.colon) {
      spaces += 1;
      breaks += 1;
    } else if (byte === code.brace || byte === code.bracket) {
      const one = { length: -at - spaces, end: 0, next: 0 };
      open.push(one);
      containers.push(one);
      breaks += 2;
      depth = Math.max(depth, open.length);
      if (byte === code.brace && text[at + 1] !== code.braceEnd) spaces += 2;
    } else if (byte === code.braceEnd || byte === code.bracketEnd) {
      const one = open.pop();
      if (one !== undefined) {
        one.end = at + 1;
        one.next = containers.length;
        one.length += at + 1 + spaces;
      }
    }
    at += 1;
  }
  return { containers, room: text.length + spaces + breaks * (depth + 1) };
}

function laidOut(text: Buffer, { containers, room }: Measured, maxDepth: number): string {
  const out = Buffer.allocUnsafe(room);
  let end = 0;
  let lineStart = 0;
  let depth = 0;
  /** The depth from which everything stands on one line. */
  let flatFrom = Infinity;
  let container = 0;
  let at = 0;
  while (at < text.length) {
    const byte = text[at] ?? 0;
    if (byte === code.quote) {
      const stop = endOfString(text, at);
      for (; at < stop; at += 1, end += 1) out[end] = text[at] ?? 0;
      continue;
    }
    const isFlat = flatFrom !== Infinity;
    let isBroken = false;
    let isSpaced = byte === code.colon;
    let isEnd = false;
    if (byte === code.brace || byte === code.bracket) {
      const one = containers[container];
      const length = one?.length ?? 0;
      if (!isFlat && one !== undefined) {
        // One column is kept for the comma behind it.
        const fits = end - lineStart + length < width;
        if (!fits && (length === 2 || depth >= maxDepth)) {
          // A line that is too long anyway is as short as can be: the engine's own text.
          end += text.copy(out, end, at, one.end);
          at = one.end;
          container = one.next;
          continue;
        }
        if (fits) flatFrom = depth + 1;
      }
      container += 1;
      depth += 1;
      isBroken = flatFrom === Infinity;
      isSpaced = byte === code.brace && !isBroken && length > 2;
    } else if (byte === code.braceEnd || byte === code.bracketEnd) {
      isEnd = true;
      isBroken = !isFlat;
      isSpaced = byte === code.braceEnd && isFlat && text[at - 1] !== code.brace;
      if (depth === flatFrom) flatFrom = Infinity;
      depth -= 1;
    } else if (byte === code.comma) {
      isBroken = !isFlat;
      isSpaced = isFlat;
    }
    if (!isEnd) out[end++] = byte;
    if (isSpaced) out[end++] = code.space;
    if (isBroken) {
      out[end++] = code.newline;
      lineStart = end;
      for (const stop = end + depth; end < stop; end += 1) out[end] = code.space;
    }
    if (isEnd) out[end++] = byte;
    at += 1;
  }
  out[end++] = code.newline;
  return out.toString("utf8", 0, end);
}
