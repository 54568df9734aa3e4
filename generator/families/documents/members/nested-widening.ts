// Whether a type differs from a former one only by members within it, so that each version can cut
// what it doesn't know.
import { isDeepStrictEqual } from "node:util";
import type { Resolve } from "../../../kernel/resolve.js";
import {
  propertiesOf,
  referredType,
  requiredOf,
  omitDescriptions,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import { branchesOf } from "../../../model/union-branches.js";

/** The schemas of one member in two versions, each with its types. */
export interface MemberTypes {
  readonly schemas: readonly [before: JsonSchema, after: JsonSchema];
  readonly types: readonly [before: Resolve, after: Resolve];
}

type Pair = readonly [before: JsonSchema, after: JsonSchema];

/**
 * Whether a version's values differ from the other's only by optional members of objects that have
 * no others: each reads what the other stored, without the members that it doesn't have.
 */
export function isCutEitherWay({ schemas, types }: MemberTypes): boolean {
  return (
    fits(schemas, types, new Set()) &&
    ([0, 1] as const).every((at) => !hasUndecidedForms(schemas[at], types[at]))
  );
}

function fits([was, is]: Pair, types: MemberTypes["types"], seen: Set<string>): boolean {
  if (typeof was === "boolean" || typeof is === "boolean") return was === is;
  const named = [referredType(was), referredType(is)];
  if (named[0] !== undefined && named[1] !== undefined) {
    const pair = named.join("\n");
    if (seen.has(pair)) return true;
    seen.add(pair);
    const targets = [types[0](named[0]) ?? true, types[1](named[1]) ?? true] as const;
    if (!fits(targets, types, seen)) return false;
  }
  return (
    isDeepStrictEqual(withoutParts(was), withoutParts(is)) &&
    haveSameMembers([was, is], types, seen) &&
    single.every((keyword) => fits([part(was, keyword), part(is, keyword)], types, seen)) &&
    several.every((keyword) => {
      const [old, next] = [parts(was, keyword), parts(is, keyword)];
      return (
        old.length === next.length &&
        old.every((one, at) => fits([one, next[at] ?? true], types, seen))
      );
    })
  );
}

const single = ["items", "additionalProperties"];
const several = ["allOf", "anyOf", "oneOf"];
const followed = new Set(["$ref", "properties", "required", ...single, ...several]);

function part(schema: SchemaObject, keyword: string): JsonSchema {
  return (schema[keyword] ?? true) as JsonSchema;
}

function parts(schema: SchemaObject, keyword: string): readonly JsonSchema[] {
  return (schema[keyword] ?? []) as readonly JsonSchema[];
}

function withoutParts(schema: SchemaObject): unknown {
  const told = omitDescriptions(schema);
  if (typeof told !== "object" || told === null) return told;
  return Object.fromEntries(Object.entries(told).filter(([keyword]) => !followed.has(keyword)));
}

/**
 * Whether objects differ by members alone that need not be there, and whether those of each are
 * known by name.
 */
function haveSameMembers(
  [was, is]: readonly [SchemaObject, SchemaObject],
  types: MemberTypes["types"],
  seen: Set<string>,
): boolean {
  const [old, next] = [propertiesOf(was), propertiesOf(is)];
  const others = [
    ...Object.keys(next).filter((name) => !Object.hasOwn(old, name)),
    ...Object.keys(old).filter((name) => !Object.hasOwn(next, name)),
  ];
  const isClosed = [was, is].every(
    (schema) => schema["additionalProperties"] === false && !("patternProperties" in schema),
  );
  const isOptional = isDeepStrictEqual(requiredOf(was).toSorted(), requiredOf(is).toSorted());
  return (
    isOptional &&
    (others.length === 0 || isClosed) &&
    Object.entries(old).every(([name, property]) => {
      const other = own(next, name);
      return other === undefined || fits([property, other], types, seen);
    })
  );
}

/**
 * Whether a schema has alternatives of which a value may have several: what one of them has is cut
 * of none.
 */
function hasUndecidedForms(
  schema: JsonSchema,
  resolve: Resolve,
  seen = new Set<string>(),
): boolean {
  if (typeof schema === "boolean") return false;
  const type = referredType(schema);
  if (type !== undefined && !seen.has(type)) {
    seen.add(type);
    if (hasUndecidedForms(resolve(type) ?? true, resolve, seen)) return true;
  }
  const undecided = ["anyOf", "oneOf"].some((keyword) => {
    const options = parts(schema, keyword);
    const referred = (reference: string) => resolve(referredType({ $ref: reference }) ?? "");
    return branchesOf(options, referred).undecided.length > 0;
  });
  const within = [
    ...Object.values(propertiesOf(schema)),
    ...single.map((keyword) => part(schema, keyword)),
    ...several.flatMap((keyword) => parts(schema, keyword)),
  ];
  return undecided || within.some((inner) => hasUndecidedForms(inner, resolve, seen));
}
