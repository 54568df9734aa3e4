// What values of a member fit, so that a migration can look for rows that a narrower registry would leave off contract.
import { sqlText, type FieldType } from "../../runtime/contract/fields.js";
import type { Shape } from "../../runtime/contract/shapes.js";
import { storedField, type StoredField } from "../../runtime/contract/stored-members.js";
import { resolved, type Resolve } from "../kernel/resolve.js";
import type { DocumentModel } from "../model/document-model.js";
import { isNullable, propertiesOf, withoutNull, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { EngineName } from "../print/ddl-parts.js";

/** What SQL can tell of the values of a member. Patterns are not among it. */
export interface Fit {
  readonly type: FieldType;
  readonly isNullable: boolean;
  readonly values?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** A member that may have less than before, where it is stored, and what of it no longer fits. */
export interface Narrowing {
  readonly member: string;
  readonly type: FieldType;
  readonly field: StoredField;
  readonly faults: readonly Fault[];
}

interface Fault {
  /** As in `3 rows with title longer than 80`. */
  readonly words: string;
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

/** The fits of the scalar members of a document, by what they are called. */
export function fitsOf(
  { bodySchema, fields }: DocumentModel,
  resolve: Resolve,
): Readonly<Record<string, Fit>> {
  return Object.fromEntries(
    Object.entries(propertiesOf(bodySchema)).flatMap(([member, schema]) => {
      const type = own(fields, member);
      if (type === undefined || type === "object" || type.endsWith("[]")) return [];
      return [[member, fitOf(type, schema, resolve)]];
    }),
  );
}

function fitOf(type: FieldType, schema: JsonSchema, resolve: Resolve): Fit {
  const inner = resolved(withoutNull(schema), resolve);
  const said = typeof inner === "boolean" ? {} : inner;
  const { enum: values } = said;
  return {
    type,
    isNullable: isNullable(resolved(schema, resolve)),
    ...(type === "enum" && Array.isArray(values)
      ? { values: values.filter((value): value is string => typeof value === "string") }
      : {}),
    ...Object.fromEntries(
      bounds.flatMap((bound) => (typeof said[bound] === "number" ? [[bound, said[bound]]] : [])),
    ),
  };
}

/** Members that may have less than before; those that are of another type altogether are told elsewhere. */
export function narrowings(
  before: Readonly<Record<string, Fit>>,
  after: Readonly<Record<string, Fit>>,
  shape: Shape,
  wasCalled: (member: string) => string,
): readonly Narrowing[] {
  return Object.entries(after).flatMap(([member, fit]): readonly Narrowing[] => {
    const was = own(before, wasCalled(member));
    if (was === undefined) return [];
    const faults = faultsOf(was, fit, own(shape.stored ?? {}, member)?.values ?? {});
    const field = storedField(shape, member);
    return faults.length === 0 ? [] : [{ member, type: fit.type, field, faults }];
  });
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

/** Values that are gone, but for those that are called otherwise by now. */
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
