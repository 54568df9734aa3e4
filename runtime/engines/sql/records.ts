// Passes any number of records to a statement as one parameter: JSON text, which both engines read
// as rows.
import type { SqlParameters } from "./parameters.js";
import type { RecordType, ValueDialect } from "./dialect/values.js";
import { quoteName } from "./session.js";

/** A record: a value for each of its members. */
export type SqlRecord = Readonly<Record<string, string | number | boolean | null>>;

type Members = Readonly<Record<string, RecordType>>;

/**
 * These members of records as JSON text, for `dialect.records`: an array of values for each record.
 * Names of members are left out, since an engine would have to read them for each record.
 */
export function recordsText<Of extends Members>(
  members: Of,
  records: readonly Readonly<Record<keyof Of & string, SqlRecord[string]>>[],
): string {
  const columns: readonly (readonly [keyof Of & string, RecordType])[] = Object.entries(members);
  const texts = records.map((record) => {
    let text = "";
    for (const [member, type] of columns) {
      const value = record[member] ?? null;
      const isText = type === "json" && typeof value === "string";
      text += `${text === "" ? "[" : ","}${isText ? value : JSON.stringify(value)}`;
    }
    return `${text}]`;
  });
  return `[${texts.join(",")}]`;
}

/**
 * Rows `w` for `FROM`, one for each record, with these members as columns. The first member
 * identifies a record. Of the others, those with the same value in all records are passed once:
 * parsing values is most of what many rows cost.
 */
export function recordRows(
  members: Members,
  records: readonly SqlRecord[],
  dialect: ValueDialect,
  parameters: SqlParameters,
): string {
  const [first = {}] = records;
  const isTold = ([member]: readonly [string, RecordType], at: number): boolean =>
    at === 0 || records.some((record) => record[member] !== first[member]);
  const told = Object.fromEntries(Object.entries(members).filter(isTold));
  const rows = dialect.records(told, parameters.add(recordsText(told, records)));
  const columns = Object.entries(members).map(([member, type]) =>
    Object.hasOwn(told, member)
      ? `w.${quoteName(member)}`
      : `${dialect.typed(type, parameters.add(first[member] ?? null))} AS ${quoteName(member)}`,
  );
  return `(SELECT ${columns.join(", ")} FROM ${rows}) AS w`;
}
