// The contract of the mailbox port: what every engine that keeps durable signals must pass
// (decisions.md §2).
import assert from "node:assert/strict";
import type { MigrationTarget } from "../engines/sql/migrations.js";
import type { Database, Transaction } from "../ports/database.js";
import { Lifetime } from "../ports/lifetime.js";
import { uuidv7 } from "../ports/uuid.js";
import { shardOf, shards, type MailboxOwner, type NumberedEntry } from "../ports/mailbox.js";
import type { TestApi } from "./test-api.js";
import { mailboxStore } from "../ports/mailbox.js";
import { epochMillis } from "../ports/ambient.js";

export interface MailboxHarness {
  /**
   * Opens a database in which `prepareMailboxTables` has run, and in which nobody else calls
   * `number`. It may be shared.
   */
  open(): Promise<Database>;
}

/** Creates the tables that the suite works on. */
export async function prepareMailboxTables(target: MigrationTarget): Promise<void> {
  const isSqlite = target.engine === "sqlite";
  const uuid = isSqlite ? "TEXT" : "uuid";
  const sequence = isSqlite
    ? "INTEGER PRIMARY KEY AUTOINCREMENT"
    : "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
  await target.migrate(({ transaction }) =>
    transaction(async ({ exec }) => {
      await exec(`
      CREATE TABLE "opwright_signals" (
        "id" ${uuid} PRIMARY KEY, "name" TEXT NOT NULL, "data" TEXT NOT NULL, "shape" TEXT, "traceparent" TEXT,
        "created_at" BIGINT NOT NULL);
      CREATE TABLE "opwright_staged_signals" (
        "sequence" ${sequence}, "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "signal_id" ${uuid} NOT NULL,
        "shard" INTEGER NOT NULL);
      CREATE TABLE "opwright_mailbox_heads" (
        "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "head" BIGINT NOT NULL, "floor" BIGINT NOT NULL,
        PRIMARY KEY ("tenant_id", "principal_id"));
      CREATE TABLE "opwright_mailbox" (
        "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "position" BIGINT NOT NULL,
        "signal_id" ${uuid} NOT NULL, "created_at" BIGINT NOT NULL,
        PRIMARY KEY ("tenant_id", "principal_id", "position"));
      CREATE TABLE "opwright_cursors" (
        "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "device" TEXT NOT NULL, "position" BIGINT NOT NULL,
        "seen_at" BIGINT NOT NULL, "check_at" BIGINT NOT NULL,
        PRIMARY KEY ("tenant_id", "principal_id", "device"));`);
    }),
  );
}

