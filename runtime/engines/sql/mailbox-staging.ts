// Stages signals over SQL, before they get positions. Signals staged together share their
// statements, however many they are.
import { fail } from "../../contract/errors.js";
import { isUuid } from "../../contract/uuid.js";
import { shardOf, shards, type MailboxStore } from "../../ports/mailbox.js";
import { recordsText } from "./records.js";
import type { Dialect } from "./dialect/dialect.js";
import type { SqlSession } from "./session.js";

/** A signal that is to be written, with the principals that it is for. */
interface Staged {
  readonly tenant: string;
  readonly row: {
    readonly id: string;
    readonly name: string;
    readonly data: string;
    readonly shape: string | null;
    readonly traceparent: string | null;
    readonly created_at: number;
  };
  readonly principals: readonly string[];
}

const signalFields = {
  id: "uuid",
  name: "text",
  data: "text",
  shape: "text",
  traceparent: "text",
  created_at: "integer",
} as const;

/** Inserts the signals of the parameter at a position. */
function insertSignals(dialect: Dialect, position: number): string {
  const signals = dialect.records(signalFields, dialect.placeholder(position));
  return (
    `INSERT INTO "opwright_signals" ("id", "name", "data", "shape", "traceparent", "created_at") ` +
    `SELECT w."id", w."name", w."data", w."shape", w."traceparent", w."created_at" FROM ${signals}`
  );
}

const placeFields = { principal_id: "uuid", signal_id: "uuid", shard: "integer" } as const;

/** Inserts recipients: the tenant is the parameter at a position, they are the next one. */
function insertPlaces(dialect: Dialect, position: number): string {
  const tenant = dialect.typed("text", dialect.placeholder(position));
  const places = dialect.records(placeFields, dialect.placeholder(position + 1));
  return (
    `INSERT INTO "opwright_staged_signals" ("tenant_id", "principal_id", "signal_id", "shard") ` +
    `SELECT ${tenant}, w."principal_id", w."signal_id", w."shard" FROM ${places}`
  );
}

/**
 * The methods of the mailbox store that stage signals and report what is staged, within one
 * transaction.
 */
export function sqlStaging(
  session: SqlSession,
): Pick<MailboxStore, "stage" | "stagedShards" | "stagedLag"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  let waiting: Staged[] = [];
  let writing: Promise<void> | undefined;
  /**
   * Writes the waiting signals: one statement for all signals, and one per tenant for their
   * recipients, of which the first goes with the signals where the engine can do that.
   */
  const writeStaged = async (): Promise<void> => {
    const staged = waiting;
    waiting = [];
    writing = undefined;
    const rows = recordsText(
      signalFields,
      staged.map(({ row }) => row),
    );
    const [first, ...others] = new Set(staged.map((one) => one.tenant));
    if (first === undefined) return;
    const placesIn = (tenant: string): string =>
      recordsText(placeFields, staged.filter((one) => one.tenant === tenant).flatMap(placesOf));
    const both = dialect.insertBoth?.(insertSignals(dialect, 1), insertPlaces(dialect, 2)) ?? null;
    if (both === null) await session.runPipelined(insertSignals(dialect, 1), [rows]);
    else await session.runPipelined(both, [rows, first, placesIn(first)]);
    for (const tenant of both === null ? [first, ...others] : others)
      await session.runPipelined(insertPlaces(dialect, 1), [tenant, placesIn(tenant)]);
  };

  return {
    async stage(tenant, { eventId, name, data, shape, traceparent }, principalIds, now) {
      const principals = [...new Set(principalIds.map(principalOf))];
      if (principals.length === 0) return;
      waiting.push({
        tenant,
        row: { id: eventId, name, data, shape, traceparent, created_at: now },
        principals,
      });
      // Signals that are staged without waiting in between are written together.
      writing ??= Promise.resolve().then(writeStaged);
      await writing;
    },

    async stagedShards() {
      const fields = { shard: "integer" } as const;
      const asked = dialect.records(fields, at(1));
      const rows = await session.all(
        `SELECT w."shard" FROM ${asked} WHERE EXISTS (` +
          `SELECT 1 FROM "opwright_staged_signals" q WHERE q."shard" = w."shard")`,
        [
          recordsText(
            fields,
            Array.from({ length: shards }, (_none, shard) => ({ shard })),
          ),
        ],
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
  };
}

function placesOf({ row, principals }: Staged) {
  return principals.map((id) => ({ principal_id: id, signal_id: row.id, shard: shardOf(id) }));
}

/**
 * A principal's id in lower case, by which mailboxes are kept. Throws `core.configuration` if it is
 * not a UUID.
 */
function principalOf(given: string): string {
  if (isUuid(given)) return given.toLowerCase();
  throw fail("core.configuration", {}, { cause: new Error("a signal for what is no principal") });
}
