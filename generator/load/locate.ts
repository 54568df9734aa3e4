// From an origin (file and path of keys) to line and column. Positions are computed only for files
// with findings.
import { isMap, isPair, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { Origin } from "../diagnostics/diagnostics.js";
import { documentWithPositions } from "./source-tree.js";

/** A place in a file, counted from 1; `length` is at least 1 and stays on the line. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly col: number;
  readonly length: number;
}

/**
 * Makes a function that locates origins, given the texts of the files. Each file is parsed once at
 * most.
 */
export function locator(
  textOf: (file: string) => string | undefined,
): (origin: Origin) => SourcePosition {
  const roots = new Map<string, Node | null>();
  return (origin) => {
    const text = textOf(origin.file);
    if (text === undefined) return { file: origin.file, line: 1, col: 1, length: 1 };
    if (origin.offset !== undefined)
      return positionOf(origin.file, text, origin.offset, origin.offset + (origin.length ?? 1));
    if (!roots.has(origin.file))
      roots.set(origin.file, documentWithPositions(text).contents as Node | null);
    const range = rangeOf(roots.get(origin.file) ?? null, origin.path, origin.isKey === true);
    return positionOf(origin.file, text, range[0], range[1]);
  };
}

/** The range of the deepest part of the path that exists. */
function rangeOf(
  root: Node | null,
  path: readonly (string | number)[],
  isKey: boolean,
): readonly [number, number] {
  let node: unknown = root;
  let range: readonly [number, number] = [0, 1];
  for (const [index, step] of path.entries()) {
    const pair = stepInto(node, step);
    if (pair === undefined) return range;
    const key = isPair(pair) ? (pair.key as Node | null) : null;
    node = isPair(pair) ? pair.value : pair;
    const isNothing = node === null || (isScalar(node) && node.source === "");
    const wanted =
      key !== null && (isKey || isNothing || index < path.length - 1) ? key : (node as Node | null);
    const found = wanted?.range ?? key?.range;
    if (found != null) range = [found[0], found[1]];
  }
  return range;
}

function stepInto(node: unknown, step: string | number): Pair | Node | undefined {
  if (isMap(node)) {
    return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(step));
  }
  if (isSeq(node) && typeof step === "number") return node.items[step] as Node | undefined;
  return undefined;
}

function positionOf(file: string, text: string, start: number, end: number): SourcePosition {
  const before = text.slice(0, start);
  const line = before.split("\n").length;
  const lineStart = before.lastIndexOf("\n") + 1;
  const lineEnd = text.indexOf("\n", start);
  const stop = Math.min(end, lineEnd < 0 ? text.length : lineEnd);
  return { file, line, col: start - lineStart + 1, length: Math.max(1, stop - start) };
}
