// The values of YAML as registries are nearly always written. Whatever else YAML can be is left to
// the whole parser, which takes six times as long: it keeps every token for its place.

/** Data as JSON has it. */
type Value = string | number | boolean | null | readonly Value[] | Mapping;
interface Mapping {
  readonly [key: string]: Value;
}

/** Lists and maps in brackets lie at most this deep in each other. */
const maxFlowDepth = 32;

/** The longest key that YAML allows before its colon, less its quotation marks. */
const maxKeyLength = 1000;

/**
 * The map that a text is, or undefined if it takes the whole parser to tell: for anchors, tags,
 * folded texts, tabs, further documents, every rarer spelling of a value, and all that is wrong.
 * What is read here, the whole parser reads as the same value, without fault or warning;
 * test/property/plain-yaml.test.ts holds it.
 */
export function readPlainYaml(text: string): Mapping | undefined {
  if (unusual.test(text)) return undefined;
  try {
    return new PlainYaml(text).document();
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/** Control characters, and all white space but spaces and line feeds. */
// oxlint-disable-next-line no-control-regex -- they are what it looks for
const unusual = /[^\S\n ]|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufeff]/;

/** Ends the reading of what is not plain. */
class NotPlain extends Error {}

/**
 * A text without quotation marks: up to a colon before a space, a comment, or the end of the line.
 */
const plainInBlock = /(?:[\w/^$(\u00a1-\uffff]|[+-](?=\w))(?:[^:#\n]|:(?=[^ \n])|(?<! )#)*/y;
/** The same between brackets, where these and commas end it as well. */
const plainInFlow =
  /(?:[\w/^$(\u00a1-\uffff]|[+-](?=\w))(?:[^:#,[\]{}\n]|:(?=[^ \n,[\]{}])|(?<! )#)*/y;
const literalHeader = /\|-?(?=\n)/y;
const doubleQuoted = /"(?:[^"\\\n]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/y;
const singleQuoted = /'(?:[^'\n]|'')*'/y;

/** What begins with a digit, or a sign before one, as a number of JSON. */
const decimal = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
/** Every other spelling of a number. */
const otherNumber = /^[-+]?(?:0[ox][\da-fA-F]*|\.?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)$/;
const words: ReadonlyMap<string, null | boolean> = new Map([
  ...["null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);

/** A text that is read from its start to its end, and where that has come to. */
class PlainYaml {
  readonly #text: string;
  #at = 0;
  /**
   * How many spaces stand before what is at the beginning of the line; -1 at the end of the text.
   */
  #indent = 0;
  #flowDepth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Mapping {
    this.#toContent(0);
    this.#expectIndent(0);
    const value = this.#map(0, this.#key());
    this.#expectIndent(-1);
    return value;
  }

  /** A map whose keys stand in this column, from behind the first of them. */
  #map(column: number, first: string): Mapping {
    const map: Record<string, Value> = {};
    let key = first;
    for (;;) {
      // The name of a member of every object is rare as well, and would ask for care.
      if (key in map) throw new NotPlain();
      map[key] = this.#memberValue(column);
      if (this.#indent !== column || this.#isDash()) return map;
      key = this.#key();
    }
  }

  #list(column: number): readonly Value[] {
    const list: Value[] = [];
    do {
      this.#at += 1;
      list.push(this.#item(column));
    } while (this.#indent === column && this.#isDash());
    return list;
  }

  /** The value behind a colon: on the same line, or on those below that begin further right. */
  #memberValue(column: number): Value {
    this.#skipSpaces();
    if (!this.#isEndOfLine()) return this.#onOneLine(column);
    this.#toNextLine();
    if (this.#indent > column) return this.#block(this.#indent);
    return this.#indent === column && this.#isDash() ? this.#list(column) : null;
  }

  /** The value behind a dash, whose first key may stand beside it. */
  #item(column: number): Value {
    const dash = this.#at;
    this.#skipSpaces();
    if (this.#isEndOfLine()) {
      this.#toNextLine();
      return this.#indent > column ? this.#block(this.#indent) : null;
    }
    if (!this.#isScalar()) return this.#onOneLine(column);
    const start = this.#at;
    const scalar = this.#scalar(plainInBlock);
    if (this.#text[this.#at] !== ":") return this.#endLine(column, scalar);
    return this.#map(column + 1 + start - dash, this.#behindKey(scalar));
  }

  #block(column: number): Value {
    return this.#isDash() ? this.#list(column) : this.#map(column, this.#key());
  }

  /**
   * A value that begins on this line; brackets and texts behind `|` may go on below, further right
   * than `column`.
   */
  #onOneLine(column: number): Value {
    if (this.#text[this.#at] === "|") return this.#literal(column);
    return this.#endLine(
      column,
      this.#isScalar() ? this.#scalar(plainInBlock) : this.#flow(column),
    );
  }

  /** A text of several lines, each as it stands. */
  #literal(column: number): string {
    const end = this.#match(literalHeader) === "|" ? "\n" : "";
    const lines: string[] = [];
    let indent = 0;
    let start = this.#at + 1;
    for (; start < this.#text.length; start = this.#at + 1) {
      this.#at = start;
      this.#skipSpaces();
      const spaces = this.#at - start;
      const isEmpty = this.#text[this.#at] === "\n";
      if (!isEmpty && spaces <= column) break;
      if (lines.length === 0) indent = spaces;
      // Spaces alone would be told from the text by where they stand.
      if (isEmpty ? lines.length === 0 || spaces > indent : spaces < indent) throw new NotPlain();
      this.#at = this.#endOfLine();
      lines.push(isEmpty ? "" : this.#text.slice(start + indent, this.#at));
    }
    if (lines.length === 0 || !this.#text.endsWith("\n")) throw new NotPlain();
    while (lines.at(-1) === "") lines.pop();
    this.#toContent(start);
    if (this.#indent > column) throw new NotPlain();
    return lines.join("\n") + end;
  }

  #endLine(column: number, value: Value): Value {
    this.#toNextLine();
    if (this.#indent > column) throw new NotPlain();
    return value;
  }

  /** A list or a map in brackets. */
  #flow(column: number): Value {
    const opening = this.#text[this.#at];
    if ((opening !== "[" && opening !== "{") || this.#flowDepth === maxFlowDepth)
      throw new NotPlain();
    this.#flowDepth += 1;
    this.#at += 1;
    const value = opening === "[" ? this.#flowList(column) : this.#flowMap(column);
    this.#flowDepth -= 1;
    this.#at += 1;
    return value;
  }

  #flowList(column: number): readonly Value[] {
    const list: Value[] = [];
    this.#skipInFlow(column);
    while (this.#text[this.#at] !== "]") {
      list.push(this.#flowValue(column));
      this.#skipComma(column, "]");
    }
    return list;
  }

  #flowMap(column: number): Mapping {
    const map: Record<string, Value> = {};
    this.#skipInFlow(column);
    while (this.#text[this.#at] !== "}") {
      const key = this.#behindKey(this.#scalar(plainInFlow));
      if (key in map) throw new NotPlain();
      this.#skipInFlow(column);
      map[key] = this.#flowValue(column);
      this.#skipComma(column, "}");
    }
    return map;
  }

  #flowValue(column: number): Value {
    return this.#isScalar() ? this.#scalar(plainInFlow) : this.#flow(column);
  }

  #skipComma(column: number, end: string): void {
    this.#skipInFlow(column);
    if (this.#text[this.#at] === end) return;
    if (this.#text[this.#at] !== ",") throw new NotPlain();
    this.#at += 1;
    this.#skipInFlow(column);
  }

  /** A key of a block, and its colon. */
  #key(): string {
    return this.#behindKey(this.#scalar(plainInBlock));
  }

  #behindKey(key: Value): string {
    if (typeof key !== "string" || key.length > maxKeyLength || this.#text[this.#at] !== ":")
      throw new NotPlain();
    this.#at += 1;
    if (!this.#isSpace()) throw new NotPlain();
    return key;
  }

  #isScalar(): boolean {
    const first = this.#text[this.#at];
    return first !== "[" && first !== "{";
  }

  /** A text, a number or a word that says more, on this line. */
  #scalar(plain: RegExp): string | number | boolean | null {
    const first = this.#text[this.#at];
    if (first === '"') return JSON.parse(this.#match(doubleQuoted)) as string;
    if (first === "'") return this.#match(singleQuoted).slice(1, -1).replaceAll("''", "'");
    return resolvePlain(withoutSpacesBehind(this.#match(plain)));
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw new NotPlain();
    this.#at += found.length;
    return found;
  }

  #expectIndent(indent: number): void {
    if (this.#indent !== indent) throw new NotPlain();
  }

  #isDash(): boolean {
    return this.#text[this.#at] === "-" && " \n".includes(this.#text[this.#at + 1] ?? "\n");
  }

  #isSpace(): boolean {
    const next = this.#text[this.#at];
    return next === " " || next === "\n" || next === undefined;
  }

  #isEndOfLine(): boolean {
    const next = this.#text[this.#at];
    return (
      next === "\n" || next === undefined || (next === "#" && this.#text[this.#at - 1] === " ")
    );
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === " ") this.#at += 1;
  }

  /** From the end of a value to the first line below that says something. */
  #toNextLine(): void {
    this.#skipSpaces();
    if (!this.#isEndOfLine()) throw new NotPlain();
    this.#toContent(this.#endOfLine() + 1);
  }

  #endOfLine(): number {
    const end = this.#text.indexOf("\n", this.#at);
    return end < 0 ? this.#text.length : end;
  }

  /** From the beginning of a line over those that are empty or comments. */
  #toContent(lineStart: number): void {
    this.#at = lineStart;
    for (let start = lineStart; start < this.#text.length; start = this.#at) {
      this.#skipSpaces();
      const first = this.#text[this.#at];
      if (first !== "\n" && first !== "#" && first !== undefined) {
        this.#indent = this.#at - start;
        return;
      }
      this.#at = this.#endOfLine() + 1;
    }
    this.#indent = -1;
  }

  /**
   * Between brackets: over spaces, comments and ends of lines, the next of which begins further
   * right than `column`.
   */
  #skipInFlow(column: number): void {
    this.#skipSpaces();
    if (!this.#isEndOfLine()) return;
    this.#toContent(this.#endOfLine() + 1);
    if (this.#indent <= column) throw new NotPlain();
  }
}

function withoutSpacesBehind(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end -= 1;
  return text.slice(0, end);
}

/** What a text without quotation marks is (YAML 1.2 §10.3, the core schema). */
function resolvePlain(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0);
  // Letters and the underscore: the only words that are no texts begin with one.
  if (first > 0x3f) {
    const word = text.length < 6 ? words.get(text) : undefined;
    return word === undefined ? text : word;
  }
  if (decimal.test(text)) return Number(text);
  if (otherNumber.test(text)) throw new NotPlain();
  return text;
}
