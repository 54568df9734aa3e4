// Records as rows of a statement, by one parameter: JSON text, which both engines read as rows.
import type { Parameters } from "./parameters.js";
import { quoted, type Dialect, type RecordType } from "./session.js";

/** A record: a value for each member of its kind. */
export type SqlRecord = Readonly<Record<string, string | number | boolean | null>>;

type Members = Readonly<Record<string, RecordType>>;

/** These members of records, for `dialect.records`: an array of values for each, without names that an engine would read. */
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
 * Rows `w` for `FROM`, one for each record, with these members as columns. The first member tells records apart. Of the
 * others, an engine parses those that differ: that is most of what many rows cost.
 */
export function recordRows(
  members: Members,
  records: readonly SqlRecord[],
  dialect: Dialect,
  parameters: Parameters,
): string {
  const [first = {}] = records;
  const isTold = ([member]: readonly [string, RecordType], at: number): boolean =>
    at === 0 || records.some((record) => record[member] !== first[member]);
  const told = Object.fromEntries(Object.entries(members).filter(isTold));
  const rows = dialect.records(told, parameters.add(recordsText(told, records)));
  const columns = Object.entries(members).map(([member, type]) =>
    Object.hasOwn(told, member)
      ? `w.${quoted(member)}`
      : `${dialect.typed(type, parameters.add(first[member] ?? null))} AS ${quoted(member)}`,
  );
  return `(SELECT ${columns.join(", ")} FROM ${rows}) AS w`;
}
