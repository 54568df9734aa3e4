// The document store over SQL, one for all SQL engines.
import type { DocumentStore, StoredDocument } from "../../documents/port.js";
import type { DocumentDeclaration } from "../../documents/spec.js";
import { aggregateRows } from "./aggregate.js";
import { documentColumns, ownerOf, readStored, whereOf } from "./document-rows.js";
import { afterCondition, orderBy } from "./order.js";
import { Parameters } from "./parameters.js";
import { sqlSearchIndexes } from "./search-index.js";
import { quoted, type Dialect, type SqlSession, type SqlValue } from "./session.js";

/** Rows that an estimate counts. */
const maxCounted = 20_000;

/** The texts of a type's fixed statements, printed once per spec and dialect. */
interface Statements {
  readonly get: string;
  readonly insert: string;
  readonly replace: string;
  readonly remove: string;
  readonly removeHistory: string;
  readonly insertHistory: string;
  readonly trimHistory: string;
  readonly snapshot: string;
}

const printed = new WeakMap<Dialect, WeakMap<DocumentDeclaration, Statements>>();

/** The document store of one transaction. */
export function sqlDocumentStore(session: SqlSession): DocumentStore {
  const { dialect } = session;
  const texts = (spec: DocumentDeclaration) => statementsOf(spec, dialect);

  const keepSnapshot = async (
    spec: DocumentDeclaration,
    tenant: string,
    document: StoredDocument,
  ) => {
    if (spec.history === 0) return;
    const { id, rev, body } = document;
    await session.run(texts(spec).insertHistory, [...ownerOf(spec, tenant), id, rev, body]);
    if (spec.history !== null && rev > spec.history) {
      await session.run(texts(spec).trimHistory, [
        ...ownerOf(spec, tenant),
        id,
        rev - spec.history,
      ]);
    }
  };

  const indexes = sqlSearchIndexes(session);

  return {
    async get(spec, tenant, id) {
      const [row] = await session.all(texts(spec).get, [...ownerOf(spec, tenant), id]);
      return row === undefined ? null : readStored(row);
    },

    async insert(spec, tenant, document) {
      const { id, rev, createdAt, lastUpdateAt, isDeleted, ownerId, body } = document;
      await session.run(texts(spec).insert, [
        ...ownerOf(spec, tenant),
        id,
        rev,
        createdAt,
        lastUpdateAt,
        isDeleted,
        ownerId,
        body,
      ]);
      await keepSnapshot(spec, tenant, document);
      await indexes.put(spec, tenant, document);
    },

    async replace(spec, tenant, expectedRev, document) {
      const { id, rev, lastUpdateAt, isDeleted, body } = document;
      const changed = await session.run(texts(spec).replace, [
        ...ownerOf(spec, tenant),
        id,
        expectedRev,
        rev,
        lastUpdateAt,
        isDeleted,
        body,
      ]);
      if (changed === 0) return false;
      await keepSnapshot(spec, tenant, document);
      await indexes.put(spec, tenant, document);
      return true;
    },

    async remove(spec, tenant, id, expectedRev) {
      const [removed] = await session.all(texts(spec).remove, [
        ...ownerOf(spec, tenant),
        id,
        expectedRev,
      ]);
      if (removed === undefined) return false;
      if (spec.history !== 0)
        await session.run(texts(spec).removeHistory, [...ownerOf(spec, tenant), id]);
      // The documents before the indexes, as in every other write: no two writes wait for each other.
      await indexes.remove(spec, tenant, removed["row_key"] as SqlValue);
      return true;
    },

    async snapshot(spec, tenant, id, rev) {
      const [row] = await session.all(texts(spec).snapshot, [...ownerOf(spec, tenant), id, rev]);
      return row === undefined ? null : String(row["body"]);
    },

    async select(spec, tenant, query, window) {
      const parameters = new Parameters(dialect);
      const after =
        window.after === undefined
          ? []
          : [afterCondition(query.sorts, window.after, dialect, parameters)];
      const rows = await session.scan(
        `SELECT ${dialect.columns} FROM ${quoted(spec.table)}${whereOf(spec, tenant, query, dialect, parameters, ...after)} ` +
          `${orderBy(query.sorts, dialect)} ` +
          `LIMIT ${parameters.add(window.limit)} OFFSET ${parameters.add(window.offset)}`,
        parameters.values,
        documentColumns,
      );
      return rows.map(readStored);
    },

    aggregate: (spec, tenant, query, aggregate, window) =>
      aggregateRows(session, spec, tenant, query, aggregate, window),

    async estimate(spec, tenant) {
      // Exact where it is small; beyond, what the engine believes of the whole table.
      const owned = spec.tenant ? ` WHERE "tenant_id" = ${dialect.placeholder(1)}` : "";
      const [counted] = await session.scan(
        `SELECT count(*) AS "count" FROM (SELECT 1 FROM ${quoted(spec.table)}${owned} LIMIT ${maxCounted}) AS "counted"`,
        ownerOf(spec, tenant),
        { stored: ["count"] },
      );
      const count = Number(counted?.["count"] ?? 0);
      if (count < maxCounted) return count;
      const [row] = await session.all(dialect.tableRows(spec.table), []);
      return Math.max(maxCounted, Number(row?.["rows"] ?? 0));
    },

    async count(spec, tenant, query) {
      const parameters = new Parameters(dialect);
      const [row] = await session.scan(
        `SELECT count(*) AS "count" FROM ${quoted(spec.table)}${whereOf(spec, tenant, query, dialect, parameters)}`,
        parameters.values,
        { stored: ["count"] },
      );
      return Number(row?.["count"] ?? 0);
    },
  };
}

