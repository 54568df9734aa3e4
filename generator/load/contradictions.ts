// Rules of one schema that no value can keep together, and rules that say nothing about its type
// (OPW101, OPW102).
import { inside, type Finding, type Origin } from "../diagnostics/diagnostics.js";
import type { SchemaObject } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { aliases } from "./aliases.js";
import { flowText } from "./flow-text.js";
import { patternLengths } from "./pattern-lengths.js";

/**
 * The findings of a schema whose keywords are sound one by one. What stands in its subschemas is
 * not looked at.
 */
export function contradictions(schema: SchemaObject, at: Origin): readonly Finding[] {
  return [
    ...disorderedBounds(schema, at),
    ...impossibleLengths(schema, at),
    ...impossibleValues(schema, at),
    ...idleKeywords(schema, at),
    ...idleConditions(schema, at),
  ];
}

/** Branches without a condition, and a condition without branches. */
function idleConditions(schema: SchemaObject, at: Origin): readonly Finding[] {
  const [condition, ...branches] = ["if", "then", "else"].map((name) => name in schema);
  const idle =
    condition === true
      ? branches.includes(true)
        ? []
        : [["if", "then"]]
      : ["then", "else"].flatMap((name) => (name in schema ? [[name, "if"]] : []));
  return idle.map(([name = "", missing]) => ({
    code: "OPW102",
    message: `${name} says nothing without ${missing}`,
    at: { ...inside(at, name), isKey: true },
  }));
}

const contradiction = (message: string, at: Origin): Finding => ({ code: "OPW101", message, at });

/** Lower and upper bounds, and whether values may be at them. */
const ranges = [
  ["minLength", "maxLength", true],
  ["minItems", "maxItems", true],
  ["minProperties", "maxProperties", true],
  ["minimum", "maximum", true],
  ["exclusiveMinimum", "maximum", false],
  ["minimum", "exclusiveMaximum", false],
  ["exclusiveMinimum", "exclusiveMaximum", false],
] as const;

function disorderedBounds(schema: SchemaObject, at: Origin): readonly Finding[] {
  return ranges.flatMap(([lower, upper, isInclusive]): readonly Finding[] => {
    const [least, most] = [schema[lower], schema[upper]];
    if (typeof least !== "number" || typeof most !== "number") return [];
    if (least < most || (isInclusive && least === most)) return [];
    const message = `no value fits: ${lower} ${least} and ${upper} ${most} exclude each other`;
    return [contradiction(message, inside(at, upper))];
  });
}

/** Texts of these formats have one length. */
const formatLengths: Readonly<Record<string, number>> = { uuid: 36, date: 10 };

function impossibleLengths(schema: SchemaObject, at: Origin): readonly Finding[] {
  const { pattern, format, minLength, maxLength } = schema;
  const length = typeof format === "string" ? own(formatLengths, format) : undefined;
  const sources = [
    ...(typeof pattern === "string" ? [{ name: "the pattern", ...patternLengths(pattern) }] : []),
    ...(length === undefined ? [] : [{ name: `a ${String(format)}`, min: length, max: length }]),
  ];
  return sources.flatMap(({ name, min, max }): readonly Finding[] => {
    if (typeof maxLength === "number" && min !== undefined && min > maxLength) {
      const message = `no value fits: ${name} has at least ${min} characters, and maxLength is ${maxLength}`;
      return [contradiction(message, inside(at, "maxLength"))];
    }
    if (typeof minLength === "number" && max !== undefined && max < minLength) {
      const message = `no value fits: ${name} has at most ${max} characters, and minLength is ${minLength}`;
      return [contradiction(message, inside(at, "minLength"))];
    }
    return [];
  });
}

function impossibleValues(schema: SchemaObject, at: Origin): readonly Finding[] {
  const { enum: values, const: only } = schema;
  const types = typesOf(schema);
  if ("const" in schema) {
    if (Array.isArray(values) && isPlain(only) && !values.some((value) => value === only)) {
      const message = `no value fits: ${flowText(only)} is none of ${flowText(values)}`;
      return [contradiction(message, inside(at, "const"))];
    }
    if (types !== undefined && !types.some((type) => isOfType(only, type))) {
      const message = `no value fits: ${flowText(only)} is not of the type ${types.join(" or ")}`;
      return [contradiction(message, inside(at, "const"))];
    }
    return [];
  }
  if (!Array.isArray(values) || types === undefined) return [];
  if (values.some((value) => types.some((type) => isOfType(value, type)))) return [];
  const message = `no value fits: none of ${flowText(values)} is of the type ${types.join(" or ")}`;
  return [contradiction(message, inside(at, "enum"))];
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function typesOf({ type }: SchemaObject): readonly string[] | undefined {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.map(String) : undefined;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** The types that a keyword looks at. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  ...aliases(["string"], "minLength maxLength pattern"),
  ...aliases(["integer", "number"], "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  ...aliases(["array"], "minItems maxItems uniqueItems items prefixItems"),
  ...aliases(["object"], "minProperties maxProperties properties required"),
};

/** What the type has instead of a bound that is of another type. */
const bounds: Readonly<Record<string, readonly [string, string]>> = {
  string: ["minLength", "maxLength"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  array: ["minItems", "maxItems"],
  object: ["minProperties", "maxProperties"],
};

function idleKeywords(schema: SchemaObject, at: Origin): readonly Finding[] {
  const types = typesOf(schema);
  const [main] = types?.filter((type) => type !== "null") ?? [];
  if (types === undefined || main === undefined) return [];
  return Object.keys(schema).flatMap((keyword): readonly Finding[] => {
    const looksAt = own(subjects, keyword);
    if (looksAt === undefined || looksAt.some((type) => types.includes(type))) return [];
    const [least, most] = own(bounds, main) ?? [];
    const instead = /^(?:min|exclusiveMin)/.test(keyword)
      ? least
      : /^(?:max|exclusiveMax)/.test(keyword)
        ? most
        : undefined;
    return [
      {
        code: "OPW102",
        message: `${keyword} is about ${looksAt.join(" and ")} values, and says nothing about ${types.join(" or ")}`,
        at: { ...inside(at, keyword), isKey: true },
        suggestion: instead,
      },
    ];
  });
}
