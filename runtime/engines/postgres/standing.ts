// How far a server is in the write-ahead log of a database, and whether two servers have the same
// one: the same data and the same past.
import type { Lifetime } from "../../ports/lifetime.js";
import type { SqlRow } from "../sql/session.js";
import type { HeldConnection } from "./connections.js";
import type { Statement } from "./statements.js";

/**
 * The questions. A replica has the identifier, the database and the numbers of tables of the server
 * that it follows. Its timeline is the number of the last failover that it knows of: one that still
 * follows a server which others have left may have a longer log than their new one.
 */
function standingOf(position: string, timeline: string): Statement {
  const text =
    `SELECT pg_wal_lsn_diff(${position}, '0/0')::text AS "position", (${timeline})::text AS "timeline", ` +
    `system_identifier::text AS "system", current_database() AS "database", ` +
    `to_regclass('opwright_leases')::oid::text AS "table" FROM pg_control_system()`;
  return { text };
}

/** How far the database is: what was acknowledged is on the disk. */
export const writerStanding = standingOf(
  "pg_current_wal_flush_lsn()",
  `('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int`,
);

/** How far a replica is; without a position if it is none. */
export const replicaStanding = standingOf(
  "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END",
  `SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r`,
);

/** Asks a server. */
export async function readStanding(
  connection: Pick<HeldConnection, "queryAlone">,
  question: Statement,
  lifetime: Lifetime,
): Promise<SqlRow> {
  // A server that is silent takes longer to let go of a statement.
  const { rows } = await lifetime.limit(connection.queryAlone(question, lifetime));
  return rows[0] ?? {};
}

/** What the same data has in common, and what it is called. */
const shared = [
  ["system", "another server's data"],
  ["database", "another database"],
  ["table", "another schema, or one without this service's tables"],
  ["timeline", "the past before a failover, or has not yet noted the failover on its disk"],
] as const;

/** Why a replica lacks what a database has; `bytes` is how much of the log, if it has the same. */
export function whyBehind(replica: SqlRow, writer: SqlRow) {
  const isNone = replica["position"] === null || replica["position"] === undefined;
  if (isNone) return { isOther: true, bytes: Infinity, why: "it is no replica" };
  for (const [name, what] of shared)
    if (replica[name] === null || replica[name] !== writer[name])
      return { isOther: true, bytes: Infinity, why: `it has ${what}` };
  const bytes = Number(writer["position"]) - Number(replica["position"]);
  return { isOther: false, bytes, why: `it is ${bytes} bytes behind` };
}
