// What tells the branches of a union apart before any is checked: JSON types, and members that have
// one of a few values.
import { propertiesOf, requiredOf, type JsonSchema, type SchemaObject } from "./json-schema.js";

type Scalar = string | number | boolean | null;
type ValueType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** What a value must be to fit a branch. Every value that fits the branch passes; more may. */
export interface Guard {
  /** The types that may fit; null if all may, and empty if none can. */
  readonly types: readonly ValueType[] | null;
  /** What members of an object must be to fit. */
  readonly members: ReadonlyMap<string, MemberGuard>;
}

export interface MemberGuard {
  /** The values that may fit; null if all may. */
  readonly values: readonly (string | number | boolean | null)[] | null;
  /** Whether the member may be absent. */
  readonly canLack: boolean;
}

export interface UnionBranches {
  /** What a value must be to fit, for each branch. */
  readonly guards: readonly Guard[];
  /** Pairs of branches that a value may pass both guards of. */
  readonly undecided: readonly (readonly [number, number])[];
}

/** The schema that a `$ref` leads to, or undefined. */
export type Referred = (reference: string) => JsonSchema | undefined;

interface MemberValues {
  /** Undefined if they are not few. */
  readonly values: ReadonlySet<Scalar> | undefined;
  readonly canLack: boolean;
}

/** What is known of all values that fit a schema. */
interface Facts {
  readonly types: ReadonlySet<ValueType>;
  /** The only values, if they are few and have no members. */
  readonly values: ReadonlySet<Scalar> | undefined;
  /** Members of objects that have few values, or are required. */
  readonly members: ReadonlyMap<string, MemberValues>;
  /** The only names that members may have. */
  readonly names: ReadonlySet<string> | undefined;
}

const valueTypes: readonly ValueType[] = ["null", "boolean", "number", "string", "array", "object"];
const anything: Facts = facts(valueTypes);
const nothing: Facts = facts([]);

/** What tells the branches of a union apart. */
export function branchesOf(options: readonly JsonSchema[], referred: Referred): UnionBranches {
  const known = options.map((option) => factsOf(option, referred));
  const pairs = known.flatMap((left, index) =>
    known.slice(index + 1).flatMap((right, further) => {
      const isApart = meetSets(left.types, right.types).size === 0;
      return isApart ? [] : [[index, index + 1 + further] as const];
    }),
  );
  const { names, undecided } = discriminators(known, pairs);
  return { guards: known.map((each) => guardOf(each, names)), undecided };
}

/** The members that decide most, and the pairs that none decides. */
function discriminators(
  known: readonly Facts[],
  pairs: readonly (readonly [number, number])[],
): { readonly names: readonly string[]; readonly undecided: UnionBranches["undecided"] } {
  const candidates = new Set(known.flatMap(({ members }) => [...members.keys()]));
  const names: string[] = [];
  let undecided = pairs;
  for (;;) {
    let best: { readonly name: string; readonly left: typeof pairs } | undefined;
    for (const name of candidates) {
      const left = undecided.filter(([one, other]) => !isApart(known[one], known[other], name));
      if (left.length < (best?.left ?? undecided).length) best = { name, left };
    }
    if (best === undefined) return { names, undecided };
    names.push(best.name);
    undecided = best.left;
  }
}

function isApart(left = anything, right = anything, name = ""): boolean {
  const shared = meetSets(left.types, right.types);
  if (shared.size !== 1 || !shared.has("object")) return false;
  const [one, other] = [memberOf(left, name), memberOf(right, name)];
  if (one === undefined || other === undefined) return false;
  if (one.canLack && other.canLack) return false;
  return meetOptional(one.values, other.values)?.size === 0;
}

function memberOf({ members, names }: Facts, name: string): MemberValues | undefined {
  const known = members.get(name);
  if (known !== undefined || names === undefined || names.has(name)) return known;
  return { values: new Set(), canLack: true };
}

function guardOf(known: Facts, names: readonly string[]): Guard {
  const members = new Map<string, MemberGuard>();
  for (const name of known.types.has("object") ? names : []) {
    const member = memberOf(known, name);
    if (member === undefined) continue;
    const { values, canLack } = member;
    if (values !== undefined || !canLack)
      members.set(name, { values: values === undefined ? null : [...values], canLack });
  }
  const types = known.types.size === valueTypes.length ? null : [...known.types];
  return { types, members };
}

