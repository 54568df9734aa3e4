// Patterns as GLOB, SQLite's only matching operator with classes
// (https://www.sqlite.org/lang_expr.html "GLOB").
import type { Pattern, PatternStep } from "../../query/pattern.js";

/**
 * Prints the pattern as GLOB. GLOB matches whole texts, so a pattern without anchors gets a `*` at
 * its ends.
 */
export function globOf({ steps, isAtStart, isAtEnd }: Pattern): string {
  return `${isAtStart ? "" : "*"}${steps.map(globStep).join("")}${isAtEnd ? "" : "*"}`;
}

function globStep(step: PatternStep): string {
  switch (step.kind) {
    case "text":
      return /[*?[]/.test(step.text) ? `[${step.text}]` : step.text;
    case "any":
      return "?";
    case "rest":
      return "*";
    case "class":
      return globClass(step);
  }
}

/** Characters that have a special meaning in a class, depending on their position. */
const special = ["]", "^", "-"];

/**
 * Prints a class: `]` comes first and `-` last, where they are ordinary characters, and `^`
 * anywhere but first.
 */
function globClass({ isNegated, ranges }: Extract<PatternStep, { kind: "class" }>): string {
  const plain = ranges.flatMap(withoutSpecial);
  const single = new Set(ranges.flatMap((range) => specialIn(range)));
  const [bracket, caret, hyphen] = special.map((one) => (single.has(one) ? one : ""));
  const spans = plain
    .map(([first, last]) => (first === last ? first : `${first}-${last}`))
    .join("");
  const isCaretFirst = caret !== "" && bracket === "" && spans === "" && !isNegated;
  if (isCaretFirst) return hyphen === "" ? "^" : "[-^]";
  return `[${isNegated ? "^" : ""}${bracket}${spans}${caret}${hyphen}]`;
}

/**
 * The special characters in a range. One in its middle is then listed twice, which does no harm.
 */
function specialIn([first, last]: readonly [string, string]): readonly string[] {
  return special.filter((one) => first <= one && one <= last);
}

/** The range without special characters at its ends; `globClass` adds those separately. */
function withoutSpecial([first, last]: readonly [string, string]): readonly (readonly [
  string,
  string,
])[] {
  const from = special.includes(first) ? neighbour(first, 1) : first;
  const to = special.includes(last) ? neighbour(last, -1) : last;
  if ((from.codePointAt(0) ?? 0) > (to.codePointAt(0) ?? 0)) return [];
  const isClean = !special.includes(from) && !special.includes(to);
  return isClean ? [[from, to]] : withoutSpecial([from, to]);
}

function neighbour(character: string, by: number): string {
  return String.fromCodePoint((character.codePointAt(0) ?? 0) + by);
}
