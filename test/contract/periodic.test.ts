// Periodic work is done by one process at a time, in batches with an end, whoever dies in between.
import { afterEach, describe, expect, test } from "vitest";
import { applyMigrations } from "../../runtime/engines/sql/migrations.js";
import { silentLog, type Log } from "../../runtime/operations/log.js";
import type { Database } from "../../runtime/operations/database.js";
import { Lifetime } from "../../runtime/operations/lifetime.js";
import {
  startPeriodic,
  type OutsideJob,
  type Periodic,
  type PeriodicJob,
} from "../../runtime/operations/periodic.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { engines } from "../engines.js";

const generated = new URL("../../generated", import.meta.url).pathname;

/** Long enough that nothing comes again in what a test looks at. */
const everyMillis = 20_000;
/** A period that is over soon. */
const soon = 20;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const opened: (() => Promise<void>)[] = [];
    afterEach(async () => {
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
      const periodic = startPeriodic({ database, log }, [job]);
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

    test("what one process holds is the other's when it has run out", async () => {
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
          async batch({ mailbox }) {
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
