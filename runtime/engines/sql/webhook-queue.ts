// The queue of webhook deliveries: which are due and whose, what is claimed, and what became of it.
import type { ClaimedDelivery, WaitingWebhook, WebhookStore } from "../../ports/webhooks.js";
import { recordsText } from "./records.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";
import { ownerStands } from "./standing.js";

/** How many webhooks one claim looks at. */
const webhooksAtOnce = 256;
/** How many deliveries of a removed webhook one claim removes. */
const removedAtOnce = 1_000;
/** How many deliveries `state` counts at most. */
const mostCounted = 10_000;
/** An id that sorts before every webhook's id. */
const nobody = "00000000-0000-0000-0000-000000000000";
const eventField = { path: "event", type: "string", isColumn: true } as const;
const listedFields = { id: "uuid" } as const;
/** What is noted of a delivery whose every attempt ended without an outcome. */
const endedWithProcess = "the process ended during delivery";

/** The methods of the webhook store that work on the queue, within one transaction. */
export function sqlWebhookQueue(
  session: SqlSession,
): Pick<WebhookStore, "hasDue" | "claim" | "release" | "settle" | "prune" | "state"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const { waitingAfter, dueOf } = turnsOf(session);
  const { claimAll, giveUp, removeOf } = claimsOf(session);

  return {
    async hasDue(now) {
      const text = `SELECT 1 AS "one" FROM "opwright_webhook_deliveries" WHERE "due_at" <= ${at(1)} LIMIT 1`;
      return (await session.all(text, [now])).length === 1;
    },

    async claim({ now, leaseUntil, after, maxAttempts, events, turnsOf: choose }) {
      const waiting = await waitingAfter(after ?? nobody);
      const last = waiting.length < webhooksAtOnce ? null : (waiting.at(-1)?.id ?? null);
      const due = waiting.filter(({ firstDueAt }) => firstDueAt <= now);
      const gone = due.filter(({ isGone }) => isGone);
      for (const { id } of gone) await removeOf(id);
      const counts = new Map<string, number>();
      for (const { id } of choose(due.filter(({ isGone }) => !isGone)))
        counts.set(id, (counts.get(id) ?? 0) + 1);
      const taken: DueDelivery[] = [];
      for (const [id, count] of counts) taken.push(...(await dueOf(id, now, count, events)));
      const givenUp = taken.filter(({ attempts }) => attempts >= maxAttempts);
      if (givenUp.length > 0) await giveUp(givenUp.map(({ id }) => id));
      const rest = taken.filter(({ attempts }) => attempts < maxAttempts).map(({ id }) => id);
      const claimed = rest.length === 0 ? [] : await claimAll(rest, leaseUntil);
      return { claimed, givenUp, last };
    },

    async release({ id, attempt }, now) {
      await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(2)}, "attempts" = "attempts" - 1 ` +
          `WHERE "id" = ${at(1)} AND "attempts" = ${at(3)} AND "due_at" IS NOT NULL`,
        [id, now, attempt],
      );
    },

    async settle({ id, attempt }, { at: now, isDelivered, dueAt, status, error }) {
      // Delivered is delivered, by whichever attempt; only the last one can fail.
      const isOpen = isDelivered
        ? `"delivered_at" IS NULL`
        : `"attempts" = ${at(6)} AND "due_at" IS NOT NULL`;
      const changed = await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(2)}, "delivered_at" = ${at(3)}, "status" = ${at(4)}, "error" = ${at(5)} ` +
          `WHERE "id" = ${at(1)} AND ${isOpen}`,
        [id, dueAt, isDelivered ? now : null, status, error, ...(isDelivered ? [] : [attempt])],
      );
      return changed === 1;
    },

    async prune(before, limit) {
      let mayHaveMore = false;
      for (const table of ["opwright_webhook_deliveries", "opwright_webhook_payloads"]) {
        const old = `"${table}" o WHERE o."created_at" < ${at(1)} ORDER BY o."created_at" LIMIT ${limit}`;
        const text = `DELETE FROM "${table}" WHERE ${dialect.isRowOf("o", old)}`;
        mayHaveMore = (await session.run(text, [before])) === limit || mayHaveMore;
      }
      return mayHaveMore;
    },

    async state(now) {
      const [row] = await session.all(
        `SELECT (SELECT count(*) FROM (SELECT 1 FROM "opwright_webhook_deliveries" WHERE "due_at" IS NOT NULL ` +
          `ORDER BY "due_at" LIMIT ${mostCounted}) c) AS "pending", ` +
          `(SELECT min("due_at") FROM "opwright_webhook_deliveries" WHERE "due_at" IS NOT NULL) AS "first"`,
        [],
      );
      const first = row?.["first"] ?? null;
      return {
        pending: Number(row?.["pending"] ?? 0),
        lagMillis: first === null ? 0 : Math.max(0, now - Number(first)),
      };
    },
  };
}

interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly attempts: number;
}

/** Whose turn it may be. */
interface Waiting extends WaitingWebhook {
  readonly firstDueAt: number;
  /** Whether the webhook was removed, and only its deliveries are left. */
  readonly isGone: boolean;
}

