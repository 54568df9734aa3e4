// Rewrites rows of older shapes in the current shape, in batches, because rows in the current shape
// are cheaper to read.
import { shapeNumber } from "../../contract/shapes.js";
import type { DocumentStore } from "../../ports/documents.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { bodyRenewed } from "./document-rows.js";
import { IndexViolation } from "./index-violation.js";
import { recordsText } from "./records.js";
import { between, selectKeys, keyOf, orderByKeys, type KeyValues, type Table } from "./row-walk.js";
import type { RecordType } from "./dialect/values.js";
import { quoteName, type SqlRow, type SqlSession } from "./session.js";

type Attempt = Parameters<DocumentStore["renew"]>[3];

/**
 * Rewrites those of the next `limit` rows after a key that have an older shape; this is
 * `DocumentStore.renew`.
 */
export async function renewRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  after: KeyValues,
  limit: number,
  attempt: Attempt,
): ReturnType<DocumentStore["renew"]> {
  const { dialect } = session;
  const table = { name: quoteName(spec.table), keys: dialect.rowKeys(spec) };
  const current = shapeNumber(spec.shape);
  const { condition, parameters } = between(session, table, after, null);
  const rows = await session.all(
    `SELECT ${[...selectKeys(table), `r."shape"`].join(", ")} FROM ${table.name} r WHERE ${condition} ` +
      `ORDER BY ${orderByKeys(table)} LIMIT ${dialect.placeholder(parameters.length + 1)}`,
    [...parameters, limit],
  );
  const last = rows.at(-1);
  if (last === undefined) return { looked: 0, renewed: 0, left: 0, clashing: [], next: null };
  const old = rows.filter(({ shape }) => Number(shape) < current);
  const held = old.length === 0 ? [] : await heldRows(session, table, current, old);
  const store = (some: readonly SqlRow[]): Promise<void> => storedAnew(session, spec, table, some);
  const clashing = held.length === 0 ? [] : await storeThoseThatFit(held, store, attempt);
  return {
    looked: rows.length,
    renewed: held.length - clashing.length,
    left: old.length - held.length,
    clashing,
    next: rows.length < limit ? null : keyOf(last, table),
  };
}

/**
 * Stores rows together, and where one is refused, the halves of them apart. Returns the ids of
 * those that an index refuses.
 */
async function storeThoseThatFit(
  rows: readonly SqlRow[],
  store: (rows: readonly SqlRow[]) => Promise<void>,
  attempt: Attempt,
): Promise<readonly string[]> {
  try {
    await attempt(() => store(rows));
    return [];
  } catch (error) {
    if (!(error instanceof IndexViolation)) throw error;
  }
  if (rows.length === 1) return rows.map((row) => String(row["document_id"]));
  const middle = Math.ceil(rows.length / 2);
  return [
    ...(await storeThoseThatFit(rows.slice(0, middle), store, attempt)),
    ...(await storeThoseThatFit(rows.slice(middle), store, attempt)),
  ];
}

/**
 * Locks and returns those of the rows that still have an older shape. It skips rows that a writer
 * has locked, so it never waits for somebody who waits for it. Each row is looked up by its key,
 * because PostgreSQL reads on past the upper bound of a range over several columns.
 */
function heldRows(
  session: SqlSession,
  table: Table,
  current: number,
  rows: readonly SqlRow[],
): Promise<readonly SqlRow[]> {
  const { dialect } = session;
  const { from, isRow, keys } = joinByKey(session, table);
  const hold = dialect.holdRows === "" ? "" : `${dialect.holdRows} SKIP LOCKED`;
  return session.all(
    `SELECT ${[...selectKeys(table), `r."id" AS "document_id"`, `r."shape"`, `r."body"`].join(", ")} FROM ${from(keys)} JOIN ${table.name} r ON ${isRow} ` +
      `WHERE r."shape" < ${current}${hold}`,
    [
      recordsText(
        keys,
        rows.map((row) => keysOf(row, table)),
      ),
    ],
  );
}

/** Rewrites rows in the current shape. Their revisions and times stay the same. */
async function storedAnew(
  session: SqlSession,
  spec: AnyDocumentSpec,
  table: Table,
  rows: readonly SqlRow[],
): Promise<void> {
  const { from, isRow, keys } = joinByKey(session, table);
  const members = { ...keys, body: "json" } as const;
  const records = rows.map((row) => ({
    ...keysOf(row, table),
    body: bodyRenewed(spec, Number(row["shape"]), String(row["body"])),
  }));
  await session.run(
    `UPDATE ${table.name} AS r SET "shape" = ${shapeNumber(spec.shape)}, "body" = ${session.dialect.json(`w."body"`)} ` +
      `FROM ${from(members)} WHERE ${isRow}`,
    [recordsText(members, records)],
  );
}

/**
 * How records `w` are joined with rows `r`: the members that hold the key, the condition, and the
 * records for `FROM`.
 */
function joinByKey({ dialect }: SqlSession, table: Table) {
  const keys = table.keys.map(({ type }, at): readonly [string, RecordType] => [`k${at}`, type]);
  return {
    keys: Object.fromEntries(keys),
    isRow: table.keys.map(({ column }, at) => `r.${column} = w."k${at}"`).join(" AND "),
    from: (members: Readonly<Record<string, RecordType>>): string =>
      dialect.records(members, dialect.placeholder(1)),
  };
}

function keysOf(row: SqlRow, table: Table): Readonly<Record<string, string | number>> {
  return Object.fromEntries(keyOf(row, table).map((key, at) => [`k${at}`, key]));
}
