// Statements of a PostgreSQL transaction that nobody asks about: whoever writes goes on, COMMIT follows without waiting, and
// still nothing is committed where one of them failed.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { OpenTransaction } from "../../runtime/engines/postgres/open-transaction.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import {
  insertThing as insert,
  pipelineThing as pipeline,
  postgres,
  watchPostgres,
} from "../support/watched-postgres.js";

/** What a statement is, apart from its preparation: a process names so many at most. */
const known = ["B", "D", "E", "S"];

const unlimited = Lifetime.unlimited();

/** As the engine does it. */
async function commit(open: OpenTransaction, lifetime = unlimited): Promise<void> {
  await open.allSent();
  await open.commit(lifetime);
}

describe.skipIf(postgres === undefined)("statements that nobody asks about", () => {
  const watched = watchPostgres();
  const { said, begin, stored, holdAnswers } = watched;
  const sent = (): readonly string[] => said.filter((one) => one !== "P");

  test("a transaction of one such write has its COMMIT on the way before any answer", async () => {
    const { connection, open } = await begin();
    const release = holdAnswers();
    await pipeline(open, 1);
    const committed = commit(open);
    await expect.poll(() => sent()).toEqual(["B", "E", ...known, "Q COMMIT"]);
    release();
    await committed;
    connection.release();
    expect(await stored()).toEqual([1]);
  });

  test("behind a statement that was waited for, all of them and COMMIT are one wait", async () => {
    const { connection, open } = await begin();
    await insert(open, 1);
    said.length = 0;
    const release = holdAnswers();
    for (const id of [2, 3, 4]) await pipeline(open, id);
    const committed = commit(open);
    await expect.poll(() => sent()).toEqual([...known, ...known, ...known, "Q COMMIT"]);
    release();
    await committed;
    connection.release();
    expect(await stored()).toEqual([1, 2, 3, 4]);
  });

  test("later statements see what was written, in order", async () => {
    const { connection, open } = await begin();
    await pipeline(open, 1);
    await pipeline(open, 2);
    const rows = await open.session.all("SELECT id FROM things ORDER BY id", []);
    expect(rows).toEqual([{ id: 1 }, { id: 2 }]);
    await pipeline(open, 3);
    expect(await open.session.run("DELETE FROM things WHERE id > $1", [1])).toBe(2);
    await commit(open);
    connection.release();
    expect(await stored()).toEqual([1]);
  });

  test("one that fails fails the commit with its own error, and the connection serves the next", async () => {
    const { connection, open } = await begin();
    for (const id of [1, 1, 2]) await pipeline(open, id);
    open.expectIdle();
    await expect(commit(open)).rejects.toMatchObject({ index: "things_pkey" });
    expect(open.isUndone).toBe(true);
    connection.release();
    expect(await stored()).toEqual([]);
    const next = await begin();
    expect(next.connection.processId).toBe(connection.processId);
    await pipeline(next.open, 5);
    await commit(next.open);
    next.connection.release();
    expect(await stored()).toEqual([5]);
  });

  test("whoever waits for a later one is told of the first that failed", async () => {
    const { connection, open } = await begin();
    await pipeline(open, 1);
    await pipeline(open, 1);
    await expect(insert(open, 2)).rejects.toMatchObject({ index: "things_pkey" });
    expect(await open.rollBack()).toBe(true);
    connection.release();
    expect(await stored()).toEqual([]);
  });

  test("an attempt fails with what failed in it, and what came before and after is kept", async () => {
    const { connection, open } = await begin();
    await pipeline(open, 1);
    await pipeline(open, 2);
    const attempt = open.attempt(async () => {
      await pipeline(open, 3);
      await pipeline(open, 1);
    });
    await expect(attempt).rejects.toMatchObject({ index: "things_pkey" });
    await open.attempt(() => pipeline(open, 4));
    await pipeline(open, 5);
    await commit(open);
    connection.release();
    expect(await stored()).toEqual([1, 2, 4, 5]);
  });

  test("an attempt behind one that failed is told of that, and so is the commit", async () => {
    const { connection, open } = await begin();
    for (const id of [1, 1]) await pipeline(open, id);
    const refused = { index: "things_pkey" };
    const attempts = [1, 2].map(() => open.attempt(() => insert(open, 2)));
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject(refused);
    await expect(commit(open)).rejects.toMatchObject(refused);
    expect(await open.rollBack()).toBe(true);
    connection.release();
    expect(await stored()).toEqual([]);
  });

  test("where the transaction has not begun, nothing is committed, and the commit fails", async () => {
    for (const ids of [[1], [1, 2]]) {
      const { connection, open } = await begin();
      // As a cancel that hits BEGIN: the server answers it with an error.
      await connection.query({ text: "DEALLOCATE ow_begin" }, unlimited);
      for (const id of ids) await pipeline(open, id);
      await expect(commit(open)).rejects.toThrow();
      connection.release(!open.isUndone);
      expect(await stored()).toEqual([]);
    }
  });

  test("one that waits for a lock is cancelled at the deadline: the commit says so, and is none", async () => {
    const { connection } = await begin();
    await watched.admin.query("BEGIN; LOCK TABLE things");
    const lifetime = Lifetime.within(300);
    const open = new OpenTransaction(connection, lifetime);
    await pipeline(open, 1);
    await expect(commit(open, lifetime)).rejects.toMatchObject({ code: "deadline_exceeded" });
    expect(open.isUndone).toBe(true);
    await watched.admin.query("COMMIT");
    connection.release();
    expect(await stored()).toEqual([]);
  });

  test.each(["the deadline", "the caller"])(
    "nothing is committed where %s comes between two of them",
    async (what) => {
      const { connection } = await begin();
      let isGone = false;
      let tellGone = (): void => undefined;
      const caller = {
        isGone: () => isGone,
        onGone: (listener: () => void) => void (tellGone = listener),
      };
      const deadline = what === "the deadline" ? performance.now() + 200 : Infinity;
      const lifetime = new Lifetime(deadline, caller);
      const open = new OpenTransaction(connection, lifetime);
      const release = holdAnswers();
      await pipeline(open, 1);
      await pipeline(open, 2);
      open.end();
      const committed = commit(open, lifetime);
      committed.catch(() => undefined);
      // The server has run the first, and nobody knows it yet.
      await expect.poll(() => said.length).toBeGreaterThan(0);
      await sleep(what === "the deadline" ? 300 : 50);
      if (what === "the caller") {
        isGone = true;
        tellGone();
      }
      release();
      await expect(committed).rejects.toMatchObject({
        code: what === "the deadline" ? "deadline_exceeded" : "core.timeout",
      });
      expect(said).not.toContain("Q COMMIT");
      expect(await open.rollBack()).toBe(true);
      connection.release();
      expect(await stored()).toEqual([]);
    },
  );

  test("undoing leaves none of them, also of those that have not been sent yet", async () => {
    const { connection, open } = await begin();
    const release = holdAnswers();
    for (const id of [1, 2, 3]) await pipeline(open, id);
    open.end();
    await expect(pipeline(open, 4)).rejects.toMatchObject({ code: "core.timeout" });
    const undone = open.rollBack();
    release();
    expect(await undone).toBe(true);
    connection.release();
    expect(await stored()).toEqual([]);
  });

  test("many more than the server takes at once are all written", async () => {
    const { connection, open } = await begin();
    for (let id = 0; id < 1_000; id += 1) await pipeline(open, id);
    await commit(open);
    connection.release();
    expect((await stored()).length).toBe(1_000);
  });
});
