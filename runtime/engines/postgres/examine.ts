// What an operator should know about a PostgreSQL server: settings that lose writes, too few
// connections, a clock that differs, indexes that are broken or missing, rows that nobody removes.
import { epochMillis } from "../../ports/ambient.js";
import { notice, ok, tellBytes, wrong, type Symptom } from "../../ports/symptom.js";
import { quoteName, type SqlRow, type SqlSession } from "../sql/session.js";
import { replicaStanding, whyBehind, writerStanding } from "./standing.js";

/** The oldest major version that its makers still mend. */
const oldestKept = 14;
/** Beyond that, dates of one process and another order differently. */
const mostClockMillis = 2_000;
/** Tables with fewer rows are read whole for good reasons. */
const largeRows = 10_000;
/** PostgreSQL stops taking writes at two thousand million (its manual, "Routine Vacuuming"). */
const agedTransactions = 1_000_000_000;

/** Examines the server. `connections` is how many one process may open, in all. */
export async function examinePostgres(
  session: SqlSession,
  connections: number,
): Promise<readonly Symptom[]> {
  const before = epochMillis();
  const [server = {}] = await session.all(serverQuery, []);
  const after = epochMillis();
  return [
    ...ofServer(server),
    ...ofConnections(server, connections),
    ofClock(Number(server["now"]) - (before + after) / 2),
    ...ofIndexes(await session.all(indexQuery, [])),
    ...ofRights((await session.all(rightsQuery, []))[0] ?? {}),
    ...ofTables(await session.all(tableQuery, [largeRows])),
  ];
}

/** More of the log than a replica should be behind, in bytes. */
const farBytes = 16 * 1024 * 1024;

/** Examines a replica: `writer` is how far its database is, asked before. */
export async function examineReplica(session: SqlSession, writer: SqlRow): Promise<Symptom> {
  const what = "replica";
  const [standing = {}] = await session.all(replicaStanding.text, []);
  const { isOther, bytes, why } = whyBehind(standing, writer);
  if (isOther) return wrong(what, `DATABASE_REPLICA_URL: ${why}: no list is read from it`);
  if (bytes <= 0) return ok(what, "has all that the database has");
  const behind = `${tellBytes(bytes)} of the log behind`;
  return bytes < farBytes
    ? ok(what, behind)
    : notice(what, `${behind}: lists are read from the database until it has caught up`);
}

/** How far a database is. */
export async function askStanding(session: SqlSession): Promise<SqlRow> {
  return (await session.all(writerStanding.text, []))[0] ?? {};
}

const serverQuery = `SELECT current_setting('server_version') AS "version",
  current_setting('server_version_num')::int AS "number", pg_database_size(current_database())::float8 AS "bytes",
  current_setting('fsync') AS "fsync", current_setting('full_page_writes') AS "pages",
  current_setting('autovacuum') AS "autovacuum", age(d.datfrozenxid) AS "age",
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS "now",
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS "most",
  d.datconnlimit AS "of database", r.rolconnlimit AS "of role", r.rolsuper AS "superuser"
  FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`;

function ofServer(row: SqlRow): readonly Symptom[] {
  const found: Symptom[] = [];
  const what = "PostgreSQL";
  const version = `${String(row["version"])}, ${tellBytes(Number(row["bytes"]))}`;
  const major = Math.floor(Number(row["number"]) / 10_000);
  found.push(
    major < oldestKept
      ? notice(
          what,
          `${version}: no longer mended by its makers: upgrade to ${oldestKept} or later`,
        )
      : ok(what, version),
  );
  for (const [name, key] of [
    ["fsync", "fsync"],
    ["full_page_writes", "pages"],
  ] as const)
    if (row[key] !== "on")
      found.push(
        wrong(what, `${name} is off: a crash loses writes that were acknowledged: set it on`),
      );
  if (row["autovacuum"] !== "on")
    found.push(notice(what, "autovacuum is off: tables grow without end: set it on"));
  if (Number(row["age"]) > agedTransactions)
    found.push(
      wrong(what, `its oldest transaction is ${Number(row["age"])} transactions old: run VACUUM`),
    );
  if (row["superuser"] === true)
    found.push(notice(what, "its role is a superuser: see docs/running.md, Two roles"));
  return found;
}

