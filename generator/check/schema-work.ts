// How often one value is looked at: a schema sends parts of a value to several schemas at once, and
// these may send their parts on to even more. The work is linear if there is a most.
import { referredType, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import { resolveSchema } from "../kernel/resolve.js";
import { own } from "../model/records.js";
import { branchesOf, type UnionBranches } from "../model/union-branches.js";

type Types = Readonly<Record<string, JsonSchema>>;

/** The schemas that one value is checked against, and how often each. */
type Load = ReadonlyMap<SchemaObject, number>;

/** A way down from a value: a member of this name, any other member, or an item of a list. */
type Step = { readonly name: string } | "other" | { readonly item: number };

/** More than schemas of a person have; growth without end passes any bound. */
const maxLoad = 64;
/** What a step may choose between; above it, the most of all choices counts. */
const maxChoices = 16;
const maxLoads = 2_000;

const nothing: Load = new Map();

/**
 * How many schemas check one value at most, if that is too many or grows with depth; otherwise
 * undefined. What was found of one schema isn't looked at again for the next.
 */
export function workCounter(types: Types): (schema: JsonSchema) => number | undefined {
  const numbers = new Map<SchemaObject, number>();
  const seen = new Set<string>();
  const keyOf = (load: Load): string => {
    const texts = [...load].map(([each, times]) => {
      const number = numbers.get(each) ?? numbers.size;
      numbers.set(each, number);
      return `${number}x${times}`;
    });
    return texts.sort().join();
  };
  return (schema) => {
    const queue: Load[] = [];
    const add = (load: Load): void => {
      const key = keyOf(load);
      if (load.size === 0 || seen.has(key)) return;
      seen.add(key);
      queue.push(load);
    };
    add(loadOf(schema, types));
    for (const load of queue) {
      const total = [...load.values()].reduce((sum, times) => sum + times, 0);
      if (total > maxLoad || queue.length > maxLoads) return total;
      for (const step of stepsFrom(load, types))
        for (const next of nextLoads(load, step, types)) add(next);
    }
    return undefined;
  };
}

/** The schemas that check the same value: itself, and those that it combines. */
function* sameValue(
  schema: JsonSchema,
  types: Types,
  through: Set<SchemaObject> = new Set(),
): Generator<SchemaObject> {
  if (typeof schema === "boolean" || through.has(schema)) return;
  through.add(schema);
  yield schema;
  for (const inner of listAlternatives(schema, types)) yield* sameValue(inner, types, through);
}

function listAlternatives(schema: SchemaObject, types: Types): readonly JsonSchema[] {
  const type = referredType(schema);
  return [
    ...(type === undefined ? [] : [own(types, type) ?? true]),
    ...["allOf", "anyOf", "oneOf"].flatMap((keyword) => listOf(schema, keyword)),
    ...besideOf(schema),
  ];
}

/** What is checked of the same value besides; of `then` and `else`, both may be. */
function besideOf(schema: SchemaObject): readonly JsonSchema[] {
  return ["not", "if", "then", "else"].flatMap((keyword) =>
    keyword in schema ? [schema[keyword] as JsonSchema] : [],
  );
}

function listOf(schema: SchemaObject, keyword: string): readonly JsonSchema[] {
  return (schema[keyword] ?? []) as readonly JsonSchema[];
}

function mapOf(schema: SchemaObject, keyword: string): Readonly<Record<string, JsonSchema>> {
  return (schema[keyword] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

function stepsFrom(load: Load, types: Types): readonly Step[] {
  const names = new Set<string>();
  let items = 0;
  for (const root of load.keys())
    for (const schema of sameValue(root, types)) {
      for (const name of Object.keys(mapOf(schema, "properties"))) names.add(name);
      items = Math.max(items, listOf(schema, "prefixItems").length);
    }
  return [
    ...[...names].map((name) => ({ name })),
    "other",
    ...Array.from({ length: items + 1 }, (_, item) => ({ item })),
  ];
}

/** What a part of the value is checked against, for each choice of branches. */
function nextLoads(load: Load, step: Step, types: Types): readonly Load[] {
  return [...load].reduce<readonly Load[]>(
    (loads, [schema, times]) =>
      both(
        loads,
        after(schema, step, types, new Set()).map((each) => multiplyLoad(each, times)),
      ),
    [nothing],
  );
}

function after(
  schema: JsonSchema,
  step: Step,
  types: Types,
  through: ReadonlySet<SchemaObject>,
): readonly Load[] {
  if (typeof schema === "boolean" || through.has(schema)) return [nothing];
  const inner = new Set(through).add(schema);
  let loads = ownParts(schema, step, types);
  const type = referredType(schema);
  const all = [
    ...(type === undefined ? [] : [own(types, type) ?? true]),
    ...listOf(schema, "allOf"),
    ...besideOf(schema),
  ];
  for (const part of all) loads = both(loads, after(part, step, types, inner));
  for (const keyword of ["anyOf", "oneOf"]) {
    const options = listOf(schema, keyword);
    if (options.length === 0) continue;
    const each = options.map((option) => after(option, step, types, inner));
    const undecided = undecidedOf(options, types);
    // A value that a branch may be of is tried with all branches that it may be of as well.
    const choices = each.flatMap((own, index) =>
      undecided
        .flatMap(([one, other]) => (one === index ? [other] : other === index ? [one] : []))
        .reduce((tried, further) => both(tried, each[further] ?? [nothing]), own),
    );
    loads = both(loads, withoutLighter(choices));
  }
  return loads;
}

const known = new WeakMap<readonly JsonSchema[], UnionBranches["undecided"]>();

function undecidedOf(options: readonly JsonSchema[], types: Types): UnionBranches["undecided"] {
  const earlier = known.get(options);
  if (earlier !== undefined) return earlier;
  const { undecided } = branchesOf(options, (reference) =>
    own(types, referredType({ $ref: reference }) ?? ""),
  );
  known.set(options, undecided);
  return undecided;
}

/** What the schema itself, without those that it combines, says of a part. */
function ownParts(schema: SchemaObject, step: Step, types: Types): readonly Load[] {
  const load = (parts: readonly unknown[]): Load =>
    parts.reduce<Load>((sum, part) => addLoads(sum, loadOf(part as JsonSchema, types)), nothing);
  if (typeof step === "object" && "item" in step)
    return [load([listOf(schema, "prefixItems")[step.item] ?? schema["items"] ?? true])];
  const properties = mapOf(schema, "properties");
  const patterns = Object.entries(mapOf(schema, "patternProperties"));
  const others = schema["additionalProperties"] ?? true;
  if (step === "other")
    return patterns.length === 0
      ? [load([others])]
      : withoutLighter([load(patterns.map(([, part]) => part)), load([others])]);
  const named = [
    ...(Object.hasOwn(properties, step.name) ? [properties[step.name]] : []),
    ...patterns.flatMap(([source, part]) =>
      new RegExp(source, "u").test(step.name) ? [part] : [],
    ),
  ];
  return [load(named.length > 0 ? named : [others])];
}

/** A schema as a load, by its type where it only refers to one; nothing if it looks at no parts. */
function loadOf(schema: JsonSchema, types: Types): Load {
  if (typeof schema === "boolean") return nothing;
  const type = Object.keys(schema).length === 1 ? referredType(schema) : undefined;
  if (type !== undefined) {
    const behind = resolveSchema(schema, (name) => own(types, name));
    // Names that lead to each other alone are types of nothing.
    return referredType(behind) === undefined ? loadOf(behind, types) : nothing;
  }
  return looksAtParts(schema, types) ? new Map([[schema, 1]]) : nothing;
}

const parts = ["properties", "patternProperties", "additionalProperties", "items", "prefixItems"];

function looksAtParts(schema: SchemaObject, types: Types): boolean {
  for (const each of sameValue(schema, types))
    if (parts.some((keyword) => typeof each[keyword] === "object")) return true;
  return false;
}

/** Every choice of the one with every choice of the other. */
function both(left: readonly Load[], right: readonly Load[]): readonly Load[] {
  const pairs = left.flatMap((one) => right.map((other) => addLoads(one, other)));
  return pairs.length > maxChoices ? [pairs.reduce(most, nothing)] : withoutLighter(pairs);
}

function addLoads(left: Load, right: Load): Load {
  if (right.size === 0) return left;
  const sum = new Map(left);
  for (const [schema, times] of right) sum.set(schema, (sum.get(schema) ?? 0) + times);
  return sum;
}

function most(left: Load, right: Load): Load {
  const result = new Map(left);
  for (const [schema, times] of right) result.set(schema, Math.max(result.get(schema) ?? 0, times));
  return result;
}

function multiplyLoad(load: Load, times: number): Load {
  return times === 1 ? load : new Map([...load].map(([schema, each]) => [schema, each * times]));
}

/** Without loads that another contains: what is linear for more is linear for less. */
function withoutLighter(loads: readonly Load[]): readonly Load[] {
  const kept: Load[] = [];
  for (const load of loads) {
    if (kept.some((other) => isWithin(load, other))) continue;
    kept.splice(0, kept.length, ...kept.filter((other) => !isWithin(other, load)), load);
  }
  return kept;
}

function isWithin(left: Load, right: Load): boolean {
  return [...left].every(([schema, times]) => times <= (right.get(schema) ?? 0));
}
