// Values that a JSON Schema of a document describes, edge cases first. What a validator says of them is the truth, not this file.
import fc from "fast-check";
import type { Json, OpenApiDocument, Schema } from "./open-api.js";

/** Levels of a type that holds itself. */
const deepest = 6;

/** Texts that break what does not expect them. */
const strange = [
  "",
  " ",
  "0",
  "null",
  "a",
  "%",
  "_%\\",
  "'; --",
  "..",
  "a/b",
  "__proto__",
  "İ",
  "ß",
  "😀",
  "\u2028",
  "\ufeff",
  "e\u0301",
  "a\tb\r\n",
];

/** Ids that stand for something that exists: the driver puts its id there before it sends them. */
export const standIn = /00000000-0000-4000-8000-0000000000([0-9a-f]{2})/g;

const standIns = fc
  .nat(15)
  .map((at) => `00000000-0000-4000-8000-0000000000${at.toString(16).padStart(2, "0")}`);

const zones = fc.constantFrom("Z", "+00:00", "-08:00", "+14:00");
const instants = fc
  .date({ min: new Date("0002-01-01"), max: new Date("9998-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Texts of the formats that a registry may name. */
const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.oneof({ weight: 6, arbitrary: standIns }, fc.uuid()),
  date: instants.map((text) => text.slice(0, 10)),
  "date-time": fc.oneof(
    instants,
    fc.tuple(instants, zones).map(([text, zone]) => text.replace(/\.\d+Z$/, zone)),
    fc.constantFrom(
      "0001-01-01T00:00:00Z",
      "9999-12-31T23:59:59.999999999Z",
      "2024-02-29T23:59:59Z",
    ),
  ),
  email: fc.emailAddress(),
  hostname: fc.domain(),
  ipv4: fc.ipV4(),
  uri: fc.webUrl({ withQueryParameters: true }),
  binary: fc.string({ unit: "binary-ascii", maxLength: 40 }),
};

/** Makes values of the schemas of one document. */
export class SchemaValues {
  readonly #document: OpenApiDocument;
  readonly #known = new Map<string, fc.Arbitrary<Json>>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** Values of a schema, as far as this file can tell. */
  of(schema: Schema, depth = 0): fc.Arbitrary<Json> {
    if (typeof schema === "boolean") return anything;
    if (schema.$ref === undefined) return this.#plain(schema, depth);
    const key = `${depth} ${schema.$ref}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = this.of(this.#document.resolve<Schema>(schema.$ref), depth);
    this.#known.set(key, made);
    return made;
  }

  #plain(schema: Exclude<Schema, boolean>, depth: number): fc.Arbitrary<Json> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const options = schema.anyOf ?? schema.oneOf;
    if (options !== undefined && schema.properties === undefined)
      return this.#either(options, depth);
    if (options !== undefined)
      return fc.oneof(...options.map((option) => this.#plain(narrowed(schema, option), depth)));
    const [first, ...rest] = schema.allOf ?? [];
    if (first !== undefined)
      return rest.reduce<fc.Arbitrary<Json>>(
        (all, part) =>
          fc.tuple(all, this.of(part, depth)).map(([one, other]) => merged(one, other)),
        this.of(first, depth),
      );
    const types = [schema.type ?? []].flat();
    if (types.length === 0)
      return schema.properties === undefined ? anything : this.#object(schema, depth);
    return fc.oneof(...types.map((type) => this.#typed(type, schema, depth)));
  }

  /** The first alternatives end what the others would go on with. */
  #either(options: readonly Schema[], depth: number): fc.Arbitrary<Json> {
    const few = depth < deepest ? options : options.slice(0, 1);
    return fc.oneof(
      ...few.map((option) => fc.constant(null).chain(() => this.of(option, depth + 1))),
    );
  }

  #typed(type: string, schema: Exclude<Schema, boolean>, depth: number): fc.Arbitrary<Json> {
    switch (type) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "string":
        return textOf(schema);
      case "integer":
      case "number":
        return numberOf(type, schema);
      case "array":
        return this.#array(schema, depth);
      default:
        return this.#object(schema, depth);
    }
  }

  #array(schema: Exclude<Schema, boolean>, depth: number): fc.Arbitrary<Json> {
    const { minItems = 0, maxItems = 4, uniqueItems = false } = schema;
    const most = Math.max(minItems, Math.min(maxItems, depth < deepest ? minItems + 3 : minItems));
    const item = this.of(schema.items ?? true, depth + 1);
    const lengths = { minLength: minItems, maxLength: most };
    return uniqueItems
      ? fc.uniqueArray(item, { ...lengths, selector: (value) => JSON.stringify(value) })
      : fc.array(item, lengths);
  }

  #object(schema: Exclude<Schema, boolean>, depth: number): fc.Arbitrary<Json> {
    const { properties = {}, required = [], minProperties = 0, maxProperties = 4 } = schema;
    const names = Object.keys(properties);
    const optional = names.filter((name) => !required.includes(name));
    const most = Math.min(optional.length, depth < deepest ? 4 : minProperties);
    const chosen =
      optional.length === 0
        ? fc.constant<string[]>([])
        : fc.shuffledSubarray(optional, {
            minLength: Math.min(most, Math.max(0, minProperties - required.length)),
            maxLength: Math.max(0, Math.min(most, maxProperties - required.length)),
          });
    const declared = chosen.chain((others) =>
      fc
        .tuple(
          ...[...required, ...others].map((name) =>
            this.of(properties[name] ?? true, depth + 1).map((value) => [name, value] as const),
          ),
        )
        .map((entries) => Object.fromEntries(entries) as Json),
    );
    const rest = schema.additionalProperties ?? true;
    const isMap = typeof rest === "object" || (rest === true && names.length === 0);
    if (!isMap) return declared;
    const name = textOf({ maxLength: 20, ...Object(schema.propertyNames ?? {}) });
    const members = fc.dictionary(name, this.of(rest, depth + 1), {
      minKeys: names.length === 0 ? minProperties : 0,
      maxKeys: Math.max(minProperties, Math.min(maxProperties, depth < deepest ? 3 : 0)),
    });
    return fc.tuple(members, declared).map(([more, own]) => merged({ ...more }, own));
  }
}

/** An object's schema with what an alternative asks of its members besides. */
function narrowed(schema: Exclude<Schema, boolean>, option: Schema): Exclude<Schema, boolean> {
  const { anyOf: _any, oneOf: _one, ...own } = schema;
  if (typeof option === "boolean") return own;
  const properties: Record<string, Schema> = { ...own.properties };
  for (const [name, more] of Object.entries(option.properties ?? {}))
    properties[name] = { ...Object(own.properties?.[name] ?? {}), ...Object(more) };
  return { ...own, properties, required: [...(own.required ?? []), ...(option.required ?? [])] };
}

const anything: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;

function merged(one: Json, other: Json): Json {
  const isObject = (value: Json): value is { [name: string]: Json } =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject(one) && isObject(other) ? { ...one, ...other } : other;
}

/** Building one tries every dangerous text on the pattern, which takes longer than all values that are made with it. */
const matches = new Map<string, fc.Arbitrary<string>>();

function matchesOf(pattern: string): fc.Arbitrary<string> {
  const known = matches.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  matches.set(pattern, known);
  return known;
}

/** Texts of a schema; those with a pattern match it, which may leave their length to chance. */
export function textOf(schema: Exclude<Schema, boolean>): fc.Arbitrary<string> {
  const { minLength = 0, maxLength, format, pattern } = schema;
  const known = formats[format ?? ""];
  if (known !== undefined) return known;
  const fits = (text: string): boolean => {
    const length = [...text].length;
    return length >= minLength && length <= (maxLength ?? Infinity);
  };
  if (pattern !== undefined) {
    const matching = matchesOf(pattern).filter(fits);
    const takesIds = new RegExp(pattern).test("00000000-0000-4000-8000-000000000000");
    return takesIds ? fc.oneof(standIns.filter(fits), matching) : matching;
  }
  const most = Math.min(maxLength ?? 24, minLength + 24);
  const usual = strange.filter(fits);
  return fc.oneof(
    ...(usual.length === 0 ? [] : [fc.constantFrom(...usual)]),
    fc.string({ unit: "grapheme-ascii", minLength, maxLength: most }),
    fc
      .string({ unit: "binary", minLength, maxLength: most })
      .map((text) => text.replaceAll("\0", "0")),
    ...(maxLength === undefined || maxLength > 12_000 ? [] : [fc.constant("x".repeat(maxLength))]),
  );
}

function numberOf(
  type: "integer" | "number",
  schema: Exclude<Schema, boolean>,
): fc.Arbitrary<number> {
  const whole = type === "integer";
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const step = whole ? 1 : Number.EPSILON;
  const min =
    schema.minimum ?? (exclusiveMinimum === undefined ? -(2 ** 53) + 1 : exclusiveMinimum + step);
  const max =
    schema.maximum ?? (exclusiveMaximum === undefined ? 2 ** 53 - 1 : exclusiveMaximum - step);
  const edges = [min, max, 0, 1, -1].filter((value) => value >= min && value <= max);
  const low = Math.ceil(Math.max(min, -20));
  const upTo = (most: number) =>
    fc.integer({ min: low, max: Math.floor(Math.min(max, Math.max(low, 0) + most)) });
  const small = fc.oneof(upTo(2), upTo(20));
  if (multipleOf !== undefined) return small.map((value) => value * multipleOf);
  const wide = whole
    ? fc.integer({ min: Math.ceil(min), max: Math.floor(max) })
    : fc.double({ min, max, noNaN: true, noDefaultInfinity: true });
  return fc
    .oneof({ weight: 4, arbitrary: small }, wide, {
      weight: 3,
      arbitrary: fc.constantFrom(...edges),
    })
    .map((value) => value + 0);
}
