// The first statement of a PostgreSQL transaction travels with BEGIN: a round trip less, and never a statement without its
// transaction.
import { describe, expect, test } from "vitest";
import { OpenTransaction } from "../../runtime/engines/postgres/open-transaction.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import { hasPgBouncer, startPgBouncer } from "../support/pgbouncer.js";
import {
  insertThing as insert,
  openTo,
  postgres,
  watchPostgres,
} from "../support/watched-postgres.js";

describe.skipIf(postgres === undefined)("the beginning of a transaction", () => {
  const watched = watchPostgres();
  const { said, closing, begin, stored } = watched;

  test("a transaction of one write is two messages with an answer each", async () => {
    const { connection, open } = await begin();
    await insert(open, 1);
    await open.commit(Lifetime.unlimited());
    connection.release();
    // Bind and Execute of BEGIN, then the statement, which is prepared, and one Sync.
    expect(said).toEqual(["B", "E", "P", "B", "D", "E", "S", "Q COMMIT"]);
    expect(await stored()).toEqual([1]);
  });

  test("what is undone is not there, and its connection serves the next", async () => {
    const first = await begin();
    await insert(first.open, 1);
    await expect(insert(first.open, 1)).rejects.toThrow();
    expect(await first.open.rollBack()).toBe(true);
    first.connection.release();
    const second = await begin();
    expect(second.connection.processId).toBe(first.connection.processId);
    await insert(second.open, 2);
    await second.open.commit(Lifetime.unlimited());
    second.connection.release();
    expect(await stored()).toEqual([2]);
  });

  test("a first statement that fails is told, and the same works on that connection later", async () => {
    const text = "INSERT INTO later VALUES (1)";
    const first = await begin();
    await expect(first.open.session.run(text, [])).rejects.toThrow();
    await expect(insert(first.open, 1)).rejects.toThrow();
    expect(await first.open.rollBack()).toBe(true);
    first.connection.release();
    await watched.admin.query("CREATE TABLE later (id int)");
    const second = await begin();
    expect(second.connection.processId).toBe(first.connection.processId);
    expect(await second.open.session.run(text, [])).toBe(1);
    await second.open.commit(Lifetime.unlimited());
    second.connection.release();
    expect(await stored()).toEqual([]);
  });

  test("no statement runs where the transaction has not begun, nor one that comes with it", async () => {
    const { connection, open } = await begin();
    // As a cancel that hits BEGIN: the server answers it with an error.
    await connection.query({ text: "DEALLOCATE ow_begin" }, Lifetime.unlimited());
    said.length = 0;
    const both = await Promise.allSettled([insert(open, 1), insert(open, 2)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    // The second was not even sent.
    expect(said).toEqual(["B", "E", "P", "B", "D", "E", "S"]);
    await open.rollBack();
    connection.release();
    expect(await stored()).toEqual([]);
    const next = await begin();
    expect(next.connection.processId).not.toBe(connection.processId);
    next.connection.release();
  });

  test("a first statement that is cancelled leaves nothing", async () => {
    const { connection, open } = await begin();
    await watched.admin.query("BEGIN; LOCK TABLE things");
    const lifetime = Lifetime.within(200);
    const late = new OpenTransaction(connection, lifetime);
    await expect(insert(late, 1)).rejects.toMatchObject({ code: "deadline_exceeded" });
    await watched.admin.query("COMMIT");
    expect(await late.rollBack()).toBe(true);
    open.end();
    connection.release();
    expect(await stored()).toEqual([]);
  });

  test("statements that come at once wait until it has begun, and reads do not", async () => {
    const { connection, open } = await begin();
    const read = (): Promise<unknown> => open.session.all("SELECT 1", []);
    await Promise.all([insert(open, 1), read(), insert(open, 2)]);
    await open.commit(Lifetime.unlimited());
    connection.release();
    expect(await stored()).toEqual([1, 2]);
  });

  test("a savepoint first: one message begins both", async () => {
    const { connection, open } = await begin();
    await open.attempt(() => insert(open, 1));
    await open.commit(Lifetime.unlimited());
    connection.release();
    expect(said.filter((one) => one.startsWith("Q"))).toEqual([
      "Q BEGIN; SAVEPOINT attempt_1",
      "Q COMMIT",
    ]);
    expect(await stored()).toEqual([1]);
  });

  test.skipIf(!hasPgBouncer)(
    "a pooler that nobody has told of is named where it breaks a beginning",
    async () => {
      const { url, drop } = (await postgres?.create()) ?? { url: "", drop: async () => undefined };
      closing.push(drop);
      const pooler = await startPgBouncer(url, {
        ignore_startup_parameters:
          "options, statement_timeout, idle_in_transaction_session_timeout, extra_float_digits",
      });
      closing.push(() => pooler.stop());
      const connectOnce = async (): Promise<void> => {
        const through = openTo(pooler.url(url));
        try {
          const work = { lifetime: Lifetime.within(5_000), payer: null };
          (await through.acquire(work)).release();
        } finally {
          await through.close();
        }
      };
      await connectOnce();
      // The pooler lends the session in which the statement is prepared already.
      const refused: unknown = await connectOnce().catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "core.unavailable" });
      expect(String((refused as Error).cause)).toContain("set DATABASE_POOLER=transaction");
    },
  );
});
