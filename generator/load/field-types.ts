// The type of a field where it is a shorthand, and what is taken for one.
import {
  inside,
  suggestionText,
  type Advice,
  type Finding,
  type Origin,
  type Report,
} from "../diagnostics/diagnostics.js";
import { pascalCase } from "../model/names.js";
import type { JsonSchema } from "../model/json-schema.js";
import { fieldTypeAdvice } from "./foreign-types.js";
import { flowText, shownValue } from "./flow-text.js";
import { fieldsInPlaceOfSchema } from "./schema-advice.js";
import { isMap } from "./shape.js";
import { readShorthand, shorthandScalars } from "./shorthand.js";

/** What a field may name. */
export interface KnownNames {
  readonly types: ReadonlySet<string>;
  readonly documents: readonly string[];
}

/**
 * The schema of a shorthand. Reports one that is none, and a type that is not declared; then any
 * value fits.
 */
export function readFieldType(
  text: string,
  { types: declared, documents }: KnownNames,
  at: Origin,
  report: Report,
): JsonSchema {
  const read = readShorthand(text);
  if (read.kind === "malformed") {
    const advice = fieldTypeAdvice(text, declared, documents);
    report({
      code: "OPW026",
      message: `${JSON.stringify(text)} is no field type; write ${shorthandScalars.join(", ")} or the name of a type`,
      at,
      ...advice,
    });
    return meantBy(advice);
  }
  if (read.typeName !== undefined && !declared.has(read.typeName)) {
    const advice = fieldTypeAdvice(text, declared, documents);
    report({ code: "OPW020", message: `no type is called ${read.typeName}`, at, ...advice });
    return meantBy(advice);
  }
  return read.schema;
}

/**
 * The type that is likely meant, so that what else is said of the field is judged by it; otherwise
 * any value fits.
 */
function meantBy(advice: Advice | undefined): JsonSchema {
  if (advice?.hint?.includes("{type: string, ") === true) return { type: "string" };
  const read = readShorthand(suggestionText(advice?.suggestion) ?? "");
  return read.kind === "schema" ? read.schema : true;
}

/** The finding that a value is none of the forms of a field. */
export function noFieldType(value: unknown, at: Origin): Finding {
  const forms = "a shorthand, a list of values, or a JSON Schema";
  if (value === null)
    return {
      code: "OPW011",
      message: `nothing is given: must be ${forms}`,
      at,
      hint: "Write the type of the field, such as `string`.",
    };
  return { code: "OPW011", message: `must be ${forms}, not ${shownValue(value)}`, at };
}

/** `due-date` → `due_date`. */
export function fieldNameAdvice(name: string): Advice | undefined {
  const suggestion = name.trim().replaceAll(/[^A-Za-z0-9_]+/g, "_");
  return suggestion !== name && /^[A-Za-z_]\w*$/.test(suggestion) ? { suggestion } : undefined;
}

/** Reports fields where only the type of one stands. Returns whether there were any. */
export function refusesFields(
  value: Readonly<Record<string, unknown>>,
  at: Origin,
  report: Report,
): boolean {
  const fields = fieldsInPlaceOfSchema(value);
  if (fields === undefined) return false;
  // What is within a list has no name of its own.
  const name = [...at.path].reverse().find((step) => step !== "items" && typeof step === "string");
  const type = pascalCase(String(name ?? "Item"));
  const isItem = at.path.at(-1) === "items";
  report({
    code: "OPW011",
    message: `a field has no fields of its own: ${fields.slice(0, 6).join(", ")}`,
    at,
    hint: `Declare them as a type, and name it: \`types: {${type}: ${flowText(value)}}\`, ${isItem ? `\`"${type}[]"\`` : `\`${String(name)}: ${type}\``}.`,
  });
  return true;
}

/** Reports objects in a list of values. Returns whether there were any. */
export function refusesObjects(values: readonly unknown[], at: Origin, report: Report): boolean {
  const [first] = values;
  if (!isMap(first) || "value" in first) return false;
  report({
    code: "OPW013",
    message: "a list in place of a type lists the allowed values, and objects are none",
    at,
    hint: `Declare the objects as a type, and write its name with brackets: \`types: {Item: ${flowText(first)}}\`, \`"Item[]"\`.`,
  });
  return true;
}

/** Warns of `[string]`, which many read as a list of strings. */
export function warnOfListOfType(
  values: readonly unknown[],
  declared: ReadonlySet<string>,
  at: Origin,
  report: Report,
): void {
  const [only] = values;
  if (values.length !== 1 || typeof only !== "string") return;
  const read = readShorthand(only);
  if (read.kind === "malformed") return;
  if (read.typeName !== undefined && !declared.has(read.typeName)) return;
  report({
    code: "OPW017",
    message: `[${only}] is the one value ${JSON.stringify(only)}; a list is ${only}[]`,
    at,
  });
}

/** Keywords whose value is any text, so that it can be a shorthand as well. */
const wordy = [
  "title",
  "description",
  "$comment",
  "pattern",
  "const",
  "default",
  "former",
  "since",
];

/**
 * Warns of `{type: string, title: string}`, which is a JSON Schema, where somebody may mean fields:
 * each value could be the type of a field, and a keyword that takes any text says one.
 */
export function warnOfFieldsTakenForSchema(
  schema: Readonly<Record<string, unknown>>,
  declared: ReadonlySet<string>,
  at: Origin,
  report: Report,
): void {
  const isFieldType = (value: unknown): boolean => {
    if (typeof value !== "string") return typeof value === "object" && value !== null;
    const read = readShorthand(value);
    return read.kind === "schema" && (read.typeName === undefined || declared.has(read.typeName));
  };
  if (!Object.values(schema).every(isFieldType)) return;
  const word = wordy.find((keyword) => typeof schema[keyword] === "string");
  if (word === undefined || !Object.hasOwn(schema, "type")) return;
  const type = typeof schema["type"] === "string" ? schema["type"] : "value of several types";
  report({
    code: "OPW018",
    message: `this is a JSON Schema: one ${type} with the ${word} ${JSON.stringify(schema[word])}, not fields of these names`,
    at: { ...inside(at, word), isKey: true },
  });
}
