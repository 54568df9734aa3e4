// Keywords and values of schemas that other formats have, and how JSON Schema or the registry says
// it.
import { formats } from "../../runtime/contract/validation.js";
import { didYouMean, meantOrNearest } from "../diagnostics/did-you-mean.js";
import { suggestionText, type Advice } from "../diagnostics/diagnostics.js";
import { own } from "../model/records.js";
import { aliases } from "./aliases.js";
import { flowText } from "./flow-text.js";
import { fieldTypeAdvice, schemaOfWord } from "./foreign-types.js";
import { everyKeyword, keywordRules, promises, unsupportedKeywords } from "./schema-keywords.js";
import { isMap } from "./shape.js";
import { readShorthand } from "./shorthand.js";

type Json = Readonly<Record<string, unknown>>;

/** Keywords that are called otherwise elsewhere, in small letters. */
const keywords: Readonly<Record<string, string>> = {
  ...aliases("pattern", "regex regexp match matches"),
  ...aliases("enum", "values options choices allowed in"),
  ...aliases("items", "of item element elements"),
  ...aliases("properties", "fields members props shape"),
  ...aliases("default", "defaultvalue initial fallback"),
  ...aliases("exclusiveMinimum", "gt greaterthan"),
  ...aliases("exclusiveMaximum", "lt lessthan"),
  ...aliases("minimum", "gte"),
  ...aliases("maximum", "lte"),
  ...aliases("description", "comment doc docs help label note"),
  ...aliases("const", "equals literal"),
  ...aliases("multipleOf", "step"),
  ...aliases("decimal", "precision scale decimals places"),
};

/** Rules for sizes by the type of what has one, and their words elsewhere. */
const bounds: Readonly<Record<string, Readonly<Record<"min" | "max", string>>>> = {
  string: { min: "minLength", max: "maxLength" },
  integer: { min: "minimum", max: "maximum" },
  number: { min: "minimum", max: "maximum" },
  array: { min: "minItems", max: "maxItems" },
  object: { min: "minProperties", max: "maxProperties" },
};

const smallest = /^(?:min|minsize|minlen|min_length|from|at_least)$/;
const largest = /^(?:max|maxsize|maxlen|max_length|size|limit|to|at_most)$/;

const nullability =
  'Every field is required unless it is nullable or has a default. Nullable is `"string?"`, or in a schema `type: [string, "null"]`.';

/** Keywords that something else than a schema says, in small letters. */
const elsewhere: Readonly<Record<string, (field: string) => string>> = {
  ...aliases(() => nullability, "optional nullable null notnull not_null allownull required"),
  ...aliases(
    (field) => `What is unique is said by the document: \`unique: [[${field}]]\`.`,
    "unique uniquekey",
  ),
  ...aliases(
    (field) => `Indexes are declared by the document: \`indexes: [[${field}]]\`.`,
    "index indexed key",
  ),
  ...aliases(
    () => "Every document has the key `id`, a UUID: leave it out.",
    "primarykey primary pk autoincrement auto_increment primary_key generated",
  ),
  ...aliases(
    () => "A field refers to a document by `{ref: projects}`, without further keywords.",
    "references foreignkey foreign_key relation",
  ),
  ...aliases(() => promises["readOnly"] ?? "", "readonly immutable"),
};

/** What a keyword that there is not is likely meant for. */
export function keywordAdvice(keyword: string, schema: Json, field: string): Advice {
  const word = keyword.toLowerCase();
  const sentence = own(elsewhere, word);
  if (sentence !== undefined) return { hint: sentence(field) };
  const ofType = own(bounds, mainType(schema));
  const end = smallest.test(word) ? "min" : largest.test(word) ? "max" : undefined;
  if (end !== undefined && ofType !== undefined)
    return { suggestion: meantOrNearest(ofType[end], keyword, everyKeyword) };
  if (word === "length" || word === "len") {
    const { min, max } = ofType ?? { min: "minLength", max: "maxLength" };
    const length = flowText(schema[keyword]);
    return { hint: `Write \`${min}: ${length}, ${max}: ${length}\`.` };
  }
  return { suggestion: meantOrNearest(own(keywords, word), keyword, everyKeyword) };
}

function mainType({ type }: Json): string {
  const types = Array.isArray(type) ? (type as unknown[]) : [type];
  return String(types.find((one) => one !== "null") ?? "");
}

