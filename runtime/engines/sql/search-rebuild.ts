// Rebuilds the index of a search in steps. Each is a short transaction, so that writers can go on
// meanwhile.
import { fail } from "../../contract/errors.js";
import type { AnyDocumentSpec, SearchIndex } from "../../ports/document-spec.js";
import { indexedDocument } from "../../ports/indexed-document.js";
import type { RebuildPosition, RebuildStep } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { bodyAsRead } from "./document-rows.js";
import { putInIndex } from "./search-index.js";
import {
  between,
  selectKeys,
  keyOf,
  keysAfter,
  orderByKeys,
  type KeyValues,
  type Table,
} from "./row-walk.js";
import type { RowKey } from "./dialect/rows.js";
import { quoteName, type SqlRow, type SqlSession } from "./session.js";

/** The parts of a rebuild, in order. */
const parts = ["documents", "rows", "words"] as const;

/** How many documents a rebuild has to look at, of all tenants. */
export async function rebuildSize(session: SqlSession, { document }: SearchSpec): Promise<number> {
  const [row] = await session.all(
    `SELECT count(*) AS "count" FROM ${quoteName(document.table)}`,
    [],
  );
  return Number(row?.["count"] ?? 0);
}

/**
 * One step of a rebuild (see `SearchStore.rebuildStep`). Throws `core.configuration` if there is no
 * such index.
 */
export async function rebuildStep(
  session: SqlSession,
  { index, document }: SearchSpec,
  from: RebuildPosition | null,
  limit: number,
): Promise<RebuildStep> {
  const { part } = from ?? { part: "documents" };
  const search = document.searches?.find((one) => one.index === index);
  if (search === undefined)
    throw fail("core.configuration", {}, { cause: new Error(`there is no index ${index}`) });
  const { seen, next } = await steps[part](session, document, search, from ?? start, limit);
  const documents = part === "documents" ? seen : 0;
  if (next !== null) return { documents, next: { part, ...next } };
  const following = parts[parts.indexOf(part) + 1];
  return { documents, next: following === undefined ? null : { part: following, after: [] } };
}

/** Where a step begins within its part. */
type From = Omit<RebuildPosition, "part">;

const start: From = { after: [] };

/** How many rows a step has looked at, and where the next one begins; null if the part is done. */
interface Looked {
  readonly seen: number;
  readonly next: From | null;
}

type Step = (
  session: SqlSession,
  document: AnyDocumentSpec,
  search: SearchIndex,
  from: From,
  limit: number,
) => Promise<Looked>;

/**
 * Indexes the next documents. They are locked meanwhile, so that a step never overwrites what a
 * writer has indexed later.
 */
const documents: Step = async (session, document, search, { after, isTaken }, limit) => {
  const { holdRows } = session.dialect;
  const table = { name: quoteName(document.table), keys: session.dialect.rowKeys(document) };
  const read = (most: number, hold: string) =>
    holdNext(session, document, table, after, most, hold);
  const next = (rows: readonly SqlRow[]): From | null => {
    const last = rows.at(-1);
    return last === undefined ? null : { after: keyOf(last, table) };
  };
  if (holdRows === "") {
    const rows = await read(limit, "");
    await putRows(session, document, search, rows);
    return { seen: rows.length, next: rows.length < limit ? null : next(rows) };
  }
  if (isTaken) {
    // It waits for the locked document while it holds no other, so it can't deadlock.
    const rows = await read(1, holdRows);
    await putRows(session, document, search, rows);
    return { seen: rows.length, next: next(rows) };
  }
  const free = await read(limit, `${holdRows} SKIP LOCKED`);
  const rows = await untilTaken(session, table, after, free);
  await putRows(session, document, search, rows);
  // If no document was free, either a writer has locked the next one, or there is none left.
  return { seen: rows.length, next: next(rows) ?? { after, isTaken: true } };
};

