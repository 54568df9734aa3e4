// Types and JSON Schemas, where what is written can only mean one type.
import { baseFields } from "../../runtime/contract/fields.js";
import { formats } from "../../runtime/contract/validation.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import type { Finding, Fix, TextEdit } from "../diagnostics/diagnostics.js";
import { isMap } from "../load/shape.js";
import { keywordRules, schemaTypes } from "../load/schema-keywords.js";
import { shorthandScalars } from "../load/shorthand.js";
import { listKeywords, mapKeywords, schemaKeywords } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { boundsByType, formatsByWord, keywordsByWord } from "./foreign-words.js";
import { mendName } from "./of-names.js";
import { plainOrQuoted } from "./yaml-text.js";
import { asField, asSchema, keywordsOf, meantType } from "./type-words.js";
import type { Path, WrittenFile } from "./written-file.js";

/** What is needed to tell what a type means. */
export interface TypeContext {
  readonly file: WrittenFile;
  readonly declared: ReadonlySet<string>;
  readonly documents: ReadonlySet<string>;
}

/** The type of a field that no type is called. */
export function mendFieldType(finding: Finding, context: TypeContext): Fix | undefined {
  const { file, declared } = context;
  const { path } = finding.at;
  const text = file.value(path);
  const type = typeof text === "string" ? meantType(text, declared) : undefined;
  const written = type === undefined ? undefined : asField(type);
  if (written === undefined) return mendName(finding, file);
  return single(file.replaced(path, written));
}

/** A base field that a type declares as the service does already. */
export function mendBaseField({ at }: Finding, { file }: TypeContext): Fix | undefined {
  const field = String(at.path.at(-1));
  const type = own(baseFields, field);
  const isSame = type !== undefined && file.value(at.path) === type;
  return isSame ? single(file.removed(at.path)) : undefined;
}

/** A keyword that JSON Schema doesn't have. */
export function mendKeyword(finding: Finding, context: TypeContext): Fix | undefined {
  const { file } = context;
  const { path } = finding.at;
  const keyword = String(path.at(-1));
  const value = file.value(path);
  const schema = file.value(path.slice(0, -1));
  if (!isMap(schema)) return undefined;
  if (["nullable", "optional"].includes(keyword))
    return typeof value === "boolean" ? mendNullable(path, value, context) : undefined;
  if (keyword === "references" && context.documents.has(String(value)))
    return single(file.renamed(path, "ref"));
  const bound = boundOf(keyword, schema);
  const name = bound ?? own(keywordsByWord, keyword.toLowerCase());
  // A reference to a document can't stand within a schema; it is no slip for one to a type.
  if (keyword === "ref") return undefined;
  if (name === undefined) return mendName(finding, file);
  if (Object.hasOwn(schema, name)) return undefined;
  const renamed = file.renamed(path, name);
  if (isValid(name, value)) return single(renamed);
  const source = file.source(path);
  const listed =
    name === "examples" && source !== undefined ? file.replaced(path, `[${source}]`) : undefined;
  return listed === undefined || renamed === undefined ? undefined : [renamed, listed];
}

function boundOf(keyword: string, schema: Readonly<Record<string, unknown>>): string | undefined {
  if (keyword !== "max" && keyword !== "min") return undefined;
  const { type } = schema;
  return typeof type === "string" ? own(boundsByType, type)?.[keyword] : undefined;
}

function isValid(keyword: string, value: unknown): boolean {
  const rule = own(keywordRules, keyword);
  if (rule !== undefined) return rule.isValid(value);
  return schemaKeywords.has(keyword) && isMap(value);
}

/** A keyword whose value it doesn't take. */
export function mendKeywordValue(finding: Finding, context: TypeContext): Fix | undefined {
  const { file } = context;
  const { path } = finding.at;
  const keyword = String(path.at(-1));
  const value = file.value(path);
  const byName = mendName(finding, file);
  if (byName !== undefined) return byName;
  if (isSchemaPlace(path))
    return typeof value === "string" ? mendSubschema(path, value, context) : undefined;
  if (keyword === "type") return mendType(path, context);
  if (keyword === "required") return mendRequired(path, value, context);
  if (keyword === "format" && typeof value === "string") {
    const word = value.toLowerCase();
    const format = own(formatsByWord, word) ?? nearest(word, Object.keys(formats));
    return format === undefined ? undefined : single(file.replaced(path, format));
  }
  const text = plainly(keyword, value);
  return text === undefined ? undefined : single(file.replaced(path, text));
}

/** A number, a word or a list that is written as a text. */
function plainly(keyword: string, value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const number = /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
  if (number !== undefined && isValid(keyword, number)) return value;
  if (/^(?:true|yes|on)$/i.test(value) && isValid(keyword, true)) return "true";
  if (/^(?:false|no|off)$/i.test(value) && isValid(keyword, false)) return "false";
  if (!isValid(keyword, [value])) return undefined;
  return keyword === "enum" ? writeList(value) : `[${plainOrQuoted(value)}]`;
}

/** A list that is written as one text with commas, or a list of one. */
function writeList(value: string): string {
  const parts = value.split(",").map((part) => part.trim());
  const isList = parts.every((part) => /^[\w.-]+$/.test(part));
  return `[${(isList ? parts : [value]).map(plainOrQuoted).join(", ")}]`;
}

function mendSubschema(
  path: Path,
  value: string,
  { file, declared }: TypeContext,
): Fix | undefined {
  const type = meantType(value, declared);
  const written = type === undefined ? undefined : asSchema(type);
  return written === undefined ? undefined : single(file.replaced(path, written));
}

