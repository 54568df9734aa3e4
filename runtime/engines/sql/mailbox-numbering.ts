// Gives staged signals their positions in mailboxes: few statements for a batch, however many
// signals, shards and mailboxes it has.
import type { MailboxStore } from "../../ports/mailbox.js";
import { limitWaits, tryHold } from "./held-names.js";
import type { Dialect } from "./dialect/dialect.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";

/** How long it waits for a mailbox that somebody holds: those that come behind wait as long. */
const heldUpMillis = 250;
/** A process that stands still has its shards for so long; others number them then. */
const silentMillis = 5_000;

/** The name that a transaction has while it numbers a shard. */
export function shardName(shard: number): string {
  return `realtime:${shard}`;
}

const sequenceField = { path: "sequence", type: "integer", isColumn: true } as const;

/** The method of the mailbox store that fills mailboxes, within one transaction. */
export function sqlNumbering(session: SqlSession): Pick<MailboxStore, "number"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  return {
    async number(wanted, limit) {
      await limitWaits(session, heldUpMillis, silentMillis);
      const free = await freeShards(session, wanted);
      const isBusy = free.length < wanted.length;
      if (free.length === 0) return { entries: [], unfinished: [], isBusy };
      const each = Math.ceil(limit / free.length);
      const staged = await session.all(stagedText(dialect, free.length, each), free);
      if (staged.length === 0) return { entries: [], unfinished: [], isBusy };
      // Exactly these rows: one with a lower sequence may become visible between two statements.
      const batch = [dialect.list(staged.map((row) => Number(row["sequence"])))];
      const isOfBatch = dialect.isIn(sequenceField, at(1));
      await session.runPipelined(
        `INSERT INTO "opwright_mailbox_heads" ("tenant_id", "principal_id", "head", "floor") ` +
          `SELECT "tenant_id", "principal_id", count(*), 0 FROM "opwright_staged_signals" WHERE ${isOfBatch} ` +
          `GROUP BY "tenant_id", "principal_id" ` +
          // Always in the same order, so that two numbering transactions can't deadlock.
          `ORDER BY "tenant_id", "principal_id" ` +
          `ON CONFLICT ("tenant_id", "principal_id") DO UPDATE SET "head" = "opwright_mailbox_heads"."head" + excluded."head"`,
        batch,
      );
      const ofMailbox = `PARTITION BY q."tenant_id", q."principal_id"`;
      // Scalar subqueries, so that each row is looked up by its key, however many there are.
      const head = `(SELECT h."head" FROM "opwright_mailbox_heads" h WHERE h."tenant_id" = q."tenant_id" AND h."principal_id" = q."principal_id")`;
      const createdAt = `(SELECT s."created_at" FROM "opwright_signals" s WHERE s."id" = q."signal_id")`;
      const position = `${head} - count(*) OVER (${ofMailbox}) + row_number() OVER (${ofMailbox} ORDER BY q."sequence")`;
      const numbered = await session.all(
        `INSERT INTO "opwright_mailbox" ("tenant_id", "principal_id", "position", "signal_id", "created_at") ` +
          `SELECT q."tenant_id", q."principal_id", ${position}, q."signal_id", ${createdAt} ` +
          `FROM "opwright_staged_signals" q WHERE ${isOfBatch} ` +
          `RETURNING "tenant_id", "principal_id", "position", "signal_id"`,
        batch,
      );
      await session.runPipelined(`DELETE FROM "opwright_staged_signals" WHERE ${isOfBatch}`, batch);
      const positions = new Map(numbered.map((row) => [keyOf(row), Number(row["position"])]));
      const entries = staged.flatMap((row) => {
        const position = positions.get(keyOf(row));
        if (position === undefined) return [];
        return {
          tenant: String(row["tenant_id"]),
          principalId: String(row["principal_id"]),
          position,
          eventId: String(row["signal_id"]),
          name: String(row["name"]),
          data: String(row["data"]),
          shape: textOrNull(row["shape"]),
          traceparent: textOrNull(row["traceparent"]),
        };
      });
      const counts = new Map<unknown, number>();
      for (const { shard } of staged) counts.set(shard, (counts.get(shard) ?? 0) + 1);
      return { entries, unfinished: free.filter((shard) => counts.get(shard) === each), isBusy };
    },
  };
}

/** The shards of these that only this transaction numbers until it ends. */
async function freeShards(
  session: SqlSession,
  wanted: readonly number[],
): Promise<readonly number[]> {
  const held = new Set(await tryHold(session, wanted.map(shardName)));
  return wanted.filter((shard) => held.has(shardName(shard)));
}

/** The query for the oldest staged signals of so many shards, so many of each. */
function stagedText(dialect: Dialect, count: number, each: number): string {
  const ofShards = Array.from({ length: count }, (_none, place) => {
    const isOfShard = `"shard" = ${dialect.placeholder(place + 1)}`;
    return `SELECT * FROM (SELECT * FROM "opwright_staged_signals" WHERE ${isOfShard} ORDER BY "sequence" LIMIT ${each}) oldest${place}`;
  });
  return (
    `SELECT q."sequence", q."shard", q."tenant_id", q."principal_id", q."signal_id", s."name", s."data", s."shape", s."traceparent" ` +
    `FROM (${ofShards.join(" UNION ALL ")}) q JOIN "opwright_signals" s ON s."id" = q."signal_id" ORDER BY q."sequence"`
  );
}

/** The key of an entry: a mailbox has a signal at most once. */
function keyOf(row: SqlRow): string {
  return `${String(row["tenant_id"])}\0${String(row["principal_id"])}\0${String(row["signal_id"])}`;
}
