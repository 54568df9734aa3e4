// How far numbered lists count their hits, in the registry and in requests.
import { limits } from "../../runtime/contract/limits.js";
import type { Told } from "../compare/rules.js";
import { required } from "../load/format-parts.js";
import type { FormatShape } from "../load/shape.js";
import { objectSchema } from "../model/json-schema.js";

/** `count: {up_to: 1000}` of a declaration. */
export const countRule = {
  kind: "object",
  members: {
    up_to: required(
      { kind: "integer", minimum: 1 },
      "The highest count; a list with more hits says this one.",
      1_000,
    ),
  },
} as const satisfies FormatShape;

/** `count` of a request: of documents it is the type `ListCount`. */
export const listCount = objectSchema(
  { up_to: { type: "integer", minimum: 1, maximum: limits.maxCount } },
  ["up_to"],
);

/** What it means to callers that lists count further, or no longer so far; null counts all. */
export function countChanged(before: number | null, after: number | null): readonly Told[] {
  if (after === null) return [["additive", "counts all hits"]];
  const isLess = after < (before ?? Number.POSITIVE_INFINITY);
  return [[isLess ? "breaking" : "additive", `counts at most ${after} hits`]];
}
