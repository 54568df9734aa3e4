// Filters of the query language, as a list of conditions of which all hold, or any.
import type { Json } from "../api.js";
import type { DocumentKind } from "./document.js";

export interface Condition {
  readonly member: string;
  readonly operator: string;
  /** As it was typed; several values have commas between them. */
  readonly text: string;
}

/** Operators in words. */
export const operatorTexts: Readonly<Record<string, string>> = {
  $eq: "is",
  $neq: "is not",
  $gt: "is more than",
  $gte: "is at least",
  $lt: "is less than",
  $lte: "is at most",
  $in: "is one of",
  $nin: "is none of",
  $null: "is empty",
  $like: "is like",
  $ilike: "is like, in any case",
  $regex: "matches",
  $descendant_of: "is below",
  $ancestor_of: "is above",
  $empty: "has nothing",
  $superset: "has all of",
  $subset: "has only",
  $overlaps: "has any of",
  $disjoint: "has none of",
};

/** The operand of `$like` and `$ilike` for texts that contain the words as they are. */
export function containing(words: string): string {
  return `%${words.replace(/[\\%_]/g, "\\$&")}%`;
}

const ofLists = ["$in", "$nin", "$superset", "$subset", "$overlaps", "$disjoint"];
const ofTruth = ["$null", "$empty"];

/** The operators that one text can stand for. */
export function plainOperators(operators: readonly string[]): readonly string[] {
  return operators.filter((one) => one in operatorTexts);
}

/** Whether an operator takes true or false, whatever the member is. */
export function isTruth(operator: string): boolean {
  return ofTruth.includes(operator);
}

/** The filter of conditions; null for none. */
export function filterOf(
  kind: DocumentKind,
  conditions: readonly Condition[],
  match: "all" | "any",
): Json | null {
  return combined(
    match === "all" ? "$and" : "$or",
    conditions.map(({ member, operator, text }) => ({
      $values: { [member]: { [operator]: operandOf(kind, member, operator, text) } },
    })),
  );
}

/** A filter of filters; null for none. */
export function combined(operator: "$and" | "$or", filters: readonly Json[]): Json | null {
  const [only = null, ...others] = filters;
  return others.length === 0 ? only : { [operator]: filters };
}

function operandOf(kind: DocumentKind, member: string, operator: string, text: string): unknown {
  if (isTruth(operator)) return text !== "false";
  const scalar = (one: string): unknown => scalarOf(kind, member, one.trim());
  return ofLists.includes(operator) ? text.split(",").map(scalar) : scalar(text);
}

/** A number or a truth where the member is one; what can't be read is left to the service. */
function scalarOf({ members }: DocumentKind, member: string, text: string): unknown {
  const { type, items } = members[member] ?? {};
  const inner = typeof items === "object" ? items.type : type;
  const types = typeof inner === "string" ? [inner] : (inner ?? []);
  if (types.includes("boolean")) return text === "true" ? true : text === "false" ? false : text;
  const isNumber = types.includes("number") || types.includes("integer");
  return isNumber && text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}