/** The next documents after a key, locked as `hold` says ("" doesn't lock them). */
function holdNext(
  session: SqlSession,
  document: AnyDocumentSpec,
  table: Table,
  after: KeyValues,
  limit: number,
  hold: string,
): Promise<readonly SqlRow[]> {
  const { condition, parameters } = between(session, table, after, null);
  const columns = [`"id"`, `"shape"`, `"body"`, ...(document.tenant ? [`"tenant_id"`] : [])];
  const limitAt = session.dialect.placeholder(parameters.length + 1);
  return session.all(
    `SELECT ${[...selectKeys(table), ...columns].join(", ")} FROM ${table.name} r WHERE ${condition} ORDER BY ${orderByKeys(table)} LIMIT ${limitAt}${hold}`,
    [...parameters, limit],
  );
}

/** The rows before the first one that was skipped because a writer has locked it. */
async function untilTaken(
  session: SqlSession,
  table: Table,
  after: KeyValues,
  rows: readonly SqlRow[],
): Promise<readonly SqlRow[]> {
  const last = rows.at(-1);
  if (last === undefined) return rows;
  const { condition, parameters } = between(session, table, after, keyOf(last, table));
  const [counted] = await session.all(
    `SELECT count(*) AS "count" FROM ${table.name} r WHERE ${condition}`,
    parameters,
  );
  if (Number(counted?.["count"]) === rows.length) return rows;
  const all = await keysAfter(session, table, after, rows.length + 1);
  const taken = rows.findIndex(
    (row, at) => JSON.stringify(keyOf(row, table)) !== JSON.stringify(all[at]),
  );
  return taken === -1 ? rows : rows.slice(0, taken);
}

async function putRows(
  session: SqlSession,
  document: AnyDocumentSpec,
  search: SearchIndex,
  rows: readonly SqlRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const documents = rows.map((row) => {
    const [tenant, id] = [String(row["tenant_id"] ?? ""), String(row["id"])];
    const body = bodyAsRead(document, Number(row["shape"]), String(row["body"]));
    return indexedDocument(tenant, id, body, search);
  });
  await putInIndex(session, document, search, documents);
}

/** Removes rows of the index whose documents are gone. */
const rows: Step = (session, document, { index }, { after }, limit) => {
  const keys = session.dialect.rowKeys(document);
  const same = keys.map(({ column }) => `d.${column} = r.${column}`).join(" AND ");
  const isGone = `NOT EXISTS (SELECT 1 FROM ${quoteName(document.table)} d WHERE ${same})`;
  return removeNext(session, { name: quoteName(index), keys }, isGone, after, limit);
};

/**
 * Removes words that no row of the index has any more. A word that a writer brings back at this
 * very moment may be removed too. It is then not found as another spelling until it is written
 * again.
 */
const words: Step = (session, document, search, { after }, limit) => {
  const keys = [...(document.tenant ? [`"tenant_id"`] : []), `"word"`].map((column): RowKey => ({
    column,
    type: "text",
  }));
  const isUsed = session.dialect.isWordUsed(document, search, "r");
  return removeNext(
    session,
    { name: quoteName(`${search.index}_words`), keys },
    `NOT ${isUsed}`,
    after,
    limit,
  );
};

const steps = { documents, rows, words };

/** Removes those of the next `limit` rows of a table that meet a condition. */
async function removeNext(
  session: SqlSession,
  table: Table,
  condition: string,
  after: KeyValues,
  limit: number,
): Promise<Looked> {
  const wanted = await keysAfter(session, table, after, limit);
  const last = wanted.at(-1);
  if (last === undefined) return { seen: 0, next: null };
  const range = between(session, table, after, last);
  await session.run(
    `DELETE FROM ${table.name} AS r WHERE ${range.condition} AND ${condition}`,
    range.parameters,
  );
  return { seen: wanted.length, next: wanted.length < limit ? null : { after: last } };
}