/** What the value of a keyword is likely meant for, where it has another form. */
export function keywordValueAdvice(
  keyword: string,
  value: unknown,
  schema: Json,
  declared: ReadonlySet<string>,
): Advice | undefined {
  switch (keyword) {
    case "type":
      return typeAdvice(value, schema, declared);
    case "required":
      return typeof value === "boolean" ? { hint: nullability } : adviseList(value);
    case "enum":
      return adviseList(value);
    case "format":
      return formatAdvice(value);
    case "deprecated":
    case "uniqueItems":
      return typeof value === "string" && /^(?:true|yes|on)$/i.test(value)
        ? { suggestion: "true" }
        : undefined;
    default: {
      const isNumber = own(keywordRules, keyword)?.isValid(Number(value)) === true;
      return typeof value === "string" && value.trim() !== "" && isNumber
        ? { suggestion: String(Number(value)), hint: "A number stands without quotes." }
        : undefined;
    }
  }
}

/** Values with commas in one text are a list of them. */
function adviseList(value: unknown): Advice | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  return { suggestion: flowText(value.split(/\s*[,|]\s*/)) };
}

function typeAdvice(
  value: unknown,
  schema: Json,
  declared: ReadonlySet<string>,
): Advice | undefined {
  if (typeof value !== "string") return undefined;
  if (declared.has(value)) return { hint: `Name the type by \`{$ref: ${value}}\`.` };
  if (/^(?:enum|select|choice)$/i.test(value)) {
    const values = schema["values"] ??
      schema["enum"] ??
      schema["options"] ??
      schema["choices"] ?? ["open", "done"];
    return { hint: `Write the allowed values as a list: \`${flowText(values)}\`.` };
  }
  const read = readShorthand(value);
  // Whatever begins with a capital letter looks like a type; this one isn't declared.
  if (read.kind === "schema" && typeof read.schema === "object" && !("$ref" in read.schema)) {
    const { type, ...others } = read.schema;
    return type === undefined || Object.keys(others).length > 0
      ? { hint: `In a schema it is \`${flowText(read.schema)}\`.` }
      : { suggestion: flowText(type) };
  }
  const [json] = ["string", "number", "integer", "boolean", "object", "array", "null"].filter(
    (name) => name === value.toLowerCase(),
  );
  if (json !== undefined) return { suggestion: json };
  const meant = schemaOfWord(value);
  if (meant !== undefined) return meant;
  return fieldTypeAdvice(value, new Set(), []);
}

const formatWords: Readonly<Record<string, string>> = {
  ...aliases("date-time", "datetime timestamp iso8601"),
  ...aliases("uri", "url link"),
  ...aliases("uuid", "guid"),
  ...aliases("email", "mail e-mail"),
  ...aliases("ipv4", "ip"),
};

function formatAdvice(value: unknown): Advice {
  const name = String(value).toLowerCase();
  const suggestion = meantOrNearest(own(formatWords, name), name, Object.keys(formats));
  if (suggestion !== undefined) return { suggestion };
  if (/^(?:u?int(?:8|16|32|64)|float|double|decimal|password|byte|binary)$/.test(name))
    return { hint: "It says nothing here: leave it out. Bounds are `minimum` and `maximum`." };
  return { hint: "Say it by a `pattern`, or leave it out." };
}

/** How a shorthand, or a list of values, is written where only schemas stand. */
export function subschemaAdvice(value: unknown): Advice | undefined {
  if (Array.isArray(value)) return { suggestion: `{enum: ${flowText(value)}}` };
  if (typeof value !== "string") return undefined;
  const read = readShorthand(value);
  if (read.kind === "malformed") {
    const advice = fieldTypeAdvice(value, new Set(), []);
    const type = suggestionText(advice?.suggestion);
    return type === undefined ? advice : { suggestion: `{type: ${type}}` };
  }
  return typeof read.schema === "boolean" ? undefined : { suggestion: shownSchema(read.schema) };
}

function shownSchema(schema: Json): string {
  return flowText(schema).replaceAll(/"#\/types\/(\w+)"|#\/types\/(\w+)/g, "$1$2");
}

/**
 * The fields of an object that stands where a schema does: each value could be the type of a field,
 * no keyword says a type, and at least one key is no keyword and not nearly one. Undefined for
 * schemas.
 */
export function fieldsInPlaceOfSchema(schema: Json): readonly string[] | undefined {
  const keys = Object.keys(schema);
  const hasType = (one: Json): boolean => keywordRules["type"]?.isValid(one["type"]) === true;
  const isType = hasType(schema);
  const isOdd = (key: string): boolean =>
    !everyKeyword.includes(key) &&
    !unsupportedKeywords.includes(key) &&
    !key.startsWith("x-") &&
    didYouMean(key, everyKeyword) === undefined;
  const isField = (value: unknown): boolean => {
    if (typeof value === "string") return readShorthand(value).kind === "schema";
    if (Array.isArray(value)) return value.every((item) => typeof item === "string");
    return isMap(value) && (hasType(value) || "$ref" in value || "ref" in value);
  };
  const isSchema = isType || "$ref" in schema || isMap(schema["properties"]) || "items" in schema;
  return !isSchema && keys.some(isOdd) && Object.values(schema).every(isField) ? keys : undefined;
}
