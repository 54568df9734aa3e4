// Patterns of `$regex`: a subset of regular expressions that every engine runs in linear time and
// reads alike (decisions.md "Query language").

/** One position of a pattern. */
export type PatternStep =
  | { readonly kind: "text"; readonly text: string }
  /** Any one character. */
  | { readonly kind: "any" }
  /** Any characters, or none. */
  | { readonly kind: "rest" }
  | { readonly kind: "class"; readonly isNegated: boolean; readonly ranges: readonly Range[] };

/** Two characters and what lies between them by code point. */
type Range = readonly [string, string];

/** One alternative; without an anchor it may begin or end anywhere. */
export interface Pattern {
  readonly steps: readonly PatternStep[];
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

const classes: Readonly<Record<string, readonly Range[]>> = {
  d: [["0", "9"]],
  w: [
    ["0", "9"],
    ["A", "Z"],
    ["_", "_"],
    ["a", "z"],
  ],
  s: [
    ["\t", "\r"],
    [" ", " "],
  ],
};
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

/**
 * Reads a pattern of literals, `.`, `.*`, classes (`[a-z]`, `[^0-9]`, `\d`, `\w`, `\s`), `^`, `$`
 * and `|`, its alternatives. Null for anything else: repetitions of something, groups, look-around
 * and references are not run.
 */
export function parsePattern(text: string): readonly Pattern[] | null {
  const reader = new Reader(text);
  const alternatives: Pattern[] = [];
  for (;;) {
    const alternative = readAlternative(reader);
    if (alternative === null) return null;
    alternatives.push(alternative);
    if (reader.isAtEnd) return alternatives;
    reader.take();
  }
}

class Reader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#characters = [...text];
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#characters.length;
  }

  peek(): string | undefined {
    return this.#characters[this.#at];
  }

  take(): string | undefined {
    const character = this.peek();
    this.#at += 1;
    return character;
  }
}

function readAlternative(reader: Reader): Pattern | null {
  const isAtStart = reader.peek() === "^";
  if (isAtStart) reader.take();
  const steps: PatternStep[] = [];
  let isAtEnd = false;
  while (!reader.isAtEnd && reader.peek() !== "|") {
    // Nothing may stand behind the end.
    if (isAtEnd) return null;
    const character = reader.take() ?? "";
    if (character === "$") {
      isAtEnd = true;
      continue;
    }
    const step = readStep(character, reader);
    if (step === null || ["*", "+", "?", "{"].includes(reader.peek() ?? "")) return null;
    steps.push(step);
  }
  return { steps, isAtStart, isAtEnd };
}

function readStep(character: string, reader: Reader): PatternStep | null {
  switch (character) {
    case ".":
      if (reader.peek() !== "*") return { kind: "any" };
      reader.take();
      return { kind: "rest" };
    case "[":
      return readClass(reader);
    case "\\": {
      const next = reader.take() ?? "";
      const ranges = classes[next.toLowerCase()];
      if (ranges !== undefined) return { kind: "class", isNegated: /[A-Z]/.test(next), ranges };
      const literal = readEscape(next);
      return literal === null ? null : { kind: "text", text: literal };
    }
    default:
      return /[()*+?{}\]^]/.test(character) ? null : { kind: "text", text: character };
  }
}

/**
 * The character of an escape, or null if it is none: letters and digits mean something else, or
 * nothing.
 */
function readEscape(next: string): string | null {
  if (Object.hasOwn(escapes, next)) return escapes[next] ?? null;
  return next !== "" && /^[!-/:-@[-`{-~]$/.test(next) ? next : null;
}

function readClass(reader: Reader): PatternStep | null {
  const isNegated = reader.peek() === "^";
  if (isNegated) reader.take();
  const ranges: Range[] = [];
  while (!reader.isAtEnd && reader.peek() !== "]") {
    const first = readMember(reader);
    if (first === null) return null;
    if (typeof first !== "string") {
      ranges.push(...first);
      continue;
    }
    if (reader.peek() !== "-") {
      ranges.push([first, first]);
      continue;
    }
    reader.take();
    // A hyphen at the end stands for itself.
    if (reader.peek() === "]") {
      ranges.push([first, first], ["-", "-"]);
      continue;
    }
    const last = readMember(reader);
    if (typeof last !== "string" || codePoint(first) > codePoint(last)) return null;
    ranges.push([first, last]);
  }
  if (reader.take() !== "]" || ranges.length === 0) return null;
  return { kind: "class", isNegated, ranges };
}

/** A character of a class, or the ranges of `\d`, `\w`, `\s`. */
function readMember(reader: Reader): string | readonly Range[] | null {
  const character = reader.take();
  if (character === undefined || character === "[") return null;
  if (character !== "\\") return character;
  const next = reader.take() ?? "";
  return classes[next] ?? readEscape(next);
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
