// DDL of database changes, for both engines. Indexes have exactly the expressions of queries, so
// that queries can use them.
import {
  postgresBody,
  postgresDocumentField,
  postgresField,
  sqliteBody,
  sqliteDocumentField,
  sqlitePath,
  sqlText,
} from "../../runtime/contract/fields.js";
import type { StoredField } from "../../runtime/contract/stored-members.js";
import { historyTableName } from "../../runtime/contract/sql-names.js";
import { createTable, quoteName, types, type EngineName } from "../print/ddl-parts.js";
import type { DatabaseChange } from "../database/schema.js";
import { systemStep } from "../database/system-tables.js";
import type { IndexSchema, TableSchema } from "../model/stored-tables.js";

/**
 * Whether a change takes long on a table in use: then it runs outside of the migration's
 * transaction, one statement a line. On SQLite each statement is a transaction of its own, so that
 * others can write in between.
 */
export function isOnline(change: DatabaseChange): boolean {
  return change.kind === "dropIndex" || (change.kind === "createIndex" && change.isOnline);
}

/** The statements of one change; empty for a check, see `rowChecks`. */
export function ddl(engine: EngineName, change: DatabaseChange): string {
  switch (change.kind) {
    case "systemStep":
      return systemStep(engine, change.step);
    case "createTable":
      return documentTable(engine, change.table, change.schema);
    case "createHistory":
      return historyTable(engine, change.table, change.tenant);
    case "extendHistory":
      return tellingColumns(engine)
        .map(
          (column) =>
            `ALTER TABLE ${quoteName(historyTableName(change.table))} ADD COLUMN ${column};`,
        )
        .join("\n");
    case "createIndex":
      return createIndex(engine, change);
    case "createSearch":
      return searchIndex(engine, change);
    case "dropSearch":
      return [`${change.name}_words`, change.name]
        .map((table) => `DROP TABLE IF EXISTS ${quoteName(table)};`)
        .join("\n");
    case "dropIndex":
      return `DROP INDEX ${engine === "postgres" ? "CONCURRENTLY " : ""}IF EXISTS ${quoteName(change.name)};`;
    case "dropTable":
      return tablesOf(change)
        .map((table) => `DROP TABLE IF EXISTS ${quoteName(table)};`)
        .join("\n");
    case "checkDeleted":
    case "checkRows":
      // `rowChecks` prints them at the beginning of the file.
      return "";
    case "addShape":
      return tablesOf(change)
        .map((table) => `ALTER TABLE ${quoteName(table)} ADD COLUMN ${shapeColumn};`)
        .join("\n");
  }
}

function createIndex(
  engine: EngineName,
  change: Extract<DatabaseChange, { kind: "createIndex" }>,
): string {
  const { fields, unique, isOfDeleted = false } = change.index;
  const keys = fields.map((field) => indexKey(engine, field));
  const ofTenant = change.tenant && unique?.isGlobal !== true && !isOfDeleted;
  const columns = [
    ...(ofTenant ? [`"tenant_id"`] : []),
    ...keys,
    ...(unique === undefined ? [`"id"`] : []),
  ];
  const kind = unique === undefined ? "INDEX" : "UNIQUE INDEX";
  const conditions = isOfDeleted ? [`"is_deleted"`] : conditionsOf(engine, unique);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const over = `${quoteName(change.name)} ON ${quoteName(change.table)} (${columns.join(", ")})${where};`;
  if (!isOnline(change)) return `CREATE ${kind} ${over}`;
  // Two processes may run this at the same time, each in a transaction of its own.
  if (engine === "sqlite") return `CREATE ${kind} IF NOT EXISTS ${over}`;
  // A killed process leaves an invalid index behind.
  return `DROP INDEX CONCURRENTLY IF EXISTS ${quoteName(change.name)};\nCREATE ${kind} CONCURRENTLY ${over}`;
}

/**
 * Queries that must find no rows before anything changes, as lines that the runner of migrations
 * reads.
 */
export function rowChecks(engine: EngineName, change: DatabaseChange): readonly string[] {
  switch (change.kind) {
    case "checkRows":
      return misfits(engine, change);
    case "checkDeleted": {
      const of = `${change.table} without soft_delete`;
      return [countedCheck(of, change.table, "state", "marked as deleted", `"is_deleted"`)];
    }
    default:
      return duplicates(engine, change);
  }
}