/** What is known of the values of a schema, without its members where nobody asks for them. */
function factsOf(
  schema: JsonSchema,
  referred: Referred,
  withMembers = true,
  through: ReadonlySet<string> = new Set(),
): Facts {
  if (typeof schema === "boolean") return schema ? anything : nothing;
  const parts: Facts[] = [ofTypes(schema), ofValues(schema)];
  if (withMembers) parts.push(ofMembers(schema, referred));
  const reference = schema["$ref"];
  if (typeof reference === "string" && !through.has(reference)) {
    const target = referred(reference) ?? true;
    parts.push(factsOf(target, referred, withMembers, new Set(through).add(reference)));
  }
  const inner = (keyword: string): readonly Facts[] | undefined =>
    (schema[keyword] as readonly JsonSchema[] | undefined)?.map((part) =>
      factsOf(part, referred, withMembers, through),
    );
  parts.push(...(inner("allOf") ?? []));
  for (const keyword of ["anyOf", "oneOf"])
    parts.push(inner(keyword)?.reduce(eitherOf, nothing) ?? anything);
  return parts.reduce(bothOf, anything);
}

function ofTypes({ type }: SchemaObject): Facts {
  if (type === undefined) return anything;
  const names = (Array.isArray(type) ? type : [type]) as readonly string[];
  return facts(names.map((name) => (name === "integer" ? "number" : name) as ValueType));
}

/** What `const` and `enum` say. */
function ofValues(schema: SchemaObject): Facts {
  const lists = [
    ...("const" in schema ? [[schema["const"]]] : []),
    ...(Array.isArray(schema["enum"]) ? [schema["enum"] as readonly unknown[]] : []),
  ];
  return lists
    .map((list): Facts => {
      const values = list.every(isScalar) ? new Set<Scalar>(list) : undefined;
      return { ...facts(list.map(typeOf)), values };
    })
    .reduce(bothOf, anything);
}

function ofMembers(schema: SchemaObject, referred: Referred): Facts {
  const required = requiredOf(schema);
  const properties = Object.entries(propertiesOf(schema));
  const members = new Map<string, MemberValues>();
  for (const [name, property] of properties) {
    // What every object inherits is never absent.
    if (name in Object.prototype) continue;
    const values =
      property === false ? new Set<Scalar>() : factsOf(property, referred, false).values;
    // A default that is filled in makes up for an absent member.
    const isFilled = typeof property === "object" && "default" in property;
    const canLack = isFilled || !required.includes(name);
    if (values !== undefined || !canLack) members.set(name, { values, canLack });
  }
  for (const name of required)
    if (!members.has(name) && !Object.hasOwn(propertiesOf(schema), name))
      if (!(name in Object.prototype)) members.set(name, { values: undefined, canLack: false });
  const isClosed = schema["additionalProperties"] === false && !("patternProperties" in schema);
  const names = isClosed ? new Set(properties.map(([name]) => name)) : undefined;
  return { ...anything, members, names };
}

function facts(types: readonly ValueType[]): Facts {
  const isNull = types.length === 1 && types[0] === "null";
  return {
    types: new Set(types),
    values: isNull ? new Set([null]) : undefined,
    members: new Map(),
    names: undefined,
  };
}

/** What is known of values that fit both. */
function bothOf(left: Facts, right: Facts): Facts {
  if (left === anything) return right;
  if (right === anything) return left;
  const types = meetSets(left.types, right.types);
  const values = meetOptional(left.values, right.values);
  const members = new Map(left.members);
  for (const [name, member] of right.members) {
    const known = members.get(name) ?? member;
    members.set(name, {
      values: meetOptional(known.values, member.values),
      canLack: known.canLack && member.canLack,
    });
  }
  const fitting =
    values === undefined
      ? undefined
      : new Set([...values].filter((each) => types.has(typeOf(each))));
  return { types, values: fitting, members, names: meetOptional(left.names, right.names) };
}

/** What is known of values that fit one or the other. */
function eitherOf(left: Facts, right: Facts): Facts {
  if (left.types.size === 0) return right;
  if (right.types.size === 0) return left;
  const types = joinSets(left.types, right.types);
  const values = left.values && right.values ? joinSets(left.values, right.values) : undefined;
  // Members only say something of objects.
  if (!left.types.has("object")) return { ...right, types, values };
  if (!right.types.has("object")) return { ...left, types, values };
  const members = new Map<string, MemberValues>();
  for (const name of [...left.members.keys(), ...right.members.keys()]) {
    const [one, other] = [memberOf(left, name), memberOf(right, name)];
    if (one === undefined || other === undefined) continue;
    members.set(name, {
      values: one.values && other.values ? joinSets(one.values, other.values) : undefined,
      canLack: one.canLack || other.canLack,
    });
  }
  const names = left.names && right.names ? joinSets(left.names, right.names) : undefined;
  return { types, values, members, names };
}

function meetSets<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): ReadonlySet<T> {
  return new Set([...left].filter((value) => right.has(value)));
}

function joinSets<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): ReadonlySet<T> {
  return new Set([...left, ...right]);
}

function meetOptional<T>(
  left: ReadonlySet<T> | undefined,
  right: ReadonlySet<T> | undefined,
): ReadonlySet<T> | undefined {
  return left !== undefined && right !== undefined ? meetSets(left, right) : (left ?? right);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function typeOf(value: unknown): ValueType {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : (typeof value as ValueType);
}
