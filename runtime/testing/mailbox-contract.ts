// The contract of the mailbox port: what every engine that keeps durable signals must pass (decisions.md §2).
import assert from "node:assert/strict";
import type { MigrationTarget } from "../engines/sql/migrations.js";
import type { Database, Transaction } from "../operations/database.js";
import { Lifetime } from "../operations/lifetime.js";
import { uuidv7 } from "../operations/uuid.js";
import type { MailboxOwner, NumberedEntry } from "../realtime/port.js";
import type { TestApi } from "./database-contract.js";

export interface MailboxHarness {
  /** Opens a database in which `prepareMailboxTables` has run, and that nothing else numbers. It may be shared. */
  open(): Promise<Database>;
}

/** Makes the tables that the suite works on. */
export async function prepareMailboxTables(target: MigrationTarget): Promise<void> {
  const isSqlite = target.engine === "sqlite";
  const uuid = isSqlite ? "TEXT" : "uuid";
  const sequence = isSqlite
    ? "INTEGER PRIMARY KEY AUTOINCREMENT"
    : "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
  await target.migrate(async ({ exec }) => {
    await exec(`
      CREATE TABLE "opwright_signals" (
        "id" ${uuid} PRIMARY KEY, "name" TEXT NOT NULL, "data" TEXT NOT NULL, "created_at" BIGINT NOT NULL);
      CREATE TABLE "opwright_staged_signals" (
        "sequence" ${sequence}, "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "signal_id" ${uuid} NOT NULL);
      CREATE TABLE "opwright_mailbox_heads" (
        "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "head" BIGINT NOT NULL, "floor" BIGINT NOT NULL,
        PRIMARY KEY ("tenant_id", "principal_id"));
      CREATE TABLE "opwright_mailbox" (
        "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "position" BIGINT NOT NULL,
        "signal_id" ${uuid} NOT NULL, "created_at" BIGINT NOT NULL,
        PRIMARY KEY ("tenant_id", "principal_id", "position"));
      CREATE TABLE "opwright_cursors" (
        "tenant_id" TEXT NOT NULL, "principal_id" ${uuid} NOT NULL, "device" TEXT NOT NULL, "position" BIGINT NOT NULL,
        "seen_at" BIGINT NOT NULL, PRIMARY KEY ("tenant_id", "principal_id", "device"));`);
    return [];
  });
}

