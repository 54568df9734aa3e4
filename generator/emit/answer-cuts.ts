// Prints functions that copy the declared members of an answer, from the schemas of its check: one
// for each schema whose values may have members to leave out.
import { pascalCase } from "../model/names.js";
import {
  mapSchema,
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { branchesOf, type Guard, type MemberGuard } from "../model/union-branches.js";
import { propertyKey } from "../print/layout.js";
import { freeName } from "../print/printed-names.js";

type Schemas = Readonly<Record<string, SchemaObject>>;

/** Keywords with alternatives. */
const choices = ["anyOf", "oneOf"] as const;

/**
 * The schemas, with a name for each alternative that an answer must be tried against: if several
 * alternatives of a union are objects or lists, only their own checks tell which one an answer is.
 */
export function withNamedOptions(schemas: Schemas): Schemas {
  const all: Record<string, SchemaObject> = { ...schemas };
  for (const [owner, schema] of Object.entries(schemas)) {
    const named = mapSchema(schema, (inner) => {
      const result: Record<string, unknown> = { ...inner };
      for (const keyword of choices) {
        const options = optionsOf(inner, keyword);
        if (options.filter((option) => isStructured(option, schemas)).length < 2) continue;
        result[keyword] = options.map((option) => {
          if (!isStructured(option, schemas) || isReference(option)) return option;
          const name = freeName(`${owner}Option`, (wanted) => Object.hasOwn(all, wanted));
          all[name] = typeof option === "boolean" ? {} : option;
          return { $ref: name };
        });
      }
      return result;
    });
    all[owner] = typeof named === "boolean" ? {} : named;
  }
  return all;
}

/** Keywords whose subschemas always apply, and not as one of several alternatives. */
const certain = ["properties", "patternProperties", "additionalProperties", "items", "prefixItems"];

/** Keywords whose subschemas a value may not match, without a fault. */
const tryingKeywords = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else"]);

/**
 * The schemas without keywords that the copies guarantee: an object that is copied by its names has
 * no other members. Keywords that distinguish alternatives stay.
 */
export function withoutProven(schemas: Schemas): Schemas {
  const tried = new Set<string>();
  const note = (schema: unknown, isTried: boolean): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "$ref" && typeof value === "string" && isTried && !tried.has(value)) {
        tried.add(value);
        note(schemas[value], true);
      }
      const isChoice = tryingKeywords.has(keyword);
      note(value, isTried || isChoice);
    }
  };
  for (const schema of Object.values(schemas)) note(schema, false);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      tried.has(name) ? schema : withoutNames(schema),
    ]),
  );
}

function withoutNames(schema: SchemaObject): SchemaObject {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "additionalProperties" && isPlainlyClosed(schema)) continue;
    result[keyword] = certain.includes(keyword) ? withoutNamesWithin(keyword, value) : value;
  }
  return result;
}

function withoutNamesWithin(keyword: string, value: unknown): unknown {
  const inner = (part: unknown): unknown =>
    typeof part === "object" && part !== null ? withoutNames(part as SchemaObject) : part;
  if (Array.isArray(value)) return value.map(inner);
  if (!keyword.endsWith("roperties") || keyword === "additionalProperties") return inner(value);
  return Object.fromEntries(
    Object.entries(value as SchemaObject).map(([name, part]) => [name, inner(part)]),
  );
}

/** Prints the functions of a module that copy answers. */
export class CutPrinter {
  readonly #schemas: Schemas;
  readonly #checkOf: (name: string) => string;
  readonly #functions = new Map<string, string>();

  constructor(schemas: Schemas, checkOf: (name: string) => string) {
    this.#schemas = schemas;
    this.#checkOf = checkOf;
  }