/** The queries that find who waits, and which deliveries of a webhook are due. */
function turnsOf(session: SqlSession) {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  /**
   * Webhooks with pending deliveries, by id. Each is found by one step in the index, however many
   * deliveries it has.
   */
  const waitingAfter = async (webhook: string): Promise<readonly Waiting[]> => {
    const next = (behind: string): string =>
      `(SELECT d."webhook_id" FROM "opwright_webhook_deliveries" d ` +
      `WHERE d."due_at" IS NOT NULL AND d."webhook_id" > ${behind} ORDER BY d."webhook_id" LIMIT 1)`;
    const firstDue =
      `(SELECT d."due_at" FROM "opwright_webhook_deliveries" d WHERE d."webhook_id" = t."id" ` +
      `AND d."due_at" IS NOT NULL ORDER BY d."due_at" LIMIT 1)`;
    const rows = await session.all(
      `WITH RECURSIVE t("id", "turn") AS (SELECT ${next(at(1))}, 1 ` +
        `UNION ALL SELECT ${next(`t."id"`)}, t."turn" + 1 FROM t WHERE t."id" IS NOT NULL AND t."turn" < ${webhooksAtOnce}) ` +
        `SELECT t."id", w."tenant_id", w."principal_id", ${firstDue} AS "first_due_at" ` +
        `FROM t LEFT JOIN "opwright_webhooks" w ON w."id" = t."id" WHERE t."id" IS NOT NULL ORDER BY t."turn"`,
      [webhook],
    );
    return rows.map((row) => ({
      id: String(row["id"]),
      tenant: String(row["tenant_id"]),
      principalId: String(row["principal_id"]),
      // None is left where another process has just settled the last one.
      firstDueAt: row["first_due_at"] === null ? Infinity : Number(row["first_due_at"]),
      isGone: row["tenant_id"] === null,
    }));
  };

  const dueOf = async (webhookId: string, now: number, most: number, events: readonly string[]) => {
    const rows = await session.all(
      `SELECT "id", "attempts" FROM "opwright_webhook_deliveries" WHERE "webhook_id" = ${at(1)} AND "due_at" <= ${at(2)} ` +
        `AND ${dialect.isIn(eventField, at(3))} ORDER BY "due_at", "id" LIMIT ${most}${dialect.skipLocked}`,
      [webhookId, now, dialect.list(events)],
    );
    return rows.map((row): DueDelivery => ({
      id: String(row["id"]),
      webhookId,
      attempts: Number(row["attempts"]),
    }));
  };

  return { waitingAfter, dueOf };
}

/** The statements that claim deliveries, give them up, and remove what is left of a webhook. */
function claimsOf(session: SqlSession) {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const listed = (position: number): string =>
    `"id" IN (SELECT w."id" FROM ${dialect.records(listedFields, at(position))})`;
  const ids = (list: readonly string[]): string =>
    recordsText(
      listedFields,
      list.map((id) => ({ id })),
    );

  /**
   * Deliveries with their webhooks and events. One whose webhook or event was removed is left out.
   */
  const detailsOf = async (claimed: readonly string[]): Promise<readonly ClaimedDelivery[]> => {
    const rows = await session.all(
      `SELECT d."id", d."attempts", w."id" AS "webhook_id", w."url", w."secret", w."principal_id", ` +
        `CASE WHEN ${ownerStands} THEN 1 ELSE 0 END AS "stands", ` +
        `p."id" AS "event_id", p."name", p."tenant_id", p."payload", p."created_at", p."shape", p."traceparent" ` +
        `FROM "opwright_webhook_deliveries" d JOIN "opwright_webhooks" w ON w."id" = d."webhook_id" ` +
        `JOIN "opwright_webhook_payloads" p ON p."id" = d."event_id" WHERE d.${listed(1)}`,
      [ids(claimed)],
    );
    return rows.map(readClaimed);
  };

  return {
    // A claimed delivery is due again when its lease ends, so a process that dies doesn't hold it
    // up for good.
    async claimAll(taken: readonly string[], leaseUntil: number) {
      await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = ${at(1)}, "attempts" = "attempts" + 1 WHERE ${listed(2)}`,
        [leaseUntil, ids(taken)],
      );
      const claimed = await detailsOf(taken);
      const found = new Set(claimed.map(({ id }) => id));
      const gone = taken.filter((id) => !found.has(id));
      if (gone.length > 0)
        await session.run(`DELETE FROM "opwright_webhook_deliveries" WHERE ${listed(1)}`, [
          ids(gone),
        ]);
      return claimed;
    },

    async giveUp(list: readonly string[]) {
      await session.run(
        `UPDATE "opwright_webhook_deliveries" SET "due_at" = NULL, "status" = NULL, "error" = ${at(1)} WHERE ${listed(2)}`,
        [endedWithProcess, ids(list)],
      );
    },

    async removeOf(webhookId: string) {
      const left =
        `"opwright_webhook_deliveries" o WHERE o."webhook_id" = ${at(1)} AND o."due_at" IS NOT NULL ` +
        `LIMIT ${removedAtOnce}`;
      await session.run(
        `DELETE FROM "opwright_webhook_deliveries" WHERE ${dialect.isRowOf("o", left)}`,
        [webhookId],
      );
    },
  };
}

function readClaimed(row: SqlRow): ClaimedDelivery {
  const tenant = String(row["tenant_id"]);
  return {
    id: String(row["id"]),
    attempt: Number(row["attempts"]),
    hasStanding: Number(row["stands"]) === 1,
    webhook: {
      id: String(row["webhook_id"]),
      tenant,
      principalId: String(row["principal_id"]),
      url: String(row["url"]),
      secret: String(row["secret"]),
    },
    event: {
      id: String(row["event_id"]),
      name: String(row["name"]),
      tenant,
      payload: String(row["payload"]),
      shape: textOrNull(row["shape"]),
      traceparent: textOrNull(row["traceparent"]),
      createdAt: Number(row["created_at"]),
    },
  };
}
