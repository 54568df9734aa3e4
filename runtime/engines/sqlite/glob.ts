// Patterns as GLOB, the one matching of SQLite that has classes (https://www.sqlite.org/lang_expr.html "GLOB").
import type { Pattern, PatternStep } from "../../query/pattern.js";

/** The pattern as GLOB, which matches whole texts. */
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

/** A class: `]` stands first and `-` last, where they mean themselves; `^` must not stand first. */
function globClass({ isNegated, ranges }: Extract<PatternStep, { kind: "class" }>): string {
  const single = new Set(ranges.flatMap(([first, last]) => (first === last ? [first] : [])));
  const special = ["]", "^", "-"].map((character) => (single.has(character) ? character : ""));
  const [bracket = "", caret = "", hyphen = ""] = special;
  const spans = ranges
    .flatMap((range) => withoutSpecial(range))
    .map(([first, last]) => (first === last ? first : `${first}-${last}`))
    .join("");
  if (!isNegated && bracket === "" && spans === "" && hyphen === "" && caret !== "") return caret;
  // A caret alone before a hyphen would negate: the hyphen then stands first as a span of its own.
  const rest =
    spans === "" && bracket === "" && caret !== "" && !isNegated
      ? `${hyphen}${caret}`
      : `${spans}${caret}${hyphen}`;
  return `[${isNegated ? "^" : ""}${bracket}${rest}]`;
}

/** A range without the ends that mean something in a class; those stand for themselves elsewhere in it. */
function withoutSpecial([first, last]: readonly [string, string]): readonly (readonly [
  string,
  string,
])[] {
  if (first === last) return ["]", "^", "-"].includes(first) ? [] : [[first, last]];
  return [[first, last]];
}