/** Declares the suite with the functions of a test runner. */
export function mailboxContract({ describe, test }: TestApi, harness: MailboxHarness): void {
  const newcomer = (): MailboxOwner => ({ tenant: uuidv7(), principalId: uuidv7() });
  const write = <T>(database: Database, work: (transaction: Transaction) => Promise<T>) =>
    database.write({ lifetime: Lifetime.unlimited() }, work);
  /** Each case has its own principals. What earlier cases staged has got its positions by then. */
  const withDatabase = async (body: (database: Database) => Promise<void>): Promise<void> => {
    const database = await harness.open();
    try {
      await body(database);
    } finally {
      await database.close();
    }
  };
  const stage = (database: Database, data: string, ...owners: readonly MailboxOwner[]) =>
    write(database, async (transaction) => {
      const mailbox = transaction.of(mailboxStore);
      const eventId = uuidv7();
      const [first] = owners;
      const ids = owners.map(({ principalId }) => principalId);
      await mailbox.stage(
        first?.tenant ?? "",
        { eventId, name: "told", data, shape: "8e1f notes:3", traceparent: null },
        ids,
        epochMillis(),
      );
      return eventId;
    });
  const numberAll = async (database: Database): Promise<readonly NumberedEntry[]> => {
    const all: NumberedEntry[] = [];
    for (;;) {
      const found = await database.reader.of(mailboxStore).stagedShards();
      if (found.length === 0) return all;
      const { entries } = await write(database, (transaction) =>
        transaction.of(mailboxStore).number(found, 100),
      );
      all.push(...entries);
    }
  };
  const trimAll = async (
    database: Database,
    before: number,
    most: number,
    limit = 5_000,
  ): Promise<number> => {
    for (let removed = 0; ;) {
      const some = await write(database, (transaction) =>
        transaction.of(mailboxStore).trim(before, most, limit),
      );
      assert.ok(some <= limit);
      if (some === 0) return removed;
      removed += some;
    }
  };
  const keptBy = async (database: Database, owner: MailboxOwner, after = 0, limit = 1_000) =>
    (await database.reader.of(mailboxStore).read(owner, after, limit)).map(
      ({ position, data }) => [position, data] as const,
    );

  describe("mailboxes", () => {
    test("what is staged has no place before it is numbered, and then the next one", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const first = await stage(database, "1", owner);
        assert.deepEqual(await keptBy(database, owner), []);
        assert.deepEqual(await database.reader.of(mailboxStore).state(owner, null), {
          head: 0,
          floor: 0,
          cursor: null,
        });
        const [numbered, ...others] = await numberAll(database);
        assert.deepEqual(others, []);
        assert.deepEqual(numbered, {
          ...owner,
          position: 1,
          eventId: first,
          name: "told",
          data: "1",
          shape: "8e1f notes:3",
          traceparent: null,
        });
        const stranger = newcomer();
        assert.deepEqual(await database.reader.of(mailboxStore).heads([stranger, owner]), [
          { ...owner, head: 1 },
        ]);
        assert.deepEqual(await database.reader.of(mailboxStore).heads([]), []);
        await stage(database, "2", owner);
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner), [
          [1, "1"],
          [2, "2"],
        ]);
        assert.deepEqual(await numberAll(database), []);
      }));

    test("what is rolled back was never staged, and what is numbered in vain keeps its turn", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const gone = write(database, async (transaction) => {
          const mailbox = transaction.of(mailboxStore);
          const signal = {
            eventId: uuidv7(),
            name: "told",
            data: "gone",
            shape: null,
            traceparent: null,
          };
          await mailbox.stage(owner.tenant, signal, [owner.principalId], epochMillis());
          throw new Error("rolled back");
        });
        await assert.rejects(gone, /rolled back/);
        await stage(database, "stays", owner);
        const inVain = write(database, async (transaction) => {
          const mailbox = transaction.of(mailboxStore);
          const shard = shardOf(owner.principalId);
          assert.equal((await mailbox.number([shard], 10)).entries.length, 1);
          throw new Error("rolled back");
        });
        await assert.rejects(inVain, /rolled back/);
        assert.deepEqual(await keptBy(database, owner), []);
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner), [[1, "stays"]]);
      }));

    test("writers at once leave no hole, whatever the order of their commits", () =>
      withDatabase(async (database) => {
        const owners = [newcomer(), newcomer(), newcomer()];
        const staged = Array.from({ length: 60 }, (_none, index) => {
          const owner = owners[index % owners.length] ?? newcomer();
          return stage(database, String(index), owner);
        });
        await Promise.all([...staged, numberAll(database)]);
        await numberAll(database);
        for (const [index, owner] of owners.entries()) {
          const kept = await keptBy(database, owner);
          assert.deepEqual(
            kept.map(([position]) => position),
            Array.from({ length: 20 }, (_none, at) => at + 1),
          );
          const told = new Set(kept.map(([, data]) => Number(data) % owners.length));
          assert.deepEqual([...told], [index]);
          assert.equal(new Set(kept.map(([, data]) => data)).size, 20);
        }
      }));

    test("one signal is in the mailbox of each that it is for, once", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const other = { ...newcomer(), tenant: owner.tenant };
        await stage(database, "alone", owner);
        const eventId = await stage(database, "both", owner, other, owner);
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner), [
          [1, "alone"],
          [2, "both"],
        ]);
        assert.deepEqual(await keptBy(database, other), [[1, "both"]]);
        const mailbox = database.reader.of(mailboxStore);
        assert.equal(await mailbox.has(owner, 2, eventId), true);
        assert.equal(await mailbox.has(other, 1, eventId), true);
        assert.equal(await mailbox.has(owner, 1, eventId), false);
        assert.equal(await mailbox.has(other, 2, eventId), false);
        assert.equal(await mailbox.has({ ...owner, tenant: "another" }, 2, eventId), false);
        assert.deepEqual(await keptBy(database, { ...owner, tenant: "another" }), []);
      }));

    test("ten thousand recipients of one event, and the order of each of them", () =>
      withDatabase(async (database) => {
        const { tenant } = newcomer();
        const owners = Array.from({ length: 10_000 }, () => ({ tenant, principalId: uuidv7() }));
        await stage(database, "1", ...owners);
        await stage(database, "2", ...owners);
        const numbered = await numberAll(database);
        assert.equal(numbered.length, 20_000);
        const heads = await database.reader.of(mailboxStore).heads(owners);
        assert.equal(heads.length, 10_000);
        assert.ok(heads.every(({ head }) => head === 2));
        assert.ok(numbered.every(({ position, data }) => String(position) === data));
      }));

    test("each shard is numbered for itself, and a mailbox is in one of them", () =>
      withDatabase(async (database) => {
        const { tenant } = newcomer();
        const inShard = (shard: number): MailboxOwner => {
          for (;;) {
            const owner = { tenant, principalId: uuidv7() };
            if (shardOf(owner.principalId) === shard) return owner;
          }
        };
        const owners = Array.from({ length: shards }, (_none, shard) => inShard(shard));
        await stage(database, "1", ...owners);
        await stage(database, "2", ...owners);
        const mailbox = database.reader.of(mailboxStore);
        assert.equal((await mailbox.stagedShards()).length, shards);
        const waited = await mailbox.stagedLag(epochMillis() + 60_000);
        assert.ok(waited >= 60_000 && waited < 120_000, `${waited}`);
        const first = await write(database, (stores) => stores.of(mailboxStore).number([3], 1));
        assert.deepEqual([first.unfinished, first.isBusy], [[3], false]);
        assert.deepEqual(
          first.entries.map(({ principalId, position, data }) => [principalId, position, data]),
          [[owners[3]?.principalId, 1, "1"]],
        );
        await write(database, (stores) => stores.of(mailboxStore).number([3], 100));
        assert.deepEqual(
          await write(database, (stores) => stores.of(mailboxStore).number([3], 100)),
          { entries: [], unfinished: [], isBusy: false },
        );
        // Of several shards, each gives its oldest: the limit is for all of them.
        const some = await write(database, (stores) => stores.of(mailboxStore).number([5, 6], 2));
        assert.deepEqual(
          some.entries.map(({ principalId, data }) => [principalId, data]),
          [5, 6].map((shard) => [owners[shard]?.principalId, "1"]),
        );
        assert.deepEqual(some.unfinished, [5, 6]);
        assert.equal((await mailbox.stagedShards()).includes(3), false);
        await numberAll(database);
        assert.equal(await mailbox.stagedLag(epochMillis() + 60_000), 0);
        for (const owner of owners)
          assert.deepEqual(await keptBy(database, owner), [
            [1, "1"],
            [2, "2"],
          ]);
      }));

    test("a principal is known by its UUID in any case, and nothing else is one", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        await stage(database, "1", { ...owner, principalId: owner.principalId.toUpperCase() });
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner), [[1, "1"]]);
        await assert.rejects(stage(database, "2", { ...owner, principalId: "nobody" }), {
          code: "core.configuration",
        });
      }));

    test("reading goes on behind a position, in pages", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        for (let index = 1; index <= 5; index += 1) await stage(database, String(index), owner);
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner, 1, 2), [
          [2, "2"],
          [3, "3"],
        ]);
        assert.deepEqual(await keptBy(database, owner, 5), []);
        assert.deepEqual(await keptBy(database, owner, 99), []);
      }));

    test("cursors go forward only, not beyond the head, and each device has its own", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        for (let index = 1; index <= 4; index += 1) await stage(database, String(index), owner);
        await numberAll(database);
        const acknowledge = (device: string | null, position: number): Promise<number> =>
          write(database, (transaction) =>
            transaction.of(mailboxStore).acknowledge(owner, device, position, epochMillis(), 100),
          );
        assert.equal(await acknowledge("phone", 2), 2);
        assert.equal(await acknowledge("phone", 1), 2);
        assert.equal(await acknowledge("phone", 99), 4);
        assert.equal(await acknowledge(null, 3), 3);
        const cursorOf = async (device: string | null) =>
          (await database.reader.of(mailboxStore).state(owner, device)).cursor;
        assert.deepEqual(
          [await cursorOf("phone"), await cursorOf("tablet"), await cursorOf(null)],
          [4, null, 3],
        );
        await Promise.all([3, 1, 4, 2].map((position) => acknowledge("tablet", position)));
        assert.equal(await cursorOf("tablet"), 4);
        const known = await database.reader.of(mailboxStore).devices(owner);
        assert.deepEqual(known.map(({ device, position }) => `${device} ${position}`).toSorted(), [
          "null 3",
          "phone 4",
          "tablet 4",
        ]);
        assert.ok(
          known.every((one, at) => one.acknowledgedAt <= (known[at - 1] ?? one).acknowledgedAt),
        );
        assert.deepEqual(await database.reader.of(mailboxStore).devices(newcomer()), []);
      }));

    test("trimming takes the beginning of a mailbox, whatever is old in it, and devices that were not seen", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const long = epochMillis() - 3_600_000;
        for (const [data, at] of [
          ["young", epochMillis()],
          ["old", long],
          ["young too", epochMillis()],
        ] as const)
          await write(database, (transaction) => {
            const mailbox = transaction.of(mailboxStore);
            const signal = {
              eventId: uuidv7(),
              name: "told",
              data,
              shape: "8e1f notes:3",
              traceparent: null,
            };
            return mailbox.stage(owner.tenant, signal, [owner.principalId], at);
          });
        await numberAll(database);
        await write(database, async (transaction) => {
          const mailbox = transaction.of(mailboxStore);
          await mailbox.acknowledge(owner, "seen", 1, epochMillis(), 100);
          await mailbox.acknowledge(owner, "gone", 1, long, 100);
          await mailbox.acknowledge(owner, "quiet", 3, long, 100);
        });
        assert.equal(await trimAll(database, long + 1, 1_000, 1), 2);
        await write(database, (transaction) =>
          transaction.of(mailboxStore).pruneCursors(long + 1, epochMillis(), 1_000),
        );
        assert.deepEqual(await keptBy(database, owner), [[3, "young too"]]);
        const mailbox = database.reader.of(mailboxStore);
        assert.deepEqual(await mailbox.state(owner, "seen"), { head: 3, floor: 2, cursor: 1 });
        assert.deepEqual(await mailbox.state(owner, "gone"), { head: 3, floor: 2, cursor: null });
        // This device had acknowledged everything that was removed: it has missed nothing and
        // keeps its cursor.
        assert.deepEqual(await mailbox.state(owner, "quiet"), { head: 3, floor: 2, cursor: 3 });
      }));

    test("beyond so many devices the one that was not seen for longest loses its cursor", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        await stage(database, "1", owner);
        await numberAll(database);
        const acknowledge = (device: string | null, now: number): Promise<number> =>
          write(database, (transaction) =>
            transaction.of(mailboxStore).acknowledge(owner, device, 1, now, 3),
          );
        // The cursor that all connections without a device share is never removed.
        await acknowledge(null, 1);
        for (const [at, device] of ["a", "b", "c"].entries()) await acknowledge(device, 10 + at);
        await acknowledge("a", 20);
        // Its time is earlier than the others', but it is the device that was seen last, and
        // keeps its cursor.
        await acknowledge("d", 5);
        const cursors = await Promise.all(
          [null, "a", "b", "c", "d"].map(
            async (device) => (await database.reader.of(mailboxStore).state(owner, device)).cursor,
          ),
        );
        assert.deepEqual(cursors, [1, 1, null, 1, 1]);
        const other = newcomer();
        assert.equal((await database.reader.of(mailboxStore).state(other, "a")).cursor, null);
      }));

    test("cursors are looked at once in the time that signals are kept, a batch at a time", () =>
      withDatabase(async (database) => {
        const kept = 1_000_000;
        const now = epochMillis() + 10 * kept;
        const look = (at: number): Promise<number> =>
          write(database, (transaction) =>
            transaction.of(mailboxStore).pruneCursors(at - kept, at, 2),
          );
        const all = async (at: number): Promise<number> => {
          for (let looked = 0; ;) {
            const some = await look(at);
            assert.ok(some <= 2);
            if (some === 0) return looked;
            looked += some;
          }
        };
        await all(now);
        const owner = newcomer();
        await stage(database, "1", owner);
        await numberAll(database);
        for (const device of ["a", "b", "c"])
          await write(database, (transaction) =>
            transaction.of(mailboxStore).acknowledge(owner, device, 1, now, 100),
          );
        assert.equal(await all(now), 3);
        assert.equal(await all(now + kept - 1), 0);
        assert.ok((await all(now + kept + 1)) >= 3);
        // These devices have missed nothing, so their cursors stay, however long they are away.
        assert.equal((await database.reader.of(mailboxStore).state(owner, "a")).cursor, 1);
      }));

    test("a signal goes once it is old and no mailbox has it", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const old = epochMillis() - 3_600_000;
        const stageOld = (data: string): Promise<void> =>
          write(database, (transaction) => {
            const mailbox = transaction.of(mailboxStore);
            const signal = {
              eventId: uuidv7(),
              name: "told",
              data,
              shape: "8e1f notes:3",
              traceparent: null,
            };
            return mailbox.stage(owner.tenant, signal, [owner.principalId], old);
          });
        await stageOld("has a place");
        await numberAll(database);
        await stageOld("waits");
        const prune = (): Promise<number> =>
          write(database, (transaction) => transaction.of(mailboxStore).pruneSignals(old + 1, 100));
        await prune();
        assert.deepEqual(await keptBy(database, owner), [[1, "has a place"]]);
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner, 1), [[2, "waits"]]);
        await trimAll(database, old + 1, 1_000);
        assert.equal(await prune(), 2);
        assert.equal(await prune(), 0);
      }));

    test("trimming takes what is too old or too much, tells the floor, and positions go on", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        for (let index = 1; index <= 5; index += 1) await stage(database, String(index), owner);
        await numberAll(database);
        assert.ok((await trimAll(database, 0, 3)) >= 2);
        assert.deepEqual(
          (await keptBy(database, owner)).map(([position]) => position),
          [3, 4, 5],
        );
        const { head, floor } = await database.reader.of(mailboxStore).state(owner, null);
        assert.deepEqual([head, floor], [5, 2]);
        await stage(database, "waits", owner);
        await trimAll(database, epochMillis() + 60_000, 1_000);
        assert.deepEqual(await keptBy(database, owner), []);
        assert.equal((await database.reader.of(mailboxStore).state(owner, null)).floor, 5);
        // Signals that have no position yet must not be removed.
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner), [[6, "waits"]]);
      }));
  });
}
