// Staging signals and giving them their places over SQL: so many statements a batch, however many signals and mailboxes.
import { fail } from "../../contract/errors.js";
import { isUuid } from "../../operations/uuid.js";
import { shardOf, shards, type MailboxStore } from "../../realtime/port.js";
import type { SqlRow, SqlSession } from "./session.js";

const sequenceField = { path: "sequence", type: "integer", isColumn: true } as const;

/** A signal that is to be written with those it is for. */
interface Staged {
  readonly tenant: string;
  readonly row: {
    readonly id: string;
    readonly name: string;
    readonly data: string;
    readonly created_at: number;
  };
  readonly principals: readonly string[];
}

/** The part of the mailboxes of one transaction that fills them. */
export function sqlNumbering(
  session: SqlSession,
): Pick<MailboxStore, "stage" | "stagedShards" | "stagedLag" | "number"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  let waiting: Staged[] = [];
  let writing: Promise<void> | undefined;
  /** Writes what waits, with as many statements for one signal as for many. */
  const writeStaged = async (): Promise<void> => {
    const staged = waiting;
    waiting = [];
    writing = undefined;
    const signal = { id: "uuid", name: "text", data: "text", created_at: "integer" } as const;
    await session.run(
      `INSERT INTO "opwright_signals" ("id", "name", "data", "created_at") ` +
        `SELECT w."id", w."name", w."data", w."created_at" FROM ${dialect.records(signal, at(1))}`,
      [JSON.stringify(staged.map(({ row }) => row))],
    );
    const place = { principal_id: "uuid", signal_id: "uuid", shard: "integer" } as const;
    for (const tenant of new Set(staged.map((one) => one.tenant))) {
      const places = staged.filter((one) => one.tenant === tenant).flatMap(placesOf);
      await session.run(
        `INSERT INTO "opwright_staged_signals" ("tenant_id", "principal_id", "signal_id", "shard") ` +
          `SELECT ${dialect.typed("text", at(1))}, w."principal_id", w."signal_id", w."shard" ` +
          `FROM ${dialect.records(place, at(2))}`,
        [tenant, JSON.stringify(places)],
      );
    }
  };

  return {
    async stage(tenant, { eventId, name, data }, principalIds, now) {
      const principals = [...new Set(principalIds.map(principalOf))];
      if (principals.length === 0) return;
      waiting.push({ tenant, row: { id: eventId, name, data, created_at: now }, principals });
      // Those that are staged in the same moment are written together.
      writing ??= Promise.resolve().then(writeStaged);
      await writing;
    },

    async stagedShards() {
      const asked = dialect.records({ shard: "integer" }, at(1));
      const rows = await session.all(
        `SELECT w."shard" FROM ${asked} WHERE EXISTS (` +
          `SELECT 1 FROM "opwright_staged_signals" q WHERE q."shard" = w."shard")`,
        [JSON.stringify(Array.from({ length: shards }, (_none, shard) => ({ shard })))],
      );
      return rows.map((row) => Number(row["shard"]));
    },

    async stagedLag(now) {
      const [row] = await session.all(
        `SELECT "created_at" FROM "opwright_signals" WHERE "id" = (` +
          `SELECT "signal_id" FROM "opwright_staged_signals" ORDER BY "sequence" LIMIT 1)`,
        [],
      );
      return row === undefined ? 0 : Math.max(0, now - Number(row["created_at"]));
    },

    async number(shard, limit) {
      const staged = await session.all(
        `SELECT q."sequence", q."tenant_id", q."principal_id", q."signal_id", s."name", s."data" ` +
          `FROM "opwright_staged_signals" q JOIN "opwright_signals" s ON s."id" = q."signal_id" ` +
          `WHERE q."shard" = ${at(1)} ORDER BY q."sequence" LIMIT ${limit}`,
        [shard],
      );
      if (staged.length === 0) return [];
      // These and no others: an earlier sequence may become visible between two statements.
      const batch = [dialect.list(staged.map((row) => Number(row["sequence"])))];
      const isOfBatch = dialect.isIn(sequenceField, at(1));
      await session.run(
        `INSERT INTO "opwright_mailbox_heads" ("tenant_id", "principal_id", "head", "floor") ` +
          `SELECT "tenant_id", "principal_id", count(*), 0 FROM "opwright_staged_signals" WHERE ${isOfBatch} ` +
          `GROUP BY "tenant_id", "principal_id" ` +
          // In one order, so that no two that number wait for each other.
          `ORDER BY "tenant_id", "principal_id" ` +
          `ON CONFLICT ("tenant_id", "principal_id") DO UPDATE SET "head" = "opwright_mailbox_heads"."head" + excluded."head"`,
        batch,
      );
      const ofMailbox = `PARTITION BY q."tenant_id", q."principal_id"`;
      // Looked up one by one, so that they are found by their keys however many there are.
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
      await session.run(`DELETE FROM "opwright_staged_signals" WHERE ${isOfBatch}`, batch);
      const positions = new Map(numbered.map((row) => [keyOf(row), Number(row["position"])]));
      return staged.flatMap((row) => {
        const position = positions.get(keyOf(row));
        if (position === undefined) return [];
        return {
          tenant: String(row["tenant_id"]),
          principalId: String(row["principal_id"]),
          position,
          eventId: String(row["signal_id"]),
          name: String(row["name"]),
          data: String(row["data"]),
        };
      });
    },
  };
}

function placesOf({ row, principals }: Staged) {
  return principals.map((id) => ({ principal_id: id, signal_id: row.id, shard: shardOf(id) }));
}

/** A signal is in a mailbox once. */
function keyOf(row: SqlRow): string {
  return `${String(row["tenant_id"])}\0${String(row["principal_id"])}\0${String(row["signal_id"])}`;
}

/** The id of a principal in the one form that mailboxes are kept under. */
function principalOf(given: string): string {
  if (isUuid(given)) return given.toLowerCase();
  throw fail("core.configuration", {}, { cause: new Error("a signal for what is no principal") });
}
