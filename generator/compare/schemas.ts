// Compares two schemas of one value: which values are new, which are gone, and what that means to
// those who send or read them.
import { isDeepStrictEqual } from "node:util";
import { withoutFormer } from "../load/former-names.js";
import { referredType, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { contains, differences } from "./differences.js";
import { compareKeywords } from "./keywords.js";
import { meetWithin } from "./meet.js";
import { tellNarrowing, tellWidening, type SchemaComparison } from "./schema-change.js";
import { isDocumentation, kindOf, words } from "./schema-words.js";

/**
 * Compares what two schemas accept, as far as we understand their keywords; any other difference
 * counts as breaking.
 */
export function compareSchemas(
  before: JsonSchema,
  after: JsonSchema,
  comparison: SchemaComparison,
  path = "",
): void {
  if (typeof before === "object" && typeof after === "object") {
    if (!isDeepStrictEqual(wordsOf(before), wordsOf(after)))
      comparison.note({ level: "documentation", path, what: "is described otherwise" });
    const forms = "takes exactly one of its forms";
    if ("anyOf" in before && "oneOf" in after) tellNarrowing(comparison, path, forms);
    if ("oneOf" in before && "anyOf" in after) tellWidening(comparison, path, forms);
  }
  const [oldOnes, newOnes] = [alternatives(before), alternatives(after)];
  const [old, next] = [oldOnes[0], newOnes[0]];
  if (oldOnes.length > 1 || newOnes.length > 1 || old === undefined || next === undefined)
    compareUnions(oldOnes, newOnes, comparison, path);
  else compareOne(old, next, comparison, path);
}

/** The schemas of which a value fits one: `["string", "null"]` is two of them. Without words. */
function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  if (typeof schema === "boolean") return [schema];
  for (const keyword of ["anyOf", "oneOf"]) {
    const { [keyword]: options, ...rest } = withoutWords(schema);
    if (Array.isArray(options))
      return (options as JsonSchema[]).flatMap((option) => alternatives(both(rest, option)));
  }
  const { type, ...rest } = withoutWords(schema);
  if (!Array.isArray(type)) return [withoutWords(schema)];
  return (type as string[]).map((one) => (one === "null" ? { type: one } : { ...rest, type: one }));
}

function withoutWords(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !isDocumentation(keyword)),
  );
}

function wordsOf(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(
    Object.entries(withoutFormer(schema)).filter(([keyword]) => isDocumentation(keyword)),
  );
}

/** A schema of the values that match both. */
function both(left: SchemaObject, right: JsonSchema): JsonSchema {
  if (Object.keys(left).length === 0 || right === false) return right;
  if (right === true) return left;
  const isDisjoint = Object.keys(right).every((keyword) => !(keyword in left));
  return isDisjoint ? { ...left, ...right } : { allOf: [left, right] };
}

/**
 * Options that both have count as the same; of the rest, those of one kind are compared with each
 * other.
 */
function compareUnions(
  before: readonly JsonSchema[],
  after: readonly JsonSchema[],
  comparison: SchemaComparison,
  path: string,
): void {
  const added = [...differences(before, after).added];
  for (const one of before) {
    if (contains(after, one)) {
      meetWithin(one, comparison);
      continue;
    }
    const at = added.findIndex((other) => kindOf(other) === kindOf(one));
    const [other] = at < 0 ? [] : added.splice(at, 1);
    if (other === undefined) tellNarrowing(comparison, path, `is no longer ${words(one)}`);
    else compareSchemas(one, other, comparison, path);
  }
  for (const one of added) tellWidening(comparison, path, `may be ${words(one)}`);
}

function compareOne(
  before: JsonSchema,
  after: JsonSchema,
  comparison: SchemaComparison,
  path: string,
): void {
  if (isDeepStrictEqual(before, after)) return meetWithin(before, comparison);
  const [from, to] = [referredType(before), referredType(after)];
  if (typeof before === "boolean" || typeof after === "boolean") {
    const isWider = after === true || before === false;
    return (isWider ? tellWidening : tellNarrowing)(comparison, path, `may be ${words(after)}`);
  }
  if (from !== undefined && to !== undefined && from !== to && comparison.direction === "answers")
    for (const member of comparison.shownMore?.(from, to) ?? [])
      comparison.note({ level: "opens", path, what: `shows ${member}` });
  const { $ref: _before, ...old } = before;
  const { $ref: _after, ...next } = after;
  const isInstead = from !== to && isPlain(comparison, from) && isPlain(comparison, to);
  if (from !== undefined && to !== undefined && !isInstead) {
    comparison.meet(from, to);
    return compareKeywords(old, next, comparison, compareSchemas, path);
  }
  if (isInstead)
    return compareSchemas(
      both(old, own(comparison.before, from ?? "") ?? true),
      both(next, own(comparison.after, to ?? "") ?? true),
      comparison,
      path,
    );
  if (from !== undefined)
    return compareSchemas(both(old, own(comparison.before, from) ?? true), after, comparison, path);
  if (to !== undefined)
    return compareSchemas(before, both(next, own(comparison.after, to) ?? true), comparison, path);
  compareKeywords(before, after, comparison, compareSchemas, path);
}

/**
 * Whether both registries have the type and it refers to no other: then its changes are reported at
 * the type.
 */
function isPlain({ before, after }: SchemaComparison, name: string | undefined): boolean {
  const [old, next] = [before, after].map((types) => own(types, name ?? ""));
  if (old === undefined || next === undefined) return false;
  let isAlone = true;
  meetWithin(next, { meet: () => (isAlone = false) });
  return isAlone;
}