/** Checks that count rows whose values no longer fit. */
function misfits(
  engine: EngineName,
  { table, narrowing }: Extract<DatabaseChange, { kind: "checkRows" }>,
): readonly string[] {
  const { member, type, field, faults } = narrowing;
  const value = valueOf(engine, { ...field, type });
  const of = `${table}.${member} as it is declared`;
  return faults.map(({ words, isOfKind, condition }) => {
    const found = isOfKind === true ? kindOfValue(engine, field) : value;
    return countedCheck(of, table, member, words, condition(found, engine));
  });
}

/** What kind of JSON a row has in a field, as the engine calls it; NULL if it has nothing there. */
function kindOfValue(engine: EngineName, { path, late }: StoredField): string {
  return engine === "sqlite"
    ? `json_type(${sqliteBody(late)}, ${sqlitePath(path)})`
    : `jsonb_typeof(${postgresField(path, "object", postgresBody(late))})`;
}

/**
 * A check that counts the rows of a condition, for messages such as `3 rows with title "longer than
 * 80"`.
 */
function countedCheck(
  of: string,
  table: string,
  member: string,
  words: string,
  condition: string,
): string {
  const counted = `SELECT ${sqlText(words)} AS ${quoteName(member)}, count(*) AS "rows" FROM ${quoteName(table)} WHERE ${condition}`;
  return checkLine(of, `SELECT * FROM (${counted}) found WHERE found."rows" > 0`);
}

/** A check, as a line that the runner of migrations reads. */
function checkLine(of: string, query: string): string {
  return `-- must be empty (${of}): ${query}`;
}

/** A check for rows that share values which a new index makes unique. */
function duplicates(engine: EngineName, change: DatabaseChange): readonly string[] {
  if (change.kind !== "createIndex" || !change.isOnline || change.index.unique === undefined)
    return [];
  const { fields, unique } = change.index;
  const keys = fields.map((field) => ({ name: field.path, key: valueOf(engine, field) }));
  const values = [
    ...(change.tenant && !unique.isGlobal ? [{ name: "tenant", key: `"tenant_id"` }] : []),
    ...keys,
  ];
  const conditions = [
    ...keys.map(({ key }) => `${key} IS NOT NULL`),
    ...conditionsOf(engine, unique),
  ];
  const groups = values.map((_value, at) => at + 1).join(", ");
  const query =
    `SELECT ${values.map(({ name, key }) => `${key} AS ${quoteName(name)}`).join(", ")}, count(*) AS "rows" ` +
    `FROM ${quoteName(change.table)} WHERE ${conditions.join(" AND ")} ` +
    `GROUP BY ${groups} HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT 5`;
  return [checkLine(change.name, query)];
}

/** The rows that a unique index is about. */
function conditionsOf(engine: EngineName, unique: IndexSchema["unique"]): readonly string[] {
  const { isLiveOnly = false, where = [] } = unique ?? {};
  return [
    ...(isLiveOnly ? [`NOT "is_deleted"`] : []),
    ...where.map(({ field, values }) => {
      const value = valueOf(engine, field);
      const given = values.filter((one) => one !== null).map((one) => literalOf(engine, one));
      const all = [
        ...(given.length === 0 ? [] : [`${value} IN (${given.join(", ")})`]),
        ...(values.includes(null) ? [`${value} IS NULL`] : []),
      ];
      return `(${all.join(" OR ")})`;
    }),
  ];
}

function literalOf(engine: EngineName, value: string | number | boolean): string {
  if (typeof value === "string") return sqlText(value);
  if (typeof value === "number" || engine === "postgres") return String(value);
  return value ? "1" : "0";
}

/** The table, and that of its history if it has one. */
function tablesOf(change: {
  readonly table: string;
  readonly history: boolean;
}): readonly string[] {
  return [change.table, ...(change.history ? [historyTableName(change.table)] : [])];
}

function indexKey(engine: EngineName, field: IndexSchema["fields"][number]): string {
  const value = valueOf(engine, field);
  return engine === "sqlite" || field.isColumn === true ? value : `${value} NULLS FIRST`;
}

function valueOf(engine: EngineName, field: IndexSchema["fields"][number]): string {
  if (field.isColumn === true) return quoteName(field.path);
  return engine === "sqlite"
    ? sqliteDocumentField(field)
    : postgresDocumentField(field, field.type);
}

/**
 * The number of a row's shape. The default is for processes of an earlier version, which know no
 * shapes.
 */
const shapeColumn = `"shape" INTEGER NOT NULL DEFAULT 1`;

