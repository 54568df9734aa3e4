// The type of a field where it is a shorthand, and what is taken for one.
import { didYouMean } from "../did-you-mean.js";
import { inside, type Origin, type Report } from "../diagnostics.js";
import type { JsonSchema } from "../model/json-schema.js";
import { readShorthand, shorthandScalars } from "./shorthand.js";

/** The schema of a shorthand. Reports one that is none, and a type that is not `declared`; then any value fits. */
export function readFieldType(
  text: string,
  declared: ReadonlySet<string>,
  at: Origin,
  report: Report,
): JsonSchema {
  const read = readShorthand(text);
  if (read.kind === "malformed") {
    report({
      code: "OPW026",
      message: `${JSON.stringify(text)} is no field type; write ${shorthandScalars.join(", ")} or the name of a type`,
      at,
      suggestion: didYouMean(read.base, [...shorthandScalars, ...declared]),
    });
    return true;
  }
  if (read.typeName !== undefined && !declared.has(read.typeName)) {
    report({
      code: "OPW020",
      message: `no type is called ${read.typeName}`,
      at,
      suggestion: didYouMean(read.typeName, [...declared, ...shorthandScalars]),
    });
    return true;
  }
  return read.schema;
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
 * Warns of `{type: string, title: string}`, which is a JSON Schema, where somebody may mean fields: each value could be the
 * type of a field, and a keyword that takes any text says one.
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
