// The author's functions that a registry names, found by its format: what is said there to name one
// is looked at, wherever it stands.
import { own } from "../model/records.js";
import { alternativeOf, isMap, membersOf, type FormatShape } from "./shape.js";

/** One naming of a function. */
export interface NamedFunction {
  /** `file#export`. */
  readonly text: string;
  readonly path: readonly (string | number)[];
  /** What the function is: of an operation, of a hook, or anything else. */
  readonly role: "handler" | "hook" | "job" | "value";
}

/** The functions that a value of this shape names. What does not fit the shape names none. */
export function functionsNamed(
  shape: FormatShape,
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly NamedFunction[] {
  switch (shape.kind) {
    case "string":
      return shape.names !== undefined && typeof value === "string" && value.includes("#")
        ? [{ text: value, path, role: shape.names }]
        : [];
    case "list":
      return Array.isArray(value)
        ? value.flatMap((item, index) => functionsNamed(shape.of, item, [...path, index]))
        : [];
    case "map":
      return entriesOf(value).flatMap(([key, item]) =>
        functionsNamed(shape.of, item, [...path, key]),
      );
    case "object":
    case "choice":
      return entriesOf(value).flatMap(([key, item]) => {
        const member = own(membersOf(shape), key);
        return member === undefined ? [] : functionsNamed(member.shape, item, [...path, key]);
      });
    case "either": {
      const alternative = alternativeOf(shape, value);
      return alternative === undefined ? [] : functionsNamed(alternative, value, path);
    }
    default:
      return [];
  }
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isMap(value) ? Object.entries(value) : [];
}