function ofConnections(row: SqlRow, needed: number): readonly Symptom[] {
  const limits = ["most", "of database", "of role"].map((key) => Number(row[key]));
  const granted = Math.min(...limits.filter((limit) => limit >= 0));
  const text = `the server grants ${granted}, and a process takes ${needed}`;
  return [
    granted < needed
      ? wrong(
          "connections",
          `${text}: lower DATABASE_POOL, or raise the role's or the server's limit`,
        )
      : ok("connections", text),
  ];
}

function ofClock(differenceMillis: number): Symptom {
  const text = `the server's differs by ${(Math.abs(differenceMillis) / 1_000).toFixed(1)} s`;
  return Math.abs(differenceMillis) > mostClockMillis
    ? notice("clock", `${text}: have both follow the same time servers`)
    : ok("clock", text);
}

const indexQuery = `SELECT i.relname AS "index", t.relname AS "table", n.nspname AS "schema",
  EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.relid = t.oid
    AND p.index_relid IN (0, i.oid)) AS "under way"
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
  JOIN pg_namespace n ON n.oid = t.relnamespace
  WHERE NOT x.indisvalid AND n.nspname = current_schema() ORDER BY 1`;

function ofIndexes(rows: readonly SqlRow[]): readonly Symptom[] {
  if (rows.length === 0) return [ok("indexes", "all are valid")];
  return rows.map((row) => {
    const text = `${String(row["index"])} of ${String(row["table"])}`;
    if (row["under way"] === true) return ok("indexes", `${text} is being built`);
    const name = `${quoteName(String(row["schema"]))}.${quoteName(String(row["index"]))}`;
    return wrong("indexes", `${text} was left half built: REINDEX INDEX CONCURRENTLY ${name}`);
  });
}

const rightsQuery = `SELECT string_agg(c.relname, ', ' ORDER BY c.relname) AS "tables"
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
    AND NOT (has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))`;

function ofRights(row: SqlRow): readonly Symptom[] {
  const tables = row["tables"] ?? null;
  if (tables === null) return [];
  const text = `the role may not UPDATE and DELETE in ${String(tables)}`;
  return [notice("rights", `${text}: fine for tables that only grow, otherwise GRANT it`)];
}

const tableQuery = `SELECT relname AS "table", n_live_tup::float8 AS "rows", n_dead_tup::float8 AS "dead",
  pg_total_relation_size(relid)::float8 AS "bytes", seq_scan::float8 AS "scans", seq_tup_read::float8 AS "read",
  coalesce(idx_scan, 0)::float8 AS "looked up"
  FROM pg_stat_user_tables WHERE schemaname = current_schema() AND n_live_tup + n_dead_tup > $1
  ORDER BY pg_total_relation_size(relid) DESC LIMIT 20`;

function ofTables(rows: readonly SqlRow[]): readonly Symptom[] {
  return rows.flatMap((row) => {
    const [table, live, dead] = [String(row["table"]), Number(row["rows"]), Number(row["dead"])];
    const found = [ok("growth", `${table}: ${live} rows, ${tellBytes(Number(row["bytes"]))}`)];
    if (dead > largeRows && dead > live / 2)
      found.push(
        notice("bloat", `${table} has ${dead} dead rows: VACUUM (ANALYZE) ${quoteName(table)}`),
      );
    const [scans, lookups] = [Number(row["scans"]), Number(row["looked up"])];
    const isWhole = Number(row["read"]) / Math.max(1, scans) > largeRows;
    if (isWhole && scans > 100 && scans > lookups / 100)
      found.push(
        notice(
          "indexes",
          `${table} was read whole ${scans} times, and ${lookups} times by an index: see which filters and sorts lack one (docs/queries.md)`,
        ),
      );
    return found;
  });
}