/** Declares the suite with the functions of a test runner. */
export function mailboxContract({ describe, test }: TestApi, harness: MailboxHarness): void {
  const newcomer = (): MailboxOwner => ({ tenant: uuidv7(), principalId: uuidv7() });
  const write = <T>(database: Database, work: (transaction: Transaction) => Promise<T>) =>
    database.write({ lifetime: Lifetime.unlimited() }, work);
  /** Each case has principals of its own; what an earlier one staged has its place already. */
  const withDatabase = async (body: (database: Database) => Promise<void>): Promise<void> => {
    const database = await harness.open();
    try {
      await body(database);
    } finally {
      await database.close();
    }
  };
  const stage = (database: Database, data: string, ...owners: readonly MailboxOwner[]) =>
    write(database, async ({ mailbox }) => {
      const eventId = uuidv7();
      const [first] = owners;
      const ids = owners.map(({ principalId }) => principalId);
      await mailbox.stage(first?.tenant ?? "", { eventId, name: "told", data }, ids, Date.now());
      return eventId;
    });
  const numberAll = async (database: Database): Promise<readonly NumberedEntry[]> => {
    const all: NumberedEntry[] = [];
    for (;;) {
      const some = await write(database, ({ mailbox }) => mailbox.number(100));
      if (some.length === 0) return all;
      all.push(...some);
    }
  };
  const keptBy = async (database: Database, owner: MailboxOwner, after = 0, limit = 1_000) =>
    (await database.reader.mailbox.read(owner, after, limit)).map(
      ({ position, data }) => [position, data] as const,
    );

  describe("mailboxes", () => {
    test("what is staged has no place before it is numbered, and then the next one", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const first = await stage(database, "1", owner);
        assert.deepEqual(await keptBy(database, owner), []);
        assert.deepEqual(await database.reader.mailbox.state(owner, null), {
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
        });
        const stranger = newcomer();
        assert.deepEqual(await database.reader.mailbox.heads([stranger, owner]), [
          { ...owner, head: 1 },
        ]);
        assert.deepEqual(await database.reader.mailbox.heads([]), []);
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
        const gone = write(database, async ({ mailbox }) => {
          const signal = { eventId: uuidv7(), name: "told", data: "gone" };
          await mailbox.stage(owner.tenant, signal, [owner.principalId], Date.now());
          throw new Error("rolled back");
        });
        await assert.rejects(gone, /rolled back/);
        await stage(database, "stays", owner);
        const inVain = write(database, async ({ mailbox }) => {
          assert.equal((await mailbox.number(10)).length, 1);
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
        const { mailbox } = database.reader;
        assert.equal(await mailbox.has(owner, 2, eventId), true);
        assert.equal(await mailbox.has(other, 1, eventId), true);
        assert.equal(await mailbox.has(owner, 1, eventId), false);
        assert.equal(await mailbox.has(other, 2, eventId), false);
        assert.equal(await mailbox.has({ ...owner, tenant: "another" }, 2, eventId), false);
        assert.deepEqual(await keptBy(database, { ...owner, tenant: "another" }), []);
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
          write(database, ({ mailbox }) =>
            mailbox.acknowledge(owner, device, position, Date.now()),
          );
        assert.equal(await acknowledge("phone", 2), 2);
        assert.equal(await acknowledge("phone", 1), 2);
        assert.equal(await acknowledge("phone", 99), 4);
        assert.equal(await acknowledge(null, 3), 3);
        const cursorOf = async (device: string | null) =>
          (await database.reader.mailbox.state(owner, device)).cursor;
        assert.deepEqual(
          [await cursorOf("phone"), await cursorOf("tablet"), await cursorOf(null)],
          [4, null, 3],
        );
        await Promise.all([3, 1, 4, 2].map((position) => acknowledge("tablet", position)));
        assert.equal(await cursorOf("tablet"), 4);
      }));

    test("trimming takes the beginning of a mailbox, whatever is old in it, and devices that were not seen", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        const long = Date.now() - 3_600_000;
        for (const [data, at] of [
          ["young", Date.now()],
          ["old", long],
          ["young too", Date.now()],
        ] as const)
          await write(database, ({ mailbox }) => {
            const signal = { eventId: uuidv7(), name: "told", data };
            return mailbox.stage(owner.tenant, signal, [owner.principalId], at);
          });
        await numberAll(database);
        await write(database, async ({ mailbox }) => {
          await mailbox.acknowledge(owner, "seen", 1, Date.now());
          await mailbox.acknowledge(owner, "gone", 1, long);
          await mailbox.acknowledge(owner, "quiet", 3, long);
        });
        assert.ok((await write(database, ({ mailbox }) => mailbox.trim(long + 1, 1_000))) >= 2);
        assert.deepEqual(await keptBy(database, owner), [[3, "young too"]]);
        const { mailbox } = database.reader;
        assert.deepEqual(await mailbox.state(owner, "seen"), { head: 3, floor: 2, cursor: 1 });
        assert.deepEqual(await mailbox.state(owner, "gone"), { head: 3, floor: 2, cursor: null });
        // It has all there was: nothing is missing to it.
        assert.deepEqual(await mailbox.state(owner, "quiet"), { head: 3, floor: 2, cursor: 3 });
      }));

    test("trimming takes what is too old or too much, tells the floor, and positions go on", () =>
      withDatabase(async (database) => {
        const owner = newcomer();
        for (let index = 1; index <= 5; index += 1) await stage(database, String(index), owner);
        await numberAll(database);
        const trim = (before: number, most: number): Promise<number> =>
          write(database, ({ mailbox }) => mailbox.trim(before, most));
        assert.ok((await trim(0, 3)) >= 2);
        assert.deepEqual(
          (await keptBy(database, owner)).map(([position]) => position),
          [3, 4, 5],
        );
        const { head, floor } = await database.reader.mailbox.state(owner, null);
        assert.deepEqual([head, floor], [5, 2]);
        await stage(database, "waits", owner);
        await trim(Date.now() + 60_000, 1_000);
        assert.deepEqual(await keptBy(database, owner), []);
        assert.equal((await database.reader.mailbox.state(owner, null)).floor, 5);
        // What has no place yet is nobody's to remove.
        await numberAll(database);
        assert.deepEqual(await keptBy(database, owner), [[6, "waits"]]);
      }));
  });
}
