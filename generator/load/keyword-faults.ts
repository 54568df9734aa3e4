// What is wrong with a keyword of a schema, or with its value.
import type { Finding, Origin } from "../diagnostics/diagnostics.js";
import { mapKeywords } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { shownValue } from "./flow-text.js";
import { keywordAdvice, keywordValueAdvice } from "./schema-advice.js";
import { keywordRules, promises, unsupportedKeywords } from "./schema-keywords.js";

/**
 * The finding of a keyword whose value is no schema; undefined if it is sound. `types` are those
 * that are declared.
 */
export function keywordFault(
  keyword: string,
  schema: Readonly<Record<string, unknown>>,
  at: Origin,
  types: ReadonlySet<string>,
): Finding | undefined {
  const value = schema[keyword];
  if (mapKeywords.has(keyword)) return undefined;
  const key = { ...at, isKey: true };
  const rule = own(keywordRules, keyword);
  if (rule === undefined && unsupportedKeywords.includes(keyword))
    return { code: "OPW023", message: `the keyword ${keyword} is not supported`, at: key };
  // The type says already that values are meant.
  if (rule === undefined && isOfEnum(keyword, schema)) return undefined;
  if (rule === undefined)
    return {
      code: "OPW023",
      message: `${JSON.stringify(keyword)} is no JSON Schema keyword`,
      at: key,
      ...keywordAdvice(keyword, schema, String(at.path.at(-2))),
    };
  const instead = value === true ? own(promises, keyword) : undefined;
  if (instead !== undefined) {
    const message = `nothing would keep the promise ${keyword}: ${instead}`;
    return { code: "OPW023", message, at: key };
  }
  if (!rule.isValid(value))
    return {
      code: "OPW024",
      message: `${keyword} must be ${rule.asks}, not ${shownValue(value)}`,
      at,
      ...keywordValueAdvice(keyword, value, schema, types),
    };
  return keyword === "pattern" ? delimitedPattern(String(value), at) : undefined;
}

function isOfEnum(keyword: string, { type }: Readonly<Record<string, unknown>>): boolean {
  return (
    /^(?:enum|select|choice)$/i.test(String(type)) && /^(?:values|options|choices)$/.test(keyword)
  );
}

/**
 * A pattern as JavaScript and PHP write them: it would match a slash before the beginning of a
 * text.
 */
function delimitedPattern(pattern: string, at: Origin): Finding | undefined {
  const [, source] = /^\/(\^.*|.*\$)\/[a-z]*$/.exec(pattern) ?? [];
  if (source === undefined) return undefined;
  const message = "a pattern stands without slashes around it";
  return { code: "OPW024", message, at, suggestion: source };
}
