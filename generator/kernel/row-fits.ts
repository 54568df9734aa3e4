// Which values a member accepts, so that a migration can look for rows that don't fit a narrower
// registry.
import { sqlText, type FieldType } from "../../runtime/contract/fields.js";
import type { Shape } from "../../runtime/contract/shapes.js";
import { storedField, type StoredField } from "../../runtime/contract/stored-members.js";
import { resolveSchema, type Resolve } from "./resolve.js";
import type { DocumentModel } from "../model/document-model.js";
import { isNullable, propertiesOf, withoutNull, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { EngineName } from "../print/ddl-parts.js";
import type { Fit } from "../model/stored-tables.js";

/**
 * A member that accepts fewer values than before, where it is stored, and which values no longer
 * fit.
 */
export interface Narrowing {
  readonly member: string;
  readonly type: FieldType;
  readonly field: StoredField;
  readonly faults: readonly Fault[];
}

interface Fault {
  /** The end of a message such as `3 rows with title longer than 80`. */
  readonly words: string;
  /** Whether the condition is about the kind of JSON that the value is, and not the value. */
  readonly isOfKind?: true;
  readonly condition: (value: string, engine: EngineName) => string;
}

const bounds = [
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
] as const;

/**
 * The constraints on a document's members, by name; of lists, objects and members of several types
 * only what they are, and whether they may be null.
 */
export function fitsOf(
  { bodySchema, fields }: DocumentModel,
  resolve: Resolve,
): Readonly<Record<string, Fit>> {
  return Object.fromEntries(
    Object.entries(propertiesOf(bodySchema)).flatMap(([member, schema]) => {
      const type = own(fields, member);
      const whole = wholeKindOf(schema, resolve);
      if (whole === null && type !== undefined) return [[member, fitOf(type, schema, resolve)]];
      const isNull = isNullable(resolveSchema(schema, resolve));
      return [[member, { type: "object", kind: whole ?? "any", isNullable: isNull }]];
    }),
  );
}

/** What values are that are lists or objects; null if they are something else. */
function wholeKindOf(schema: JsonSchema, resolve: Resolve): "list" | "object" | null {
  const inner = resolveSchema(withoutNull(schema), resolve);
  if (typeof inner === "boolean") return null;
  if (inner["type"] === "array") return "list";
  return inner["type"] === "object" ? "object" : null;
}

function fitOf(type: FieldType, schema: JsonSchema, resolve: Resolve): Fit {
  const inner = resolveSchema(withoutNull(schema), resolve);
  const said = typeof inner === "boolean" ? {} : inner;
  const { enum: values } = said;
  return {
    type,
    isNullable: isNullable(resolveSchema(schema, resolve)),
    ...(type === "enum" && Array.isArray(values)
      ? { values: values.filter((value): value is string => typeof value === "string") }
      : {}),
    ...Object.fromEntries(
      bounds.flatMap((bound) => (typeof said[bound] === "number" ? [[bound, said[bound]]] : [])),
    ),
  };
}

/**
 * Members that accept fewer values than before, by a change of type as well; of lists and objects
 * only whether they may be null. `wasCalled` gives a member's earlier name.
 */
export function narrowings(
  before: Readonly<Record<string, Fit>>,
  after: Readonly<Record<string, Fit>>,
  shape: Shape,
  wasCalled: (member: string) => string,
): readonly Narrowing[] {
  return Object.entries(after).flatMap(([member, fit]): readonly Narrowing[] => {
    const was = own(before, wasCalled(member));
    if (was === undefined) return [];
    const field = storedField(shape, member);
    const kind = kindOf(fit);
    const earlier = kindOf(was);
    // What an earlier version has noted as no scalar may be of any kind.
    const isUnknown = kind === "unknown" || earlier === "unknown";
    if (isUnknown && was.type !== fit.type) return [];
    if (earlier !== kind && kind !== "any" && kind !== "unknown" && earlier !== "unknown")
      return [{ member, type: "object", field, faults: [kindFault(kind)] }];
    const faults = faultsOf(was, fit, own(shape.stored ?? {}, member)?.values ?? {});
    // As a text, null in JSON is NULL in SQL.
    const type = fit.type === "object" ? "string" : fit.type;
    return faults.length === 0 ? [] : [{ member, type, field, faults }];
  });
}

type Kind = "text" | "number" | "boolean" | "list" | "object" | "any" | "unknown";

function kindOf({ type, kind }: Fit): Kind {
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "object":
      return kind ?? "unknown";
    default:
      return "text";
  }
}

/** What the engines call JSON values of a kind. */
const kindNames = {
  text: { sqlite: "'text'", postgres: "'string'" },
  number: { sqlite: "'integer', 'real'", postgres: "'number'" },
  boolean: { sqlite: "'true', 'false'", postgres: "'boolean'" },
  list: { sqlite: "'array'", postgres: "'array'" },
  object: { sqlite: "'object'", postgres: "'object'" },
} as const satisfies Readonly<
  Record<Exclude<Kind, "any" | "unknown">, Readonly<Record<EngineName, string>>>
>;

/** Values of another kind: PostgreSQL would fail to read them as those of the new one. */
function kindFault(kind: keyof typeof kindNames): Fault {
  return {
    words: `no ${kind}`,
    isOfKind: true,
    condition: (found, engine) => `${found} NOT IN (${kindNames[kind][engine]}, 'null')`,
  };
}

function faultsOf(was: Fit, is: Fit, stored: Readonly<Record<string, string>>): readonly Fault[] {
  return [
    ...(was.isNullable && !is.isNullable
      ? [{ words: "null", condition: (value: string) => `${value} IS NULL` }]
      : []),
    ...valueFaults(was, is, stored),
    ...(was.type === "number" && is.type === "integer"
      ? [{ words: "a fraction", condition: (value: string) => `${value} <> round(${value})` }]
      : []),
    ...bounds.flatMap((bound) => boundFault(bound, was[bound], is[bound])),
  ];
}

/** Values of an enumeration that are gone; renamed ones still fit. */
function valueFaults(
  was: Fit,
  is: Fit,
  stored: Readonly<Record<string, string>>,
): readonly Fault[] {
  const { values } = is;
  if (values === undefined) return [];
  const rows = values.map((value) => own(stored, value) ?? value);
  const isNarrower = was.values?.some((value) => !values.includes(value) && !rows.includes(value));
  if (isNarrower === false) return [];
  const list = values.map(sqlText).join(", ");
  return [
    { words: `none of ${values.join(", ")}`, condition: (value) => `${value} NOT IN (${list})` },
  ];
}

function boundFault(
  bound: (typeof bounds)[number],
  was: number | undefined,
  is: number | undefined,
): readonly Fault[] {
  if (is === undefined) return [];
  const isLeast = bound === "minLength" || bound.toLowerCase().endsWith("minimum");
  if (was !== undefined && (isLeast ? is <= was : is >= was)) return [];
  const sign = `${isLeast ? "<" : ">"}${bound.startsWith("exclusive") ? "=" : ""}`;
  const lengths = bound.endsWith("Length");
  const side = isLeast ? "below" : "above";
  const words = lengths
    ? `${isLeast ? "shorter" : "longer"} than ${is}`
    : sign.endsWith("=")
      ? `${is} or ${side}`
      : `${side} ${is}`;
  const measured = (value: string, engine: EngineName): string =>
    lengths ? `${engine === "sqlite" ? "length" : "char_length"}(${value})` : value;
  return [{ words, condition: (value, engine) => `${measured(value, engine)} ${sign} ${is}` }];
}
