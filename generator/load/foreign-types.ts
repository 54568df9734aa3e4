// Types of fields as TypeScript, SQL, GraphQL, Prisma and others write them, and how they are
// written here.
import { didYouMean } from "../diagnostics/did-you-mean.js";
import type { Advice } from "../diagnostics/diagnostics.js";
import { pascalCase } from "../model/names.js";
import { own } from "../model/records.js";
import { aliases } from "./aliases.js";
import { readShorthand, shorthandScalars } from "./shorthand.js";

/** Shorthand of a type, by its names elsewhere in small letters. */
const shorthands: Readonly<Record<string, string>> = {
  ...aliases(
    "string",
    "text str varchar char nvarchar citext longtext mediumtext char[] markdown slug",
  ),
  ...aliases(
    "integer",
    "int int2 int4 int8 int16 int32 int64 smallint bigint serial long short uint",
  ),
  ...aliases("integer", "i32 i64 u32 u64 bigserial"),
  ...aliases("number", "float float4 float8 float32 float64 double numeric real f64"),
  ...aliases("boolean", "bool bit flag checkbox"),
  ...aliases("date-time", "datetime date_time timestamp timestamptz instant localdatetime"),
  ...aliases("date", "localdate day"),
  ...aliases("uuid", "guid objectid cuid ulid id"),
};

/** Schemas of a type, by its names elsewhere in small letters. */
const schemas: Readonly<Record<string, string>> = {
  ...aliases("{decimal: 2}", "decimal money currency"),
  ...aliases("{type: string, format: email}", "email mail"),
  ...aliases("{type: string, format: uri}", "url uri link"),
  ...aliases("{type: string, format: ipv4}", "ip ipv4"),
  ...aliases("{type: string, format: hostname}", "hostname host"),
  ...aliases('{type: string, pattern: "^[0-9]{2}:[0-9]{2}$"}', "time localtime"),
  ...aliases("{type: object}", "json jsonb dict map hash record"),
};

/** Sentences, where there is more than one way. */
const sentences: Readonly<Record<string, string>> = {
  ...aliases(
    "Declare its fields under `types:`, and name that type: `types: {Item: {name: string}}`.",
    "object struct class document embedded",
  ),
  ...aliases(
    'Write what the list holds: `"string[]"`, or `"Item[]"` with a type of `types:`.',
    "array list set collection",
  ),
  ...aliases("Write the allowed values as a list: `[open, done]`.", "enum select choice union"),
  ...aliases("Write `true`: as a JSON Schema it allows any value.", "any unknown mixed dynamic"),
  ...aliases(
    "Files are stored by a section of their own, `storage:`; a field holds the name of one: `string`.",
    "file image blob binary bytes bytea buffer attachment upload",
  ),
  ...aliases(
    "A field refers to a document: `{ref: projects}`.",
    "ref reference relation relationship foreignkey foreign_key fk belongsto",
  ),
  ...aliases(
    "Leave the field out, or make another type nullable: `string?`.",
    "null undefined void none",
  ),
};

/** What a word for a type means, other than by a shorthand; undefined for words that are none. */
export function schemaOfWord(word: string): Advice | undefined {
  const schema = own(schemas, word.toLowerCase());
  if (schema !== undefined) return { hint: `Write it as a JSON Schema: \`${schema}\`.` };
  const hint = own(sentences, word.toLowerCase());
  return hint === undefined ? undefined : { hint };
}

/** What a field type that there is none of is likely meant for. */
export function fieldTypeAdvice(
  text: string,
  declared: ReadonlySet<string>,
  documents: readonly string[],
): Advice | undefined {
  const [, base = text, suffixes = ""] = /^([A-Za-z_][\w-]*)((?:\[\]|\?)*)$/.exec(text) ?? [];
  const names = [...shorthandScalars, ...declared];
  const shorthand =
    names.find((name) => name.toLowerCase() === base.toLowerCase()) ??
    own(shorthands, base.toLowerCase());
  if (shorthand !== undefined) return { suggestion: shorthand + suffixes };
  const meant = schemaOfWord(base);
  if (meant !== undefined) return meant;
  const document = documents.find((name) =>
    [base, `${base}s`, pascalCase(base)].some(
      (one) => one.toLowerCase() === name || one === pascalCase(name),
    ),
  );
  // A type that is nearly called so is nearer than a document.
  if (document !== undefined && didYouMean(base, declared) === undefined)
    return {
      hint: text.includes("[]")
        ? `A field refers to several documents by \`[{ref: ${document}}]\`.`
        : `A field refers to a document by \`{ref: ${document}}\`.`,
    };
  return composedAdvice(text, names) ?? { suggestion: didYouMean(base, names) };
}

/** Types that are made of others: `string | null`, `Array<string>`, `varchar(80)`. */
function composedAdvice(text: string, names: readonly string[]): Advice | undefined {
  const known = (name: string): string | undefined => {
    const type = own(shorthands, name.toLowerCase()) ?? name;
    return names.includes(type) && readShorthand(type).kind === "schema" ? type : undefined;
  };
  const pair = /^([A-Za-z_]\w*):\s*(\S+)$/.exec(text) ?? /^([A-Za-z_]\w*):(\S+)$/.exec(text);
  if (pair !== null) return { hint: `Put a space behind the colon: \`${pair[1]}: ${pair[2]}\`.` };
  const options = text.split(/\s*\|\s*/);
  if (options.length > 1) return adviceOnUnion(options, known);
  const [, item] =
    /^(?:Array|List|Set|list|array|Sequence)[<[(](\w+)[>\])]$/.exec(text) ??
    /^\[\](\w+)$/.exec(text) ??
    /^\[(\w+)!?\]!?$/.exec(text) ??
    [];
  const of = item === undefined ? undefined : known(item);
  if (of !== undefined) return { suggestion: `${of}[]` };
  const [, word = "", length] = /^(\w+)\s*\(\s*(\d+)[^)]*\)$/.exec(text) ?? [];
  const sized = known(word);
  if (sized === "string")
    return { hint: `Write it as a JSON Schema: \`{type: string, maxLength: ${length}}\`.` };
  const [, plain = ""] =
    /^\??(\w+)!?$/.exec(text) ?? /^(?:Optional|Maybe|Nullable)[<[](\w+)[>\]]$/.exec(text) ?? [];
  const type = known(plain);
  if (type !== undefined) return { suggestion: text.endsWith("!") ? type : `${type}?` };
  return sized === undefined ? undefined : { suggestion: sized };
}

function adviceOnUnion(
  options: readonly string[],
  known: (name: string) => string | undefined,
): Advice | undefined {
  const others = options.filter((option) => !/^(?:null|undefined|None)$/.test(option));
  const [only = ""] = others;
  const type = known(only);
  if (others.length === 1 && type !== undefined) return { suggestion: `${type}?` };
  const values = others.map((option) => option.replaceAll(/^['"]|['"]$/g, ""));
  return values.every((value) => /^[\w-]+$/.test(value)) &&
    values.every((value) => known(value) === undefined)
    ? { hint: `Write the allowed values as a list: \`[${values.join(", ")}]\`.` }
    : undefined;
}
