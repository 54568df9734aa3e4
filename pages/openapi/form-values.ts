// The values of a form that is made from a schema: texts in its controls, JSON in what is sent.
import { resolveReference, type OpenApi, type Schema } from "./document.js";
import { exampleOf } from "./example.js";

/** What a control is for. JSON is written as such. */
export type ControlKind =
  | "text"
  | "moment"
  | "date"
  | "number"
  | "boolean"
  | "choice"
  | "file"
  | "json";

/** A member of an object, as a form shows it. */
export interface Control {
  readonly name: string;
  readonly schema: Schema;
  readonly kind: ControlKind;
  readonly isRequired: boolean;
  /** Whether an empty control stands for null. */
  readonly isNullable: boolean;
  readonly choices: readonly string[];
}

export type FormValues = Readonly<Record<string, string | File>>;

/** The controls of an object's members. */
export function controlsOf(document: OpenApi, schema: Schema): readonly Control[] {
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).map(([name, given]) => {
    const own = typeof given === "object" ? resolveReference<Schema>(document, given) : {};
    const types = typesOf(document, own);
    const choices = choicesOf(document, own);
    return {
      name,
      schema: own,
      kind: kindOf(own, types, choices),
      isRequired: required.includes(name),
      isNullable: types.includes("null") || (own.enum ?? []).includes(null),
      choices,
    };
  });
}

/** The types of a schema, those of its alternatives included. */
function typesOf(document: OpenApi, schema: Schema): readonly string[] {
  if (schema.type !== undefined)
    return typeof schema.type === "string" ? [schema.type] : schema.type;
  return (schema.anyOf ?? schema.oneOf ?? []).flatMap((one) =>
    typeof one === "object" ? typesOf(document, resolveReference<Schema>(document, one)) : [],
  );
}

function choicesOf(document: OpenApi, schema: Schema): readonly string[] {
  if (schema.enum !== undefined) return schema.enum.filter((one) => typeof one === "string");
  return (schema.anyOf ?? []).flatMap((one) =>
    typeof one === "object" ? choicesOf(document, resolveReference<Schema>(document, one)) : [],
  );
}

const kindOfFormat: Readonly<Record<string, ControlKind>> = {
  binary: "file",
  "date-time": "moment",
  date: "date",
};

function kindOf(
  { format }: Schema,
  types: readonly string[],
  choices: readonly string[],
): ControlKind {
  const [type, ...others] = types.filter((one) => one !== "null");
  if (choices.length > 0 && others.length === 0) return "choice";
  if (others.length > 0) return "json";
  if (type === "string") return kindOfFormat[format ?? ""] ?? "text";
  if (type === "integer" || type === "number") return "number";
  return type === "boolean" ? "boolean" : "json";
}

/** The texts of the controls for an object. */
export function valuesOf(controls: readonly Control[], object: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    controls.map(({ name, kind }) => [name, textOf(kind, object[name])]),
  ) as FormValues;
}

/** The texts of the controls for a new object: what has a default, and what is required. */
export function firstValues(document: OpenApi, schema: Schema): FormValues {
  const controls = controlsOf(document, schema);
  // Who may not see a member can't send it either, not even its default.
  const guarded = Object.keys(schema["x-visible"] ?? {});
  const given = controls.flatMap(({ name, schema: own, kind, isRequired }) => {
    if (guarded.includes(name) && !isRequired) return [];
    if ("default" in own) return [[name, own.default] as const];
    const isOfItself = kind === "json" || kind === "choice" || kind === "boolean";
    return isRequired && isOfItself ? [[name, exampleOf(document, own)] as const] : [];
  });
  return valuesOf(controls, Object.fromEntries(given));
}

function textOf(kind: ControlKind, value: unknown): string {
  if (value === undefined || value === null) return "";
  return kind === "json" || typeof value !== "string" ? JSON.stringify(value) : value;
}

/**
 * The object that a form stands for. An empty control is null where the member may be that and is
 * required, and left out otherwise. Throws for a text that isn't of the control's kind.
 */
export function objectOf(controls: readonly Control[], values: FormValues) {
  return Object.fromEntries(
    controls.flatMap((control) => {
      const value = valueOf(control, values[control.name] ?? "");
      const isLeftOut = value === undefined || (value === null && !control.isRequired);
      return isLeftOut ? [] : [[control.name, value] as const];
    }),
  ) as Readonly<Record<string, unknown>>;
}

/**
 * What has changed between two forms. An empty control is null where the member may be that, and an
 * empty text otherwise; throws where it can be neither.
 */
export function changesOf(controls: readonly Control[], before: FormValues, after: FormValues) {
  const changed = controls.filter(({ name }) => before[name] !== after[name]);
  return Object.fromEntries(
    changed.map((control) => {
      const value = valueOf({ ...control, isRequired: true }, after[control.name] ?? "");
      if (value === undefined) throw new Error(`${control.name} can't be empty`);
      return [control.name, value] as const;
    }),
  ) as Readonly<Record<string, unknown>>;
}

function valueOf({ name, kind, isNullable, isRequired }: Control, given: string | File): unknown {
  if (given instanceof File) return given;
  if (given === "" && isNullable) return null;
  if (given === "" && kind === "text") return isRequired ? "" : undefined;
  if (given === "") return undefined;
  if (isText(kind)) return given;
  const value = parsed(name, kind, given);
  // What is sent must be what was written.
  if (typeof value === "number" && !isExact(value, given))
    throw new Error(`${name} has more digits than a browser can send`);
  return value;
}

/** Whether what a control holds is sent as it is written. */
function isText(kind: ControlKind): boolean {
  return kind === "text" || kind === "choice" || kind === "moment" || kind === "date";
}

function parsed(name: string, kind: ControlKind, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be ${kind === "json" ? "JSON" : `a ${kind}`}`);
  }
}

/** Whether a number is the one that a text means, as far as integers go. */
function isExact(value: number, text: string): boolean {
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(text.trim()));
}
