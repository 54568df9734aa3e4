// Types of fields as other languages write them: `List<String>`, `int | null`, `varchar(80)`, and
// how the registry does.
import { shorthandScalars } from "../load/shorthand.js";
import { own } from "../model/records.js";
import { formatsByWord, scalarsByWord } from "./foreign-words.js";
import { plainOrQuoted } from "./yaml-text.js";

/** A type that is meant: a shorthand, a text with a format or a length, or a list of values. */
export type MeantType =
  | { readonly kind: "shorthand"; readonly base: string; readonly suffix: string }
  | { readonly kind: "text"; readonly keywords: string; readonly suffix: string }
  | { readonly kind: "values"; readonly values: readonly string[] };

/**
 * What a text means where a type is asked for; undefined if it can be several things, or none.
 */
export function meantType(text: string, declared: ReadonlySet<string>): MeantType | undefined {
  const { base, suffix } = takeSuffix(text.trim());
  const word = base.toLowerCase();
  const scalar =
    own(scalarsByWord, word) ?? shorthandScalars.find((one) => one === word.replaceAll("_", "-"));
  if (scalar !== undefined) return { kind: "shorthand", base: scalar, suffix };
  const alike = [...declared].filter((name) => name.toLowerCase() === word.replaceAll(/[_-]/g, ""));
  if (alike.length === 1 && alike[0] !== undefined)
    return { kind: "shorthand", base: alike[0], suffix };
  const format = own(formatsByWord, word);
  if (format !== undefined) return { kind: "text", keywords: `format: ${format}`, suffix };
  const [, length] = /^(?:varchar|char|string|str|text)\((\d+)\)$/.exec(word) ?? [];
  if (length !== undefined)
    return { kind: "text", keywords: `maxLength: ${Number(length)}`, suffix };
  return suffix === "" ? meantValues(base) : undefined;
}

/** `open | done`, `enum(open, done)`. */
function meantValues(text: string): MeantType | undefined {
  const listed = /^enum\s*[([{](.+)[)\]}]$/i.exec(text)?.[1];
  const values = (listed ?? text)
    .split(listed === undefined || listed.includes("|") ? "|" : ",")
    .map((value) => value.trim().replace(/^(["'])(.*)\1$/, "$2"));
  const isList = values.length > 1 && values.every((value) => /^[a-z][\w-]*$/.test(value));
  const isTyped = values.some((value) => shorthandScalars.includes(value) || value === "null");
  return isList && !isTyped && new Set(values).size === values.length
    ? { kind: "values", values }
    : undefined;
}

/** The innermost type of a text, and the suffixes that say what is around it. */
function takeSuffix(text: string): { readonly base: string; readonly suffix: string } {
  for (const [pattern, suffix] of around) {
    const inner = pattern.exec(text)?.[1];
    if (inner === undefined) continue;
    const inside = takeSuffix(inner.trim());
    return { base: inside.base, suffix: inside.suffix + suffix };
  }
  return { base: text, suffix: "" };
}

/** Each takes one layer off. */
const around: readonly (readonly [pattern: RegExp, suffix: string])[] = [
  [/^([^|]+)[,;!]$/, ""],
  [/^([^|]+)\s*\[\]$/, "[]"],
  [/^([^|]+)\?$/, "?"],
  [/^(.+?)\s*\|\s*(?:null|undefined|None)$/, "?"],
  [/^null\s*\|\s*(.+)$/, "?"],
  [/^\[\]\s*(\w.*)$/, "[]"],
  [/^\?(\w.*)$/, "?"],
  [/^(?:list|array|set|seq)\s*<(.+)>$/i, "[]"],
  [/^(?:list|array|set|seq)\s*\[(.+)\]$/i, "[]"],
  [/^(?:list|array)\s*\((.+)\)$/i, "[]"],
  [/^(?:list|array) of (\w+)$/i, "[]"],
  [/^(?:optional|nullable|maybe|option)\s*<(.+)>$/i, "?"],
  [/^(?:optional|nullable|maybe|option)\s*\[(.+)\]$/i, "?"],
  [/^(?:optional|nullable) (\w+)$/i, "?"],
];

/** How a type is written as the value of a field. */
export function asField(type: MeantType): string | undefined {
  if (type.kind === "values") return `[${type.values.map(plainOrQuoted).join(", ")}]`;
  if (type.kind === "shorthand") return plainOrQuoted(type.base + type.suffix);
  return asSchema(type);
}

/** How a type is written where only a schema may stand. */
export function asSchema(type: MeantType): string | undefined {
  if (type.kind === "values") return `{enum: [${type.values.map(plainOrQuoted).join(", ")}]}`;
  const keywords = keywordsOf(type);
  return keywords === undefined ? undefined : `{${keywords}}`;
}

/**
 * The keywords of a type, the first of which is `type`; undefined if there are more than one
 * layer around it.
 */
export function keywordsOf(type: MeantType): string | undefined {
  if (type.kind === "values") return undefined;
  const base =
    type.kind === "text" ? { name: "string", rest: type.keywords } : scalarKeywords(type.base);
  const rest = base.rest === "" ? "" : `, ${base.rest}`;
  const isType = /^[A-Z]/.test(base.name);
  const whole = isType ? `$ref: ${base.name}` : `type: ${base.name}${rest}`;
  if (type.suffix === "") return whole;
  if (type.suffix === "?" && !isType) return `type: [${base.name}, "null"]${rest}`;
  return type.suffix === "[]" ? `type: array, items: {${whole}}` : undefined;
}

function scalarKeywords(base: string): { readonly name: string; readonly rest: string } {
  return ["uuid", "date", "date-time"].includes(base)
    ? { name: "string", rest: `format: ${base}` }
    : { name: base, rest: "" };
}
