// Periodic work is done by one process at a time, in batches with an end, whoever dies in between.
import { afterEach, describe, expect, test, vi } from "vitest";
import { applyMigrations } from "../../runtime/engines/sql/migrations.js";
import { systemClock } from "../../runtime/ports/clock.js";
import { silentLog, type Log } from "../../runtime/ports/log.js";
import type { Database } from "../../runtime/ports/database.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import {
  startPeriodic,
  type OutsideJob,
  type Periodic,
  type PeriodicJob,
} from "../../runtime/work/periodic.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { engines } from "../support/engines.js";
import { mailboxStore } from "../../runtime/ports/mailbox.js";

const generated = new URL("../../generated", import.meta.url).pathname;

/** Long enough that nothing comes again in what a test looks at. */
const everyMillis = 20_000;
/** A period that is over soon. */
const soon = 20;
const hour = 3_600_000;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const opened: (() => Promise<void>)[] = [];
    afterEach(async () => {
      vi.restoreAllMocks();
      for (const close of opened.splice(0).toReversed()) await close();
    });
    /** Databases of two processes. */
    const twoProcesses = async (): Promise<readonly [Database, Database]> => {
      const fresh = await engine.create();
      opened.push(() => fresh.drop());
      const open = async () => {
        const database = await openDatabase(fresh.url, { connections: 5 });
        opened.push(() => database.close());
        return database;
      };
      const one = await open();
      await applyMigrations(one, generated);
      return [one, await open()];
    };
    const start = (
      database: Database,
      job: PeriodicJob | OutsideJob,
      log: Log = silentLog,
    ): Periodic => {
      const periodic = startPeriodic({ clock: systemClock, database, log }, [job]);
      opened.push(() => periodic.stop());
      return periodic;
    };
    const take = (database: Database, name: string): Promise<boolean> =>
      database.write({ lifetime: Lifetime.unlimited() }, async ({ leases }) => {
        const taken = await leases.take(name, "the test", Date.now(), Date.now() + everyMillis);
        return taken !== null;
      });

    test("two processes do not both run a job in one period, and a batch follows a batch", async () => {
      const done: string[] = [];
      const jobOf = (process: string): PeriodicJob => ({
        name: "count",
        everyMillis,
        batch: async () => {
          done.push(process);
          return done.length % 3 !== 0;
        },
      });
      const [one, two] = await twoProcesses();
      const looked = new Set<string>();
      const watched = (name: string, database: Database): Database => ({
        ...database,
        write(options, work) {
          looked.add(name);
          return database.write(options, work);
        },
      });
      // Both look soon; who comes first does all three batches, and has the period.
      start(watched("one", one), jobOf("one"));
      start(watched("two", two), jobOf("two"));
      await expect.poll(() => done.length, { timeout: 10_000 }).toBe(3);
      await expect.poll(() => looked.size, { timeout: 10_000 }).toBe(2);
      await expect.poll(() => take(one, "count")).toBe(false);
      expect(done).toHaveLength(3);
      expect(new Set(done).size).toBe(1);
    });

    test("a lease of one process passes to another when it runs out", async () => {
      const [one, two] = await twoProcesses();
      const held = Date.now() + 300;
      await one.write({ lifetime: Lifetime.unlimited() }, ({ leases }) =>
        leases.take("count", "a process that died", Date.now(), held),
      );
      const begun = new Promise<number>((resolve) => {
        start(two, {
          name: "count",
          everyMillis: soon,
          batch: async () => {
            resolve(Date.now());
            return false;
          },
        });
      });
      expect(await begun).toBeGreaterThanOrEqual(held);
    });

    test("a lease taken by a clock a month ahead is free, for one process only", async () => {
      const [one, two] = await twoProcesses();
      const now = Date.now();
      const takeAt = (database: Database, holder: string, at: number) =>
        database.write({ lifetime: Lifetime.unlimited() }, ({ leases }) =>
          leases.take("count", holder, at, at + everyMillis),
        );
      expect(await takeAt(one, "ahead", now + 30 * 24 * hour)).not.toBeNull();
      const coming = ["a", "b", "c", "d"];
      const taken = await Promise.all(
        coming.map((holder, at) => takeAt(at % 2 === 0 ? one : two, holder, now)),
      );
      expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
      // Its clock is right again, and the lease is another's.
      expect(await takeAt(one, "ahead", now)).toBeNull();
      const noted = one.write({ lifetime: Lifetime.unlimited() }, ({ leases }) =>
        leases.note("count", "ahead", "mine"),
      );
      expect(await noted).toBe(false);
    });

    test("a process whose clock is set back in the middle goes on, and nobody begins beside it", async () => {
      const [one, two] = await twoProcesses();
      const clock = { ahead: 2 * hour };
      const { now } = Date;
      vi.spyOn(Date, "now").mockImplementation(() => now() + clock.ahead);
      const others: boolean[] = [];
      const done = new Promise<void>((resolve) => {
        start(one, {
          name: "count",
          everyMillis,
          async step() {
            clock.ahead = 0;
            others.push(await take(two, "count"));
            if (others.length < 3) return true;
            resolve();
            return false;
          },
        });
      });
      await done;
      expect(others).toEqual([false, false, false]);
    });

    test("a process whose lease a faster clock has taken leaves the job to that one", async () => {
      const [one, two] = await twoProcesses();
      let isTaken = false;
      let refusals = 0;
      const batches = { before: 0, behind: 0 };
      const watched: Database = {
        ...one,
        async write(options, work) {
          const value = await one.write(options, work);
          if (value === null) refusals += 1;
          return value;
        },
      };
      start(watched, {
        name: "count",
        everyMillis,
        async step() {
          if (refusals > 0) batches.behind += 1;
          else batches.before += 1;
          if (isTaken) return true;
          const ahead = Date.now() + 2 * 60_000;
          const lease = await two.write({ lifetime: Lifetime.unlimited() }, ({ leases }) =>
            leases.take("count", "ahead", ahead, ahead + 60_000),
          );
          isTaken = lease !== null;
          return true;
        },
      });
      await expect.poll(() => refusals).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 3 * soon));
      expect(batches).toEqual({ before: 1, behind: 0 });
    });

    test("a step outside the database holds no transaction, and a failure ends nothing", async () => {
      const [one] = await twoProcesses();
      const faults: string[] = [];
      const log: Log = { ...silentLog, error: (entry) => void faults.push(JSON.stringify(entry)) };
      let steps = 0;
      const written = new Promise<boolean>((resolve) => {
        start(
          one,
          {
            name: "sweep",
            everyMillis: soon,
            async step() {
              steps += 1;
              if (steps === 1) throw new Error("away");
              // Another write would wait for a transaction that was open.
              resolve(await take(one, "another"));
              return false;
            },
          },
          log,
        );
      });
      // The lease of the failed one is held for as long as a dead process would hold it, by the same process.
      expect(await written).toBe(true);
      expect(faults).toEqual([expect.stringContaining("sweep")]);
    });

    test("stopping waits for the batch that runs, and begins no other", async () => {
      const [one] = await twoProcesses();
      let running = 0;
      let batches = 0;
      const begun = new Promise<Periodic>((resolve) => {
        const periodic = start(one, {
          name: "count",
          everyMillis: soon,
          async batch(transaction) {
            const mailbox = transaction.of(mailboxStore);
            running += 1;
            resolve(periodic);
            await mailbox.stagedShards();
            running -= 1;
            batches += 1;
            return true;
          },
        });
      });
      await (await begun).stop();
      expect(running).toBe(0);
      const then = batches;
      await new Promise((resolve) => setTimeout(resolve, 3 * soon));
      expect(batches).toBe(then);
    });
  });
}
