// Who gives durable signals their positions: what fails, is held up or has much to do in one mailbox keeps no other waiting.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startNumbering, type Numbering } from "../../../runtime/families/realtime/numbering.js";
import { Lifetime } from "../../../runtime/ports/lifetime.js";
import { mailboxStore } from "../../../runtime/ports/mailbox.js";
import type { Database, Transaction } from "../../../runtime/ports/database.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { openDatabase } from "../../../runtime/server/engines.js";
import { prepareMailboxTables } from "../../../runtime/testing/index.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { recordingLog } from "../../support/recording-log.js";

/** A principal of each shard. */
const people = Array.from(
  { length: 16 },
  (_none, shard) => `aaaaaaaa-0000-7000-8000-00000000000${shard.toString(16)}`,
);
const [third = "", others] = [people[3], people.filter((_one, shard) => shard !== 3)];

const signal = () => ({
  eventId: uuidv7(),
  name: "told",
  data: "1",
  shape: null,
  traceparent: null,
});

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let fresh: FreshDatabase;
    let database: Database;
    let numbering: Numbering | undefined;
    let admin: pg.Client | undefined;
    beforeEach(async () => {
      fresh = await engine.create();
      const opened = await openDatabase(fresh.url);
      await prepareMailboxTables(opened);
      database = opened;
      if (engine.name !== "postgres") return;
      admin = new pg.Client({ connectionString: fresh.url });
      await admin.connect();
    });
    afterEach(async () => {
      await admin?.end();
      await numbering?.stop();
      await database.close();
      await fresh.drop();
    });

    const write = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
      database.write({ lifetime: Lifetime.within(30_000) }, work);
    const stage = (...principals: readonly string[]): Promise<void> =>
      write(async (transaction) => {
        await transaction.of(mailboxStore).stage("t", signal(), principals, Date.now());
      });
    const begin = () => {
      const recorded = recordingLog();
      numbering = startNumbering({ database, log: recorded }, () => undefined);
      return recorded;
    };
    const headsOf = async (principals: readonly string[]): Promise<readonly number[]> => {
      const owners = principals.map((principalId) => ({ tenant: "t", principalId }));
      return (await database.reader.of(mailboxStore).heads(owners)).map(({ head }) => head);
    };
    const areAllNumbered = async (principals: readonly string[], count: number): Promise<void> =>
      expect
        .poll(() => headsOf(principals), { timeout: 25_000 })
        .toEqual(principals.map(() => count));

    test("a mailbox that can't be numbered keeps no other waiting", async () => {
      await stage(third);
      await write((transaction) => transaction.of(mailboxStore).number([3], 10));
      // Its head is lost, so its next signal would get a position that is taken.
      const lost = `DELETE FROM opwright_mailbox_heads WHERE principal_id = '${third}'`;
      if (admin === undefined) {
        const { openSqlite } = await import("../../../runtime/engines/sqlite/driver.js");
        const by = openSqlite(fresh.url.replace(/^sqlite:/, ""));
        by.exec(lost);
        by.close();
      } else await admin.query(lost);
      const recorded = begin();
      for (let round = 1; round <= 3; round += 1) {
        await stage(...people);
        numbering?.wake();
        await areAllNumbered(others, round);
      }
      expect(await headsOf([third])).toEqual([]);
      expect(
        recorded.lines.map(({ message, fields }) => [message, fields["shards"]]),
      ).toContainEqual(["staged signals could not be numbered", [3]]);
    });

    test("what comes while there is a backlog doesn't wait for its end", async () => {
      for (let some = 0; some < 30; some += 1)
        await write(async (transaction) => {
          await Promise.all(
            Array.from({ length: 500 }, () =>
              transaction.of(mailboxStore).stage("t", signal(), [third], Date.now()),
            ),
          );
        });
      begin();
      await expect.poll(() => headsOf([third])).not.toEqual([]);
      await stage(others[0] ?? "");
      await areAllNumbered(others.slice(0, 1), 1);
      const [head = 0] = await headsOf([third]);
      expect(head).toBeLessThan(15_000);
      await areAllNumbered([third], 15_000);
    });

    // On SQLite one transaction writes at a time.
    if (engine.name === "sqlite") return;
    test("a mailbox that somebody holds keeps no other waiting", async () => {
      await stage(...people);
      begin();
      await areAllNumbered(people, 1);
      await admin?.query(
        `BEGIN; SELECT 1 FROM opwright_mailbox_heads WHERE principal_id = '${third}' FOR UPDATE`,
      );
      for (let round = 2; round <= 3; round += 1) {
        await stage(...people);
        numbering?.wake();
        await areAllNumbered(others, round);
      }
      expect(await headsOf([third])).toEqual([1]);
      await admin?.query("COMMIT");
      await areAllNumbered([third], 3);
    });

    test("a process that stands still keeps its shards for seconds only", async () => {
      await stage(...people);
      let go = (): void => undefined;
      const frozen = write(async (transaction) => {
        await transaction.of(mailboxStore).number(
          people.map((_one, shard) => shard),
          100,
        );
        await new Promise<void>((resolve) => (go = resolve));
      });
      frozen.catch(() => undefined);
      await expect.poll(() => locks(admin)).toBe(16);
      begin();
      await areAllNumbered(people, 1);
      go();
      await expect(frozen).rejects.toThrow();
      expect(await headsOf(people)).toEqual(people.map(() => 1));
    });

    test("who is erased while a signal is numbered has nothing left", async () => {
      await stage(third);
      let removal: Promise<number> | undefined;
      await write(async (transaction) => {
        await transaction.of(mailboxStore).number([3], 10);
        removal = write((other) => other.of(mailboxStore).removeOf(third));
        await sleep(300);
      });
      await removal;
      const owner = { tenant: "t", principalId: third };
      expect(await database.reader.of(mailboxStore).read(owner, 0, 10)).toEqual([]);
      await stage(third, others[0] ?? "");
      begin();
      await areAllNumbered([third, others[0] ?? ""], 1);
    });
  });

async function locks(admin: pg.Client | undefined): Promise<number | undefined> {
  const text = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return (await admin?.query<{ n: number }>(text))?.rows[0]?.n;
}
