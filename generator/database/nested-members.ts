// What a shape knows of members within members: from the schemas of a document's type, with the
// types that these refer to.
import { isDeepStrictEqual } from "node:util";
import type {
  Nested,
  NestedForm,
  NestedMembers,
  NestedTypes,
} from "../../runtime/contract/nested-members.js";
import type { Resolve } from "../kernel/resolve.js";
import {
  propertiesOf,
  referredType,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { own, sortedRecord } from "../model/records.js";
import { branchesOf, type Guard } from "../model/union-branches.js";

/**
 * What is known within members, given their schemas by their names in rows; undefined if that is
 * nothing.
 */
export function nestedMembers(
  schemas: Readonly<Record<string, JsonSchema>>,
  resolve: Resolve,
): NestedMembers | undefined {
  const known = new Map<string, Nested | undefined>();
  const reader: Reader = {
    resolve,
    isKnown(type) {
      const target = resolve(type);
      if (known.has(type)) return known.get(type) !== undefined;
      if (target === undefined || isItsOwnForm(type, resolve)) return false;
      // Within itself, a type is taken for one of which something is known.
      known.set(type, {});
      known.set(type, nestedIn(target, reader));
      return known.get(type) !== undefined;
    },
  };
  const members = entriesOf(schemas, (schema) => nestedIn(schema, reader));
  if (members.length === 0) return undefined;
  const types = [...known].flatMap(([type, nested]) =>
    nested === undefined ? [] : [[type, nested] as const],
  );
  return { members: sortedRecord(members), types: sortedRecord(types) };
}

interface Reader {
  readonly resolve: Resolve;
  /** Whether anything is known of the values of a type. */
  isKnown(type: string): boolean;
}

/**
 * What is known of the values of a schema; undefined if they may be anything, as far as members are
 * concerned.
 */
function nestedIn(schema: JsonSchema, reader: Reader): Nested | undefined {
  if (typeof schema === "boolean") return undefined;
  const type = referredType(schema);
  const parts = [
    objectsOf(schema, reader),
    listsOf(schema, reader),
    type !== undefined && reader.isKnown(type) ? { type } : undefined,
    ...["anyOf", "oneOf"].map((keyword) => formsOf(schema[keyword] as Options, reader)),
    ...((schema["allOf"] ?? []) as readonly JsonSchema[]).map((part) => nestedIn(part, reader)),
  ].filter((part) => part !== undefined);
  return parts.length > 1 ? { all: parts } : parts[0];
}

function entriesOf(
  schemas: Readonly<Record<string, JsonSchema>>,
  read: (schema: JsonSchema) => Nested | undefined,
): readonly (readonly [string, Nested])[] {
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const nested = read(schema);
    return nested === undefined ? [] : [[name, nested] as const];
  });
}

type Options = readonly JsonSchema[] | undefined;

function objectsOf(schema: SchemaObject, reader: Reader): Nested | undefined {
  // Which members follow a pattern is left to the validator.
  if ("patternProperties" in schema) return undefined;
  const properties = propertiesOf(schema);
  const others = (schema["additionalProperties"] ?? true) as JsonSchema;
  const ofOthers = nestedIn(others, reader);
  const within = entriesOf(
    properties,
    (property) => nestedIn(property, reader) ?? (ofOthers === undefined ? undefined : {}),
  );
  if (others !== false && ofOthers === undefined && within.length === 0) return undefined;
  return {
    ...(others === false ? { names: Object.keys(properties).sort() } : {}),
    ...(within.length === 0 ? {} : { members: sortedRecord(new Map(within)) }),
    ...(ofOthers === undefined ? {} : { others: ofOthers }),
  };
}

function listsOf(schema: SchemaObject, reader: Reader): Nested | undefined {
  if ("prefixItems" in schema) return undefined;
  const items = nestedIn((schema["items"] ?? true) as JsonSchema, reader);
  return items === undefined ? undefined : { items };
}

/**
 * What is known of alternatives; undefined if one of them may have any members, or if none has any.
 */
