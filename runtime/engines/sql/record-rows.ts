// Records as rows of a statement: what all of them have alike is a parameter of its own, told and read once.
import type { Parameters } from "./parameters.js";
import { quoted, type Dialect, type RecordType } from "./session.js";

/** A record: a value for each member of its kind. */
export type SqlRecord = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Rows `w` for `FROM`, one for each record, with these members as columns. The first member tells records apart. Of the
 * others, an engine parses those that differ: that is most of what many rows cost.
 */
export function recordRows(
  members: Readonly<Record<string, RecordType>>,
  records: readonly SqlRecord[],
  dialect: Dialect,
  parameters: Parameters,
): string {
  const [first = {}] = records;
  const [key, ...others] = Object.keys(members);
  const differing = others.filter((member) => {
    const value = first[member];
    return records.some((record) => record[member] !== value);
  });
  const told = key === undefined ? [] : [key, ...differing];
  const rows = dialect.records(
    Object.fromEntries(Object.entries(members).filter(([member]) => told.includes(member))),
    parameters.add(JSON.stringify(records, told)),
  );
  const columns = Object.entries(members).map(([member, type]) =>
    told.includes(member)
      ? `w.${quoted(member)}`
      : `${dialect.typed(type, parameters.add(first[member] ?? null))} AS ${quoted(member)}`,
  );
  return `(SELECT ${columns.join(", ")} FROM ${rows}) AS w`;
}