function documentTable(engine: EngineName, table: string, schema: TableSchema): string {
  const type = types[engine];
  return createTable(table, [
    ...(schema.tenant ? [`"tenant_id" ${type.text} NOT NULL`] : []),
    `"id" ${type.uuid} NOT NULL`,
    `"rev" INTEGER NOT NULL`,
    `"created_at" ${type.time} NOT NULL`,
    `"last_update_at" ${type.time} NOT NULL`,
    `"is_deleted" ${type.flag} NOT NULL`,
    `"owner_id" ${type.text}`,
    shapeColumn,
    `"body" ${type.json} NOT NULL`,
    `PRIMARY KEY (${schema.tenant ? `"tenant_id", ` : ""}"id")`,
  ]);
}

function historyTable(engine: EngineName, table: string, tenant: boolean): string {
  const type = types[engine];
  return createTable(historyTableName(table), [
    ...(tenant ? [`"tenant_id" ${type.text} NOT NULL`] : []),
    `"id" ${type.uuid} NOT NULL`,
    `"rev" INTEGER NOT NULL`,
    shapeColumn,
    `"body" ${type.json} NOT NULL`,
    ...tellingColumns(engine),
    `PRIMARY KEY (${tenant ? `"tenant_id", ` : ""}"id", "rev")`,
  ]);
}

/**
 * When and by whom a revision was made, and whether the document was deleted. Null in rows of
 * earlier versions.
 */
function tellingColumns(engine: EngineName): readonly string[] {
  const { time, text, flag } = types[engine];
  return [`"changed_at" ${time}`, `"changed_by" ${text}`, `"is_deleted" ${flag}`];
}

/**
 * On SQLite FTS5 over words that the service has folded already, on PostgreSQL a table of tsvectors
 * with a GIN index. To compute scores, both keep the texts, and stems if the search has a language.
 * Both index the tenant as one more word, so that a search doesn't read what other tenants have.
 */
function searchIndex(
  engine: EngineName,
  { name, tenant, texts, hasStems }: Extract<DatabaseChange, { kind: "createSearch" }>,
): string {
  const columns = (hasStems ? ["t", "s"] : ["t"]).flatMap((kind) =>
    Array.from({ length: texts }, (_, at) => `"${kind}${at}"`),
  );
  const words = `${name}_words`;
  if (engine === "sqlite") {
    const all = [...columns, ...(tenant ? [`"owner"`] : [])].join(", ");
    const key = tenant ? `"tenant_id" TEXT NOT NULL, ` : "";
    const order = tenant ? `"tenant_id", "word"` : `"word"`;
    return [
      `CREATE VIRTUAL TABLE ${quoteName(name)} USING fts5(${all}, columnsize = 0, tokenize = 'unicode61 remove_diacritics 0', prefix = '2 3');`,
      `CREATE TABLE ${quoteName(words)} (${key}"word" TEXT NOT NULL, PRIMARY KEY (${order})) WITHOUT ROWID;`,
    ].join("\n");
  }
  const key = tenant ? `"tenant_id", "id"` : `"id"`;
  const table = createTable(name, [
    ...(tenant ? [`"tenant_id" text NOT NULL`] : []),
    `"id" uuid NOT NULL`,
    // The default lets processes of the previous version, which only know vectors, write until they
    // are replaced.
    ...columns.map((column) => `${column} text COLLATE "C" NOT NULL DEFAULT ''`),
    `"texts" tsvector NOT NULL`,
    `PRIMARY KEY (${key})`,
  ]);
  return [
    table,
    // A score reads a text several times, and would decompress it each time.
    ...columns.map(
      (column) => `ALTER TABLE ${quoteName(name)} ALTER COLUMN ${column} SET STORAGE EXTERNAL;`,
    ),
    `CREATE INDEX ${quoteName(`${name}_by_texts`)} ON ${quoteName(name)} USING gin ("texts") WITH (fastupdate = off);`,
    createTable(words, [
      ...(tenant ? [`"tenant_id" text NOT NULL`] : []),
      `"word" text COLLATE "C" NOT NULL`,
    ]),
    `CREATE INDEX ${quoteName(`${words}_by_word`)} ON ${quoteName(words)} (${tenant ? `"tenant_id", ` : ""}"word");`,
    trigramIndex(words),
  ].join("\n");
}

/**
 * An index of trigrams, if PostgreSQL has them and lets this role use them; searches also work
 * without.
 */
function trigramIndex(words: string): string {
  return [
    "DO $$ BEGIN",
    "  CREATE EXTENSION IF NOT EXISTS pg_trgm;",
    `  CREATE INDEX ${quoteName(`${words}_by_trigrams`)} ON ${quoteName(words)} USING gin ("word" gin_trgm_ops);`,
    "EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege OR undefined_object THEN",
    "  RAISE NOTICE 'no trigrams: %', SQLERRM;",
    "END $$;",
  ].join("\n");
}
