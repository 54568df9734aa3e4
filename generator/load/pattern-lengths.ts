// How long texts are that a plain pattern matches as a whole: `^[0-9]{13}$` has 13 characters.

/** One character or class of characters, and how often it stands. */
const part =
  /(?:\[(?:\\.|[^\]\\])+\]|\\[dDwWsS]|\\[^A-Za-z0-9]|[^\\[\](){}|.*+?^$]|\.)(?:\{(\d+)(,(\d*))?\}|([*+?]))?/y;

/** Undefined bounds are not known: of patterns with groups, alternatives or without anchors. */
export function patternLengths(pattern: string): {
  readonly min: number | undefined;
  readonly max: number | undefined;
} {
  const unknown = { min: undefined, max: undefined };
  if (!pattern.startsWith("^") || !pattern.endsWith("$")) return unknown;
  const end = pattern.length - 1;
  let min = 0;
  let max = 0;
  part.lastIndex = 1;
  while (part.lastIndex < end) {
    const found = part.exec(pattern);
    if (found === null) return unknown;
    const [, least, range, most, mark] = found;
    min += least === undefined ? (mark === "*" || mark === "?" ? 0 : 1) : Number(least);
    if (mark === "*" || mark === "+" || (range !== undefined && most === "")) max = Infinity;
    else if (range !== undefined) max += Number(most);
    else max += least === undefined ? 1 : Number(least);
  }
  return { min, max: Number.isFinite(max) ? max : undefined };
}