function formsOf(options: Options, reader: Reader): Nested | undefined {
  if (options === undefined) return undefined;
  const known = options.map((option) => nestedIn(option, reader));
  if (known.every((nested) => nested === undefined)) return undefined;
  const { guards } = branchesOf(options, (reference) =>
    reader.resolve(referredType({ $ref: reference }) ?? ""),
  );
  const forms = known.flatMap((is, at): readonly NestedForm[] => {
    const { types, members } = guards[at] ?? everything;
    const [lists, objects] = ["array", "object"].map(
      (type) => types === null || (types as readonly string[]).includes(type),
    );
    if (lists !== true && objects !== true) return [];
    const when = sortedRecord(new Map(members));
    return [
      {
        ...(lists === objects ? {} : { of: lists === true ? "lists" : "objects" }),
        ...(members.size === 0 ? {} : { when }),
        is: is ?? {},
      },
    ];
  });
  const [only, ...others] = forms;
  return only !== undefined && others.length === 0 ? only.is : { either: forms };
}

const everything: Guard = { types: null, members: new Map() };

/**
 * Whether a type is one of its own alternatives, or of theirs: it says nothing then that could be
 * followed to its end.
 */
function isItsOwnForm(type: string, resolve: Resolve): boolean {
  const seen = new Set<string>();
  const leadsBack = (schema: JsonSchema): boolean => {
    if (typeof schema === "boolean") return false;
    const parts = ["anyOf", "oneOf", "allOf"].flatMap(
      (keyword) => (schema[keyword] ?? []) as readonly JsonSchema[],
    );
    const next = referredType(schema);
    if (next === type) return true;
    if (parts.some(leadsBack)) return true;
    if (next === undefined || seen.has(next)) return false;
    seen.add(next);
    return leadsBack(resolve(next) ?? true);
  };
  return leadsBack(resolve(type) ?? true);
}

/**
 * How what is known within members has changed: `more` if all that was there may still be there.
 */
export type NestedChange = "none" | "more" | "other";

/**
 * How the members within have changed. Members of which one side knows nothing don't count: their
 * type is another, or their values may have any members.
 */
export function nestedChange(
  before: NestedMembers | undefined,
  after: NestedMembers | undefined,
): NestedChange {
  if (before === undefined || after === undefined) return "none";
  const pairs = [...pairsOf(before.members, after.members), ...pairsOf(before.types, after.types)];
  if (pairs.every((pair) => isDeepStrictEqual(...pair))) return "none";
  return pairs.every(([was, is]) => allows(is, was)) ? "more" : "other";
}

type Pair = [was: Nested, is: Nested];

function pairsOf(before: NestedTypes, after: NestedTypes): readonly Pair[] {
  return Object.entries(before).flatMap(([name, was]): readonly Pair[] => {
    const is = own(after, name);
    return is === undefined ? [] : [[was, is]];
  });
}

/** Whether values may have all members that they might have had. */
function allows(is: Nested | undefined, was: Nested | undefined): boolean {
  if (is === undefined) return true;
  if (was === undefined) return false;
  const { names, members = {}, others, items, all = [], either = [], type } = is;
  const isNew = (name: string): boolean => was.names?.includes(name) === false;
  return (
    (names === undefined || was.names?.every((name) => names.includes(name)) === true) &&
    Object.entries(members).every(
      ([name, member]) => isNew(name) || allows(member, own(was.members ?? {}, name)),
    ) &&
    (was.names !== undefined || allows(others, was.others)) &&
    allows(items, was.items) &&
    type === was.type &&
    all.length === (was.all ?? []).length &&
    all.every((part, at) => allows(part, was.all?.[at])) &&
    (either.length === 0) === ((was.either ?? []).length === 0) &&
    (was.either ?? []).every(({ is: form, ...told }, at) => {
      const { is: next, ...same } = either[at] ?? { is: undefined };
      return isDeepStrictEqual(told, same) && allows(next, form);
    })
  );
}
