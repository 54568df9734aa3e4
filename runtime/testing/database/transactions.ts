// Transactions: what commits, attempts inside, deadlines, ends.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { fail } from "../../contract/errors.js";
import { documents } from "../../families/documents/operations.js";
import type { Transaction } from "../../ports/database.js";
import { json } from "../../operations/input.js";
import { Lifetime } from "../../ports/lifetime.js";
import { operation } from "../../operations/operation.js";
import { invoke } from "../../operations/pipeline.js";
import { uuidv7 } from "../../ports/uuid.js";
import { documentStore } from "../../ports/documents.js";
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import type { TestApi } from "../test-api.js";
import {
  things,
  contextOf,
  makeStored,
  all,
  firstPage,
  byId,
  write,
  acceptAnything,
  codeOf,
  type Thing,
  withDatabaseOf,
  type ContractHarness,
} from "./things.js";

/** Declares these cases of the database's contract. */
export function describeTransactions({ describe, test }: TestApi, harness: ContractHarness): void {
  const withDatabase = withDatabaseOf(harness);

  describe("transactions", () => {
    test("nothing commits where the work throws", () =>
      withDatabase(async (database, tenant) => {
        const document = makeStored({});
        await assert.rejects(
          write(database, async (transaction) => {
            const store = transaction.of(documentStore);
            await store.insert(things, tenant, document);
            throw new Error("no");
          }),
          /no/,
        );
        assert.equal(
          await database.reader.of(documentStore).get(things, tenant, document.id),
          null,
        );
      }));

    for (const [what, error] of [
      ["an error", new Error("no")],
      // Of somebody else's deadline: its own goes on.
      ["an error of a deadline", fail("deadline_exceeded")],
    ] as const)
      test(`an attempt that throws ${what} undoes its own writes alone`, () =>
        withDatabase(async (database, tenant) => {
          const [kept, undone] = [makeStored({}), makeStored({})];
          await write(database, async (transaction) => {
            await transaction.of(documentStore).insert(things, tenant, kept);
            await assert.rejects(
              transaction.attempt(async () => {
                await transaction.of(documentStore).insert(things, tenant, undone);
                throw error;
              }),
            );
          });
          assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 1);
        }));

    test("an attempt undoes what was written before and within one that failed inside it", () =>
      withDatabase(async (database, tenant) => {
        const insert = (transaction: Transaction): Promise<void> =>
          transaction.of(documentStore).insert(things, tenant, makeStored({}));
        await write(database, async (transaction) => {
          await insert(transaction);
          const outer = transaction.attempt(async () => {
            await insert(transaction);
            await transaction.attempt(async () => {
              await insert(transaction);
              throw new Error("no");
            });
          });
          await assert.rejects(outer);
          await insert(transaction);
        });
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 2);
      }));

    test("attempts within attempts keep what none of those around it has undone", () =>
      withDatabase(async (database, tenant) => {
        const expected = new Set<string>();
        for (let seed = 1; seed <= 40; seed += 1) {
          let state = seed;
          const draw = (below: number): number =>
            (state = (state * 48_271) % 2_147_483_647) % below;
          const inside = async (transaction: Transaction, depth: number): Promise<string[]> => {
            const kept: string[] = [];
            for (let step = draw(4); step > 0; step -= 1) {
              const store = transaction.of(documentStore);
              const kind = draw(3);
              if (kind === 0) await store.count(things, tenant, all);
              if (kind === 1) {
                const document = makeStored({});
                await store.insert(things, tenant, document);
                kept.push(document.id);
              }
              if (kind === 2 && depth < 4) {
                const fate = draw(3);
                const within = transaction.attempt(async () => {
                  const made = await inside(transaction, depth + 1);
                  if (fate === 1) throw new Error("no");
                  // The statement itself fails: PostgreSQL refuses all others up to the savepoint.
                  const [first] = made;
                  if (fate === 2 && first !== undefined)
                    await store.insert(things, tenant, { ...makeStored({}), id: first });
                  return made;
                });
                kept.push(...(await within.catch(() => [])));
              }
            }
            return kept;
          };
          for (const id of await write(database, (transaction) => inside(transaction, 0)))
            expected.add(id);
          const query = { ...all, sorts: [byId] };
          const found = await database.reader
            .of(documentStore)
            .select(things, tenant, query, { limit: 1_000, offset: 0, after: undefined });
          assert.deepEqual(new Set(found.map(({ id }) => id)), expected, `seed ${seed}`);
        }
      }));

    test("statements that a transaction runs at once wait for each other", () =>
      withDatabase(async (database, tenant) => {
        const counts = await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insert(things, tenant, makeStored({}));
          const reads = Array.from({ length: 6 }, (_, at) =>
            at % 2 === 0
              ? store.count(things, tenant, all)
              : store
                  .select(things, tenant, { ...all, sorts: [byId] }, firstPage)
                  .then(({ length }) => length),
          );
          const added = transaction.attempt(() => store.insert(things, tenant, makeStored({})));
          const last = store.count(things, tenant, all);
          const found = await Promise.all(reads);
          await added;
          return [...found, await last];
        });
        // The write comes in its turn, among those that are under way with it.
        assert.ok(
          counts.every((count) => count === 1 || count === 2),
          JSON.stringify(counts),
        );
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 2);
      }));

    test("one faulty transaction does not harm those beside it", () =>
      withDatabase(async (database, tenant) => {
        const twice = makeStored({});
        const outcomes = await Promise.allSettled([
          write(database, (tx) => tx.of(documentStore).insert(things, tenant, twice)),
          ...Array.from({ length: 8 }, () =>
            write(database, (tx) => tx.of(documentStore).insert(things, tenant, makeStored({}))),
          ),
          write(database, (tx) => tx.of(documentStore).insert(things, tenant, twice)),
        ]);
        assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 9);
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 9);
      }));

    test("work that ignores its deadline is refused and never commits", () =>
      withDatabase(async (database, tenant) => {
        const document = makeStored({});
        // Enough time for the work to begin, even on a busy machine.
        const lifetime = new Lifetime(monotonicMillis() + 500, { isGone: () => false });
        const late: Promise<unknown>[] = [];
        const refused = database.write({ lifetime }, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insert(things, tenant, document);
          await sleep(600);
          late.push(store.insert(things, tenant, makeStored({})));
          await late[0];
        });
        await assert.rejects(refused, (error) => codeOf(error) === "deadline_exceeded");
        while (late.length === 0) await sleep(10);
        await assert.rejects(Promise.all(late));
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("nothing commits for a caller who has gone", () =>
      withDatabase(async (database, tenant) => {
        let gone = false;
        const lifetime = new Lifetime(Infinity, { isGone: () => gone });
        const refused = database.write({ lifetime }, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insert(things, tenant, makeStored({}));
          gone = true;
        });
        await assert.rejects(refused);
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("a transaction whose statement failed does not commit, whatever its work returns", () =>
      withDatabase(async (database, tenant) => {
        const twice = makeStored({});
        const outcome = await Promise.allSettled([
          write(database, async (transaction) => {
            const store = transaction.of(documentStore);
            await store.insert(things, tenant, twice);
            await store.insert(things, tenant, twice).catch(() => undefined);
          }),
        ]);
        const found = await database.reader.of(documentStore).count(things, tenant, all);
        // An engine may commit the first row or refuse the transaction; its outcome says which.
        assert.equal(found, outcome[0]?.status === "fulfilled" ? 1 : 0);
      }));

    test("an attempt after the end of its transaction is refused and touches no other", () =>
      withDatabase(async (database, tenant) => {
        // Enough time for the work to begin, even on a busy machine.
        const lifetime = new Lifetime(monotonicMillis() + 500, { isGone: () => false });
        const late: Promise<unknown>[] = [];
        const overdue = database.write({ lifetime }, async (transaction) => {
          await sleep(560);
          const insert = (): Promise<void> =>
            transaction.of(documentStore).insert(things, tenant, makeStored({}));
          late.push(transaction.attempt(insert));
          await late[0];
        });
        await assert.rejects(overdue, (error) => codeOf(error) === "deadline_exceeded");
        const undone = write(database, (transaction) =>
          transaction.attempt(async () => {
            await transaction.of(documentStore).insert(things, tenant, makeStored({}));
            await sleep(500);
            throw new Error("no");
          }),
        );
        await assert.rejects(undone, /no/);
        while (late.length === 0) await sleep(10);
        await assert.rejects(Promise.all(late));
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("an attempt that fails after the end of its transaction undoes nothing of the next one", () =>
      withDatabase(async (database, tenant) => {
        const [early, late] = [makeStored({}), makeStored({})];
        const events = new EventEmitter();
        const forgotten: Promise<unknown>[] = [];
        await write(database, async (transaction) => {
          const begun = once(events, "begun");
          const over = once(events, "over");
          const attempt = transaction.attempt(async () => {
            await transaction.of(documentStore).insert(things, tenant, early);
            events.emit("begun");
            await over;
            throw new Error("no");
          });
          forgotten.push(attempt.catch((error: unknown) => error));
          await begun;
        });
        await write(database, (transaction) =>
          transaction.attempt(async () => {
            await transaction.of(documentStore).insert(things, tenant, late);
            events.emit("over");
            await Promise.all(forgotten);
          }),
        );
        const found = await database.reader.of(documentStore).get(things, tenant, late.id);
        assert.equal(found?.id, late.id);
      }));

    test("a caller is told 504 only where nothing commits", () =>
      withDatabase(async (database, tenant) => {
        const create = operation({
          operationId: "things.create",
          input: json(acceptAnything<Partial<Thing>>()),
          transaction: "write",
          run: documents.create(things),
        });
        const lifetime = new Lifetime(monotonicMillis() + 60, { isGone: () => false });
        const quick = lifetime.race(invoke(create, {}, contextOf(database, { tenant, lifetime })));
        const slow = write(database, () => sleep(200));
        const [told] = await Promise.allSettled([quick, slow]);
        const found = await database.reader.of(documentStore).count(things, tenant, all);
        assert.equal(found, told?.status === "fulfilled" ? 1 : 0);
      }));

    test("the reader does not write", () =>
      withDatabase(async (database, tenant) => {
        await assert.rejects(
          database.reader.of(documentStore).insert(things, tenant, makeStored({})),
        );
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("closing waits for what runs", async () => {
      const database = await harness.open();
      const tenant = uuidv7();
      const running = write(database, async (transaction) => {
        const store = transaction.of(documentStore);
        await sleep(50);
        await store.insert(things, tenant, makeStored({}));
      });
      await sleep(5);
      await Promise.all([database.close(), running]);
    });
  });
}
