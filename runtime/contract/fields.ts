// Types of document fields and how SQL engines reach them; the generator prints indexes over the
// same expressions.

import type { LateMember } from "./shapes.js";
import type { StoredField } from "./stored-members.js";

/**
 * The type of a queryable field. `T[]` is an array of scalars; `object` and `object[]` have fields
 * of their own.
 */
export type FieldType =
  | "string"
  | "uuid"
  | "enum"
  | "integer"
  | "number"
  | "boolean"
  | "date"
  | "date-time"
  | "object"
  | `${"string" | "uuid" | "enum" | "integer" | "number" | "boolean" | "date" | "date-time" | "object"}[]`;

/** Declared fields of a document by dotted path. */
export type Fields = Readonly<Record<string, FieldType>>;

/** Scalar members of the objects in arrays: by the dotted path of the array, then of the member. */
export type Elements = Readonly<Record<string, Fields>>;

/**
 * Values of fields of the type `enum`, and of elements of `enum[]`: by the dotted path of the
 * field; of a member of the objects in an array, by `<array>[].<member>`.
 */
export type Enums = Readonly<Record<string, readonly string[]>>;

/** The places of fields that are decimals, by their dotted paths. */
export type Decimals = Readonly<Record<string, number>>;

/** The base fields of every document that are columns of their own. */
export const baseFields: Fields = {
  id: "uuid",
  rev: "integer",
  created_at: "date-time",
  last_update_at: "date-time",
};

/**
 * Members of every document that only the service sets: no payload of a caller or a handler has
 * them.
 */
export const serviceFields: readonly string[] = [
  ...Object.keys(baseFields),
  "is_deleted",
  "tenant_id",
  "owner_id",
];

/** Columns that indexes may contain besides fields of the body. */
export const indexableColumns: Fields = {
  created_at: "date-time",
  last_update_at: "date-time",
  owner_id: "string",
};

/** A text as a literal of SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** SQLite's JSON path of a body field, as a text literal. */
export function sqlitePath(path: string): string {
  const steps = path.split(".").map((step) => `."${step}"`);
  return sqlText(`$${steps.join("")}`);
}

/**
 * SQLite's expression of a body from which a member is read: in older shapes the member has the
 * value that it was added with.
 */
export function sqliteBody(late: LateMember | undefined): string {
  if (late === undefined) return `"body"`;
  const { member, since, value, isBack } = late;
  const put = isBack ? "json_set" : "json_insert";
  return `CASE WHEN "shape" < ${since} THEN ${put}("body", ${sqlitePath(member)}, json(${jsonText(value)})) ELSE "body" END`;
}

/** As `sqliteBody`, for PostgreSQL. */
export function postgresBody(late: LateMember | undefined): string {
  if (late === undefined) return `"body"`;
  const { member, since, value, isBack } = late;
  const own = `${jsonText({ [member]: value })}::jsonb`;
  const whole = isBack ? `"body" || ${own}` : `${own} || "body"`;
  return `(CASE WHEN "shape" < ${since} THEN ${whole} ELSE "body" END)`;
}

function jsonText(value: unknown): string {
  return sqlText(JSON.stringify(value));
}

/** SQLite's expression of a field of a document: where it is stored, as the document has it. */
export function sqliteDocumentField({ path, late, values }: StoredField): string {
  return asCalled(sqliteField(path, sqliteBody(late)), values);
}

/** As `sqliteDocumentField`, for PostgreSQL. */
export function postgresDocumentField(
  { path, late, values }: StoredField,
  type: FieldType,
): string {
  return asCalled(postgresField(path, type, postgresBody(late)), values);
}

/** Turns values that have another name in rows into the names that documents use. */
function asCalled(expression: string, values: StoredField["values"]): string {
  if (values === undefined) return expression;
  const cases = Object.entries(values).map(
    ([stored, declared]) => `WHEN ${sqlText(stored)} THEN ${sqlText(declared)}`,
  );
  return `(CASE ${expression} ${cases.join(" ")} ELSE ${expression} END)`;
}

/** SQLite's expression of a body field, given its dotted path; or of another JSON value's. */
export function sqliteField(path: string, json = `"body"`): string {
  return `json_extract(${json}, ${sqlitePath(path)})`;
}

/**
 * PostgreSQL's expression of a body field, or of another JSON value's. Text is compared by code
 * point, as SQLite does.
 */
export function postgresField(path: string, type: FieldType, json = `"body"`): string {
  const steps = path.split(".").map(sqlText);
  const last = steps.pop() ?? "''";
  const parent = steps.map((step) => `->${step}`).join("");
  if (type === "object" || type.endsWith("[]")) return `(${json}${parent}->${last})`;
  const text = `(${json}${parent}->>${last})`;
  switch (type) {
    case "integer":
    case "number":
      return `(${text}::numeric)`;
    case "boolean":
      return `(${text}::boolean)`;
    default:
      return `(${text} COLLATE "C")`;
  }
}

/** What is said of some members of a document, or of paths below them. */
export function ofMembers<Value>(
  said: Readonly<Record<string, Value>>,
  members: readonly string[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(said).filter(([path]) => members.includes(path.split(/[.[]/, 1)[0] ?? path)),
  );
}