function statementsOf(spec: DocumentDeclaration, dialect: Dialect): Statements {
  const known = printed.get(dialect) ?? new WeakMap<DocumentDeclaration, Statements>();
  printed.set(dialect, known);
  const statements = known.get(spec) ?? printStatements(spec, dialect);
  known.set(spec, statements);
  return statements;
}

function printStatements(spec: DocumentDeclaration, dialect: Dialect): Statements {
  const table = quoted(spec.table);
  const history = quoted(`${spec.table}_history`);
  const shift = spec.tenant ? 1 : 0;
  const at = (position: number) => dialect.placeholder(position + shift);
  const owned = spec.tenant ? `"tenant_id" = ${dialect.placeholder(1)} AND ` : "";
  const ownerColumn = spec.tenant ? `"tenant_id", ` : "";
  const ownerValue = spec.tenant ? `${dialect.placeholder(1)}, ` : "";
  return {
    get: `SELECT ${dialect.columns} FROM ${table} WHERE ${owned}"id" = ${at(1)}`,
    insert:
      `INSERT INTO ${table} (${ownerColumn}"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body") ` +
      `VALUES (${ownerValue}${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)}, ${at(6)}, ${dialect.json(at(7))})`,
    replace:
      `UPDATE ${table} SET "rev" = ${at(3)}, "last_update_at" = ${at(4)}, "is_deleted" = ${at(5)}, ` +
      `"body" = ${dialect.json(at(6))} WHERE ${owned}"id" = ${at(1)} AND "rev" = ${at(2)}`,
    remove: `DELETE FROM ${table} WHERE ${owned}"id" = ${at(1)} AND "rev" = ${at(2)} RETURNING ${dialect.rowKey} AS "row_key"`,
    removeHistory: `DELETE FROM ${history} WHERE ${owned}"id" = ${at(1)}`,
    insertHistory:
      `INSERT INTO ${history} (${ownerColumn}"id", "rev", "body") ` +
      `VALUES (${ownerValue}${at(1)}, ${at(2)}, ${dialect.json(at(3))})`,
    trimHistory: `DELETE FROM ${history} WHERE ${owned}"id" = ${at(1)} AND "rev" <= ${at(2)}`,
    snapshot: `SELECT "body" AS "body" FROM ${history} WHERE ${owned}"id" = ${at(1)} AND "rev" = ${at(2)}`,
  };
}
