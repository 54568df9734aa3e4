// Patterns as PostgreSQL's regular expressions (manual 9.7.3).
import type { Pattern, PatternStep } from "../../query/pattern.js";

/**
 * Prints the pattern as a regular expression. `.` also matches a line break, as on every engine.
 */
export function regexOf({ steps, isAtStart, isAtEnd }: Pattern): string {
  // `***:` makes it an "advanced" regular expression, whatever it begins with.
  return `***:${isAtStart ? "^" : ""}${steps.map(regexStep).join("")}${isAtEnd ? "$" : ""}`;
}

function regexStep(step: PatternStep): string {
  switch (step.kind) {
    case "text":
      return escapeCharacter(step.text);
    case "any":
      return ".";
    case "rest":
      return ".*";
    case "class":
      return `[${step.isNegated ? "^" : ""}${step.ranges
        .map(([first, last]) =>
          first === last
            ? escapeCharacter(first)
            : `${escapeCharacter(first)}-${escapeCharacter(last)}`,
        )
        .join("")}]`;
  }
}

/** A character by its code point, so that it has no special meaning, not even in a class. */
function escapeCharacter(text: string): string {
  const code = text.codePointAt(0) ?? 0;
  return /[A-Za-z0-9]/.test(text) ? text : `\\U${code.toString(16).padStart(8, "0")}`;
}
