// A registry file as it is written: values, keys and their ranges by path, and edits of them that
// leave the rest alone.
import { isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { TextEdit, TextPoint } from "../diagnostics/diagnostics.js";
import { documentWithPositions } from "../load/source-tree.js";

export type Path = readonly (string | number)[];

/** Characters of the text, from `start` up to `end`. */
type Span = readonly [start: number, end: number];

interface Place {
  readonly key: Node | null;
  readonly value: Node | null;
  /** What it is a member or an entry of. */
  readonly around: Node;
  readonly index: number;
}

export class WrittenFile {
  readonly file: string;
  readonly text: string;
  readonly #root: Node | null;
  readonly #lineStarts: readonly number[];

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    this.#root = documentWithPositions(text).contents as Node | null;
    this.#lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  }

  /** Whether a value is written at a path. */
  has(path: Path): boolean {
    return path.length === 0 ? this.#root !== null : this.#place(path) !== undefined;
  }

  /** What is written at a path, as data; undefined if nothing is. */
  value(path: Path): unknown {
    const node = this.#node(path);
    return node === null || node === undefined ? node : (node.toJSON() as unknown);
  }

  /** The text of a value as it is written, or undefined if none is. */
  source(path: Path): string | undefined {
    const span = spanOf(this.#node(path));
    return span === undefined ? undefined : this.text.slice(...span);
  }

  /** Whether a map or a list is written in brackets. */
  isFlow(path: Path): boolean {
    const node = this.#node(path);
    return (isMap(node) || isSeq(node)) && node.flow === true;
  }

  /**
   * Another text instead of a value. Undefined where the value has an anchor, is an alias, or isn't
   * there.
   */
  replaced(path: Path, text: string): TextEdit | undefined {
    const node = this.#node(path);
    const span = spanOf(node);
    if (span === undefined || node === null || node === undefined || !isPlain(node))
      return undefined;
    // A value in a block goes on below: only values of one line are replaced.
    const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true;
    if (isBlock || this.text.slice(...span).includes("\n")) return undefined;
    return this.edit(span[0], span[1], text);
  }

  /** Another name of a key. */
  renamed(path: Path, name: string): TextEdit | undefined {
    const span = spanOf(this.#place(path)?.key);
    if (span === undefined) return undefined;
    // Behind a quotation mark, a colon needs no space.
    const quote = /^["']/.exec(this.text.slice(...span))?.[0] ?? "";
    return this.edit(span[0], span[1], quote + name + quote);
  }

  /** The scalars at or below a path whose value is this text; of a key, the key alone. */
  scalarsOf(path: Path, isKey: boolean, value: string): readonly Span[] {
    const found: Span[] = [];
    const visit = (node: unknown): void => {
      if (isPair(node)) return void [node.key, node.value].forEach(visit);
      if (isMap(node) || isSeq(node)) return void node.items.forEach(visit);
      if (!isScalar(node) || node.value !== value || node.type?.startsWith("BLOCK") === true)
        return;
      const span = spanOf(node as Node);
      if (span !== undefined) found.push(span);
    };
    visit(isKey ? this.#place(path)?.key : this.#node(path));
    return found;
  }

  /**
   * Takes a member of a map, or an entry of a list, away. Undefined where that would take a comment
   * along.
   */
  removed(path: Path): TextEdit | undefined {
    const place = this.#place(path);
    return place === undefined ? undefined : this.#removedItem(place.around, place.index);
  }

  #removedItem(around: Node, index: number): TextEdit | undefined {
    if (!isMap(around) && !isSeq(around)) return undefined;
    const spans = around.items.map((item) => itemSpan(item as Node | Pair));
    const own = spans[index];
    if (own === undefined) return undefined;
    if (around.flow === true) return this.#removedInFlow(spans, index, own);
    return this.#removedLines(own);
  }

  #removedInFlow(
    spans: readonly (Span | undefined)[],
    index: number,
    own: Span,
  ): TextEdit | undefined {
    const [before, after] = [spans[index - 1], spans[index + 1]];
    const [start, end] =
      before !== undefined ? [before[1], own[1]] : after === undefined ? own : [own[0], after[0]];
    return this.text.slice(start, end).includes("#") ? undefined : this.edit(start, end, "");
  }

  #removedLines([start, end]: Span): TextEdit | undefined {
    const lineStart = this.text.lastIndexOf("\n", start - 1) + 1;
    const lineEnd = this.text.indexOf("\n", end);
    const stop = lineEnd < 0 ? this.text.length : lineEnd + 1;
    const before = this.text.slice(lineStart, start);
    const isWhole = /^[ \t]*(?:- )?$/.test(before) && this.text.slice(end, stop).trim() === "";
    // A list's entry that is a map keeps its dash.
    if (!isWhole || (before.includes("-") && this.#isKeyAt(start))) return undefined;
    return this.edit(lineStart, stop, "");
  }

  #isKeyAt(offset: number): boolean {
    return /^["']?[\w$-]+["']?:(?:\s|$)/.test(this.text.slice(offset));
  }

  /** Another text instead of a value, and further members behind it, in the same manner. */
  replacedWith(path: Path, text: string, members: readonly string[]): TextEdit | undefined {
    const place = this.#place(path);
    const keySpan = spanOf(place?.key);
    if (keySpan === undefined || !isMap(place?.around)) return undefined;
    if (place.around.flow === true) return this.replaced(path, [text, ...members].join(", "));
    const column = keySpan[0] - (this.text.lastIndexOf("\n", keySpan[0] - 1) + 1);
    return this.replaced(path, [text, ...members].join(this.lineBreak + " ".repeat(column)));
  }

  /**
   * Takes away the second of two members of one map that have the same key and say the same;
   * undefined if they don't.
   */
  repeatedAt(offset: number): TextEdit | undefined {
    let found: TextEdit | undefined;
    const visit = (node: unknown): void => {
      if (isSeq(node)) return void node.items.forEach(visit);
      if (!isMap(node)) return;
      const at = node.items.findIndex(({ key }) => spanOf(key as Node | null)?.[0] === offset);
      const pair = node.items[at];
      if (pair === undefined) return void node.items.forEach(({ value }) => visit(value));
      const said = ({ key, value }: Pair): string => JSON.stringify([key, value]);
      const isSame = node.items.slice(0, at).some((other) => said(other) === said(pair));
      if (isSame) found = this.#removedItem(node, at);
    };
    visit(this.#root);
    return found;
  }

  /** Where a key begins. */
  keyStart(path: Path): number | undefined {
    return spanOf(this.#place(path)?.key)?.[0];
  }

  get lineBreak(): string {
    return this.text.includes("\r\n") ? "\r\n" : "\n";
  }

  edit(start: number, end: number, text: string): TextEdit {
    return { file: this.file, range: { start: this.#point(start), end: this.#point(end) }, text };
  }

  #point(offset: number): TextPoint {
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, col: offset - (this.#lineStarts[low] ?? 0) + 1, offset };
  }

  #node(path: Path): Node | null | undefined {
    return path.length === 0 ? this.#root : this.#place(path)?.value;
  }

  #place(path: Path): Place | undefined {
    let node: Node | null = this.#root;
    let place: Place | undefined;
    for (const step of path) {
      place = placeIn(node, step);
      if (place === undefined) return undefined;
      node = place.value;
    }
    return place;
  }
}

function placeIn(node: Node | null, step: string | number): Place | undefined {
  if (isMap(node)) {
    const index = node.items.findIndex(
      ({ key }) => isScalar(key) && String(key.value) === String(step),
    );
    const pair = node.items[index];
    if (pair === undefined) return undefined;
    return { key: pair.key as Node, value: pair.value as Node | null, around: node, index };
  }
  if (!isSeq(node) || typeof step !== "number") return undefined;
  const item = node.items[step] as Node | undefined;
  return item === undefined ? undefined : { key: null, value: item, around: node, index: step };
}

/**
 * The text of a value without what stands behind it. A value that is written as nothing has none.
 */
function spanOf(node: Node | null | undefined): Span | undefined {
  const range = node?.range;
  return range == null || range[0] === range[1] ? undefined : [range[0], range[1]];
}

function itemSpan(item: Node | Pair): Span | undefined {
  if (!isPair(item)) return spanOf(item);
  const key = spanOf(item.key as Node | null);
  const value = spanOf(item.value as Node | null);
  return key === undefined ? undefined : [key[0], value?.[1] ?? key[1]];
}

/** Whether a value is written where it stands, and nothing else refers to it. */
function isPlain(node: Node): boolean {
  return !isAlias(node) && !("anchor" in node && node.anchor !== undefined);
}