/** `type: uuid`, `type: int`, `type: enum` beside the values. */
function mendType(path: Path, { file, declared }: TypeContext): Fix | undefined {
  const text = file.value(path);
  const schema = file.value(path.slice(0, -1));
  if (typeof text !== "string" || !isMap(schema)) return undefined;
  if (text === "enum") return mendEnum(path, schema, file);
  const type = meantType(text, declared);
  const keywords = type === undefined ? undefined : keywordsOf(type);
  if (keywords === undefined) {
    const name = nearest(text, schemaTypes);
    return name === undefined ? undefined : single(file.replaced(path, name));
  }
  const [first = "", ...others] = keywords.split(/, (?=[a-z$]\w*: )/);
  const [key = "", ...name] = first.split(": ");
  if (others.some((other) => Object.hasOwn(schema, other.split(":")[0] ?? ""))) return undefined;
  const renamed = key === "type" ? undefined : file.renamed(path, key);
  const replaced = file.replacedWith(path, name.join(": "), others);
  if (replaced === undefined || (key !== "type" && renamed === undefined)) return undefined;
  return renamed === undefined ? [replaced] : [renamed, replaced];
}

/** `{type: enum, values: [a, b]}` is `{enum: [a, b]}`. */
function mendEnum(
  path: Path,
  schema: Readonly<Record<string, unknown>>,
  file: WrittenFile,
): Fix | undefined {
  const [only, ...others] = Object.keys(schema).filter(
    (key) => key === "enum" || own(keywordsByWord, key) === "enum",
  );
  const removed = file.removed(path);
  if (only === undefined || others.length > 0 || removed === undefined) return undefined;
  if (only === "enum") return [removed];
  const renamed = file.renamed([...path.slice(0, -1), only], "enum");
  return renamed === undefined || !isValid("enum", schema[only]) ? undefined : [removed, renamed];
}

/**
 * `required: true` is what every field is that may not be null; of a list, each name stands in it
 * once.
 */
function mendRequired(path: Path, value: unknown, context: TypeContext): Fix | undefined {
  const { file } = context;
  if (typeof value === "boolean") return mendNullable(path, !value, context);
  if (typeof value === "string") return single(file.replaced(path, writeList(value)));
  return mendRepeatedEntry(path, value, context);
}

/** A value that stands twice in a list of different ones. */
export function mendRepeatedEntry(
  path: Path,
  value: unknown,
  { file }: TypeContext,
): Fix | undefined {
  if (!Array.isArray(value)) return undefined;
  const repeated = value.flatMap((entry, index) => (value.indexOf(entry) < index ? [index] : []));
  const [only, ...others] = repeated;
  return only === undefined || others.length > 0
    ? undefined
    : single(file.removed([...path, only]));
}

/** Takes the flag away, and says with the type itself whether null is a value. */
function mendNullable(path: Path, isNullable: boolean, { file }: TypeContext): Fix | undefined {
  const around = path.slice(0, -1);
  const schema = file.value(around);
  if (!isMap(schema)) return undefined;
  const { type } = schema;
  const others = Object.keys(schema).filter((key) => key !== path.at(-1));
  const isShort = others.length === 1 && typeof type === "string" && !isSchemaPlace(around);
  if (isNullable && isShort && shorthandScalars.includes(type))
    return single(file.replaced(around, `${type}?`));
  const removed = file.removed(path);
  // What has a default may be left out already.
  const mayBeLeftOut = "default" in schema && path.at(-1) !== "nullable";
  if (!isNullable || mayBeLeftOut || removed === undefined) return single(removed);
  if (typeof type !== "string" || type === "null" || "enum" in schema || "const" in schema)
    return undefined;
  const replaced = file.replaced([...around, "type"], `[${type}, "null"]`);
  return replaced === undefined ? undefined : [replaced, removed];
}

/** `{ref: Projects}` is `{ref: projects}`. */
export function mendReferred(path: Path, { file, documents }: TypeContext): Fix | undefined {
  const text = file.value(path);
  if (path.at(-1) !== "ref" || typeof text !== "string") return undefined;
  const name = nearest(text.replace(/\?$/, ""), [...documents]);
  const suffix = text.endsWith("?") ? "?" : "";
  return name === undefined ? undefined : single(file.replaced(path, name + suffix));
}

/** `{ref: projects, nullable: true}` is `{ref: projects?}`. */
export function mendNullableReference(path: Path, file: WrittenFile): Fix | undefined {
  const around = path.slice(0, -1);
  const field = file.value(around);
  const isFlag = ["nullable", "optional"].includes(String(path.at(-1)));
  if (!isFlag || file.value(path) !== true || !isMap(field)) return undefined;
  const { ref } = field;
  if (typeof ref !== "string" || ref.endsWith("?")) return undefined;
  const replaced = file.replaced([...around, "ref"], `${ref}?`);
  const removed = file.removed(path);
  return replaced === undefined || removed === undefined ? undefined : [replaced, removed];
}

/** The only one of several words that can be meant. */
function nearest(word: string, words: readonly string[]): string | undefined {
  const found = didYouMean(word, words);
  return found?.isOnly === true ? found.name : undefined;
}

/** Whether only a JSON Schema may stand at a path: in `properties`, `items` and the like. */
function isSchemaPlace(path: Path): boolean {
  const [above, last] = [path.at(-2), path.at(-1)];
  return (
    (typeof last === "string" && (schemaKeywords.has(last) || mapKeywords.has(String(above)))) ||
    (typeof last === "number" && listKeywords.has(String(above)))
  );
}

function single(edit: TextEdit | undefined): Fix | undefined {
  return edit === undefined ? undefined : [edit];
}
