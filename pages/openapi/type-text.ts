// What a schema takes, in a few words.
import { referredName, resolveReference, type OpenApi, type Schema } from "./document.js";

const bounds: Readonly<Record<string, (bound: unknown) => string>> = {
  minimum: (bound) => `at least ${bound}`,
  exclusiveMinimum: (bound) => `more than ${bound}`,
  maximum: (bound) => `at most ${bound}`,
  exclusiveMaximum: (bound) => `less than ${bound}`,
  minLength: (bound) => (bound === 1 ? "not empty" : `at least ${bound} characters`),
  maxLength: (bound) => `at most ${bound} characters`,
  minItems: (bound) => `at least ${bound} items`,
  maxItems: (bound) => `at most ${bound} items`,
  maxProperties: (bound) => `at most ${bound} members`,
  pattern: (bound) => (String(bound).length > 60 ? "of a fixed form" : `matches ${bound}`),
};

/** `string or null`, `Task[]`, `"open" or "done"`. */
export function typeText(document: OpenApi, schema: Schema | boolean | undefined): string {
  if (schema === undefined || schema === true) return "anything";
  if (schema === false) return "nothing";
  const name = referredName(schema);
  if (name !== undefined) return name;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined && schema.properties === undefined)
    return [...new Set(options.map((one) => typeText(document, one)))].join(" or ");
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["anything"]);
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return types
    .map((type) =>
      type === "array"
        ? `${typeText(document, schema.items)}[]`
        : type === "null"
          ? type
          : type + format,
    )
    .join(" or ");
}

/** `at most 200 characters`, and the like. */
export function boundTexts(schema: Schema): readonly string[] {
  return Object.entries(bounds).flatMap(([keyword, text]) =>
    keyword in schema ? [text(schema[keyword])] : [],
  );
}

/**
 * The schema whose members are worth showing below a value: its own, or that of its items. `within`
 * are the schemas around it, since one may be an alternative of itself.
 */
export function innerSchema(
  document: OpenApi,
  given: Schema | boolean | undefined,
  within: readonly Schema[] = [],
): Schema | null {
  if (typeof given !== "object") return null;
  const schema = resolveReference<Schema>(document, given);
  if (within.includes(schema)) return null;
  if (schema.properties !== undefined) return schema;
  const innerOf = (one: Schema | boolean): Schema | null =>
    innerSchema(document, one, [...within, schema]);
  if (typeof schema.items === "object") return innerOf(schema.items);
  const options = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  const inner = options.map(innerOf).filter((option) => option !== null);
  if (inner.length > 0) return unitedSchema(inner);
  const { additionalProperties: others } = schema;
  return typeof others === "object" ? innerOf(others) : null;
}

/** The members of several schemas, of which a value has those of one; required are those of all. */
function unitedSchema(schemas: readonly Schema[]): Schema {
  const [first = {}, ...others] = schemas;
  if (others.length === 0) return first;
  return {
    properties: Object.assign({}, ...schemas.toReversed().map(({ properties }) => properties)),
    required: (first.required ?? []).filter((name) =>
      others.every(({ required }) => required?.includes(name)),
    ),
  };
}
