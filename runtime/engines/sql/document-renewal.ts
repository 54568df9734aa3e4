// Rows of older shapes, stored anew as this version has them, some at a time: reading them costs less then.
import { shapeNumber } from "../../contract/shapes.js";
import type { DocumentStore } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { bodyRenewed } from "./document-rows.js";
import { between, chosen, keyOf, ordered, type Key, type Table } from "./row-walk.js";
import { quoted, type RecordType, type SqlRow, type SqlSession } from "./session.js";

/** Stores the next rows of older shapes anew, as the port has it. */
export async function renewRows(
  session: SqlSession,
  spec: DocumentDeclaration,
  after: Key,
  limit: number,
): ReturnType<DocumentStore["renew"]> {
  const { dialect } = session;
  const table = { name: quoted(spec.table), keys: dialect.rowKeys(spec) };
  const current = shapeNumber(spec.shape);
  const { condition, parameters } = between(session, table, after, null);
  const rows = await session.all(
    `SELECT ${[...chosen(table), `r."shape"`].join(", ")} FROM ${table.name} r WHERE ${condition} ` +
      `ORDER BY ${ordered(table)} LIMIT ${dialect.placeholder(parameters.length + 1)}`,
    [...parameters, limit],
  );
  const last = rows.at(-1);
  if (last === undefined) return { looked: 0, renewed: 0, left: 0, next: null };
  const until = keyOf(last, table);
  const old = rows.filter(({ shape }) => Number(shape) < current).length;
  const held = old === 0 ? [] : await oldRows(session, table, current, { after, until });
  if (held.length > 0) await storedAnew(session, spec, table, held);
  return {
    looked: rows.length,
    renewed: held.length,
    left: Math.max(0, old - held.length),
    next: rows.length < limit ? null : until,
  };
}

/**
 * The rows of older shapes in a portion, held. Those that a writer has are left to it, and so nobody who waits for this is
 * waited for.
 */
function oldRows(
  session: SqlSession,
  table: Table,
  current: number,
  portion: { readonly after: Key; readonly until: Key },
): Promise<readonly SqlRow[]> {
  const { holdRows } = session.dialect;
  const { condition, parameters } = between(session, table, portion.after, portion.until);
  return session.all(
    `SELECT ${[...chosen(table), `r."shape"`, `r."body"`].join(", ")} FROM ${table.name} r ` +
      `WHERE ${condition} AND r."shape" < ${current}${holdRows === "" ? "" : `${holdRows} SKIP LOCKED`}`,
    parameters,
  );
}

/** Rows in the current shape. Neither their revisions nor their times change. */
async function storedAnew(
  session: SqlSession,
  spec: DocumentDeclaration,
  table: Table,
  rows: readonly SqlRow[],
): Promise<void> {
  const { dialect } = session;
  const records = rows.map((row) => ({
    ...Object.fromEntries(keyOf(row, table).map((key, at) => [`k${at}`, key])),
    body: bodyRenewed(spec, Number(row["shape"]), String(row["body"])),
  }));
  const keys = table.keys.map(({ type }, at): readonly [string, RecordType] => [`k${at}`, type]);
  const members = { ...Object.fromEntries(keys), body: "text" } as const;
  const isRow = table.keys.map(({ column }, at) => `r.${column} = w."k${at}"`);
  await session.run(
    `UPDATE ${table.name} AS r SET "shape" = ${shapeNumber(spec.shape)}, "body" = ${dialect.json(`w."body"`)} ` +
      `FROM ${dialect.records(members, dialect.placeholder(1))} WHERE ${isRow.join(" AND ")}`,
    [JSON.stringify(records)],
  );
}