  /** The requested functions, in the order of their names. */
  get text(): string {
    const sorted = [...this.#functions].sort(([left], [right]) => (left < right ? -1 : 1));
    return sorted.map(([, text]) => text).join("\n");
  }

  /**
   * The name of the function that copies a value of the named schema; `cut.plain` if nothing can be
   * left out.
   */
  cutOf(name: string): string {
    const schema = this.#schemas[name] ?? {};
    if (!this.#cuts(schema)) return "cut.plain";
    const local = `${name}Cut`;
    if (this.#functions.has(local)) return local;
    this.#functions.set(local, "");
    this.#functions.set(local, this.#body(local, name, schema));
    return local;
  }

  /** The text of a function that applies the steps of a schema one after the other. */
  #body(local: string, owner: string, schema: SchemaObject): string {
    const steps = this.#steps(owner, schema);
    const own = isPlainlyClosed(schema) ? this.#literal(owner, schema) : undefined;
    if (own !== undefined && steps.length === 1) return `function ${local}(value) {\n${own}\n}\n`;
    // What one step has copied isn't copied as a whole by the next.
    const [first, ...others] = steps.map((step) => step("value"));
    const lines = [
      `  value = ${first};`,
      ...others.map((step) => `  value = cut.again(value, (value) => ${step});`),
    ];
    return `function ${local}(value) {\n${lines.join("\n")}\n  return value;\n}\n`;
  }

  /**
   * The steps of a schema that can leave something out. Each makes an expression from that of a
   * value.
   */
  #steps(owner: string, schema: SchemaObject): readonly ((value: string) => string)[] {
    const steps: ((value: string) => string)[] = [];
    if (typeof schema["$ref"] === "string" && this.#cuts({ $ref: schema["$ref"] })) {
      const name = this.cutOf(schema["$ref"]);
      steps.push((value) => `${name}(${value})`);
    }
    if (this.#cutsMembers(schema)) {
      const call = this.#members(owner, schema);
      steps.push((value) => call(value));
    }
    if (this.#cutsItems(schema)) {
      const prefix = listOf(schema, "prefixItems").map((item) => this.#function(owner, item));
      const rest = this.#function(`${owner}Item`, (schema["items"] ?? true) as JsonSchema);
      steps.push((value) =>
        prefix.length === 0
          ? `cut.list(${value}, ${rest})`
          : `cut.tuple(${value}, [${prefix.join(", ")}], ${rest})`,
      );
    }
    for (const part of listOf(schema, "allOf")) {
      if (!this.#cuts(part)) continue;
      const name = this.#function(`${owner}Part`, part);
      steps.push((value) => `${name}(${value})`);
    }
    for (const keyword of choices) {
      const structured = optionsOf(schema, keyword).filter((option) =>
        isStructured(option, this.#schemas),
      );
      const [only, ...others] = structured;
      if (only === undefined || !structured.some((option) => this.#cuts(option))) continue;
      if (others.length === 0) {
        const name = this.#function(owner, only);
        steps.push((value) => `${name}(${value})`);
        continue;
      }
      const { guards } = branchesOf(structured, (name) => this.#schemas[name]);
      const branches = structured.map((option, index) => {
        const name = isReference(option) ? option.$ref : "";
        const guard = guardText(guards[index]);
        return `[${guard}, ${this.cutOf(name)}, ${this.#checkOf(name)}]`;
      });
      steps.push((value) => `cut.either(${value}, [${branches.join(", ")}])`);
    }
    return steps;
  }

  /** A closed object as a literal, which reads each declared member once and nothing else. */
  #literal(owner: string, schema: SchemaObject): string {
    const members = Object.entries(propertiesOf(schema)).map(
      ([name, property]) =>
        `    ${propertyKey(name)}: ${this.#expression(owner, name, property)(memberOf("from", name))},`,
    );
    return [
      "  const from = cut.object(value);",
      "  if (from === undefined) return cut.plain(value);",
      ...(members.length === 0 ? ["  return {};"] : ["  return {", ...members, "  };"]),
    ].join("\n");
  }

  #members(owner: string, schema: SchemaObject): (value: string) => string {
    const known = Object.entries(propertiesOf(schema)).map(
      ([name, property]) =>
        `${propertyKey(name)}: ${this.#function(`${owner}${pascalCase(name)}`, property)}`,
    );
    const others = (schema["additionalProperties"] ?? true) as JsonSchema;
    const rest = others === false ? "null" : this.#function(`${owner}Member`, others);
    const patterns = Object.entries(
      (schema["patternProperties"] ?? {}) as Readonly<Record<string, JsonSchema>>,
    ).map(
      ([source, part]) => `[${new RegExp(source, "u")}, ${this.#function(`${owner}Member`, part)}]`,
    );
    const table = known.length === 0 ? "{}" : `{ ${known.join(", ")} }`;
    const further = patterns.length === 0 ? "" : `, [${patterns.join(", ")}]`;
    return (value) => `cut.members(${value}, ${table}, ${rest}${further})`;
  }

  /** The expression that copies one member, given that of its value. */
  #expression(owner: string, name: string, schema: JsonSchema): (value: string) => string {
    if (isScalar(schema)) return (value) => `cut.told(${value})`;
    const called = this.#function(`${owner}${pascalCase(name)}`, schema);
    return (value) => `${called}(${value})`;
  }

  /** The name of the function that copies a value of a schema, which is added if there is none. */
  #function(wished: string, schema: JsonSchema): string {
    if (isReference(schema)) return this.cutOf(schema.$ref);
    if (typeof schema === "boolean" || !this.#cuts(schema)) return "cut.plain";
    const local = freeName(`${wished}Cut`, (name) => this.#isTaken(name));
    this.#functions.set(local, "");
    this.#functions.set(local, this.#body(local, wished, schema));
    return local;
  }

  #isTaken(name: string): boolean {
    return this.#functions.has(name) || Object.hasOwn(this.#schemas, name.replace(/Cut$/, ""));
  }

  /**
   * Whether the copy of a value can lack members that the value has. `through` are the types on the
   * way.
   */
  #cuts(schema: JsonSchema, through: ReadonlySet<string> = new Set()): boolean {
    if (typeof schema === "boolean") return false;
    const name = schema["$ref"];
    if (typeof name === "string" && !through.has(name)) {
      if (this.#cuts(this.#schemas[name] ?? true, new Set(through).add(name))) return true;
    }
    if (this.#cutsMembers(schema, through) || this.#cutsItems(schema, through)) return true;
    return ["allOf", ...choices].some((keyword) =>
      listOf(schema, keyword).some((part) => this.#cuts(part, through)),
    );
  }

  #cutsMembers(schema: SchemaObject, through?: ReadonlySet<string>): boolean {
    if (schema["additionalProperties"] === false) return true;
    const parts = [
      ...Object.values(propertiesOf(schema)),
      ...Object.values((schema["patternProperties"] ?? {}) as Record<string, JsonSchema>),
      (schema["additionalProperties"] ?? true) as JsonSchema,
    ];
    return parts.some((part) => this.#cuts(part, through));
  }

  #cutsItems(schema: SchemaObject, through?: ReadonlySet<string>): boolean {
    const items = [...listOf(schema, "prefixItems"), (schema["items"] ?? true) as JsonSchema];
    return items.some((item) => this.#cuts(item, through));
  }
}

/**
 * Whether lists and objects may fit, and the values that may in members; true is any, undefined an
 * absent one.
 */
function guardText(guard: Guard | undefined): string {
  const { types = null, members = new Map<string, MemberGuard>() } = guard ?? {};
  const lists = types === null || types.includes("array");
  const entries = [...members].map(([name, { values, canLack }]) => {
    const allowed = (values ?? []).map((value) => JSON.stringify(value));
    const list = `[${[...allowed, ...(canLack ? ["undefined"] : [])].join(", ")}]`;
    return `${propertyKey(name)}: ${values === null ? "true" : list}`;
  });
  const known = entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  const objects = types?.includes("object") === false ? "false" : known;
  return `{ lists: ${lists}, objects: ${objects} }`;
}

function optionsOf(schema: SchemaObject, keyword: (typeof choices)[number]): readonly JsonSchema[] {
  return listOf(schema, keyword);
}

function listOf(schema: SchemaObject, keyword: string): readonly JsonSchema[] {
  return (schema[keyword] ?? []) as readonly JsonSchema[];
}

function isReference(schema: JsonSchema): schema is { readonly $ref: string } {
  return (
    typeof schema === "object" &&
    typeof schema["$ref"] === "string" &&
    Object.keys(schema).length === 1
  );
}

/** Types of values that have no members. */
const scalarTypes: readonly unknown[] = ["string", "number", "integer", "boolean", "null"];

function typesOf(schema: SchemaObject): readonly unknown[] | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  return Array.isArray(type) ? type : [type];
}

function isScalar(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return false;
  return typesOf(schema)?.every((type) => scalarTypes.includes(type)) === true;
}

/** Whether objects or lists may be values of the schema. */
function isStructured(
  schema: JsonSchema,
  schemas: Schemas,
  through: ReadonlySet<string> = new Set(),
): boolean {
  if (typeof schema === "boolean") return schema;
  if (isScalar(schema)) return false;
  const name = schema["$ref"];
  if (typeof name !== "string" || through.has(name)) return true;
  return isStructured(schemas[name] ?? true, schemas, new Set(through).add(name));
}

/**
 * Keywords that look at which members an object has: a literal would have absent ones, as
 * undefined.
 */
const counting = [
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "enum",
  "const",
];

/** Whether all members of an object are known by name, so that a literal can copy it. */
function isPlainlyClosed(schema: SchemaObject): boolean {
  const names = Object.keys(propertiesOf(schema));
  return (
    schema["additionalProperties"] === false &&
    requiredOf(schema).every((name) => names.includes(name)) &&
    !counting.some((keyword) => keyword in schema)
  );
}

function memberOf(value: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${value}.${name}` : `${value}[${JSON.stringify(name)}]`;
}
