// Cancels at a PostgreSQL server: one that comes late ends nobody else's statement, one without an answer delays nobody
// (architecture.md "Work is bounded": time).
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  openConnections,
  type PostgresConnections,
} from "../../runtime/engines/postgres/connections.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import type { Payer } from "../../runtime/ports/work.js";
import { engines } from "../support/engines.js";
import { startProxy, type Proxy } from "../faults/proxy.js";

const postgres = engines.find(({ name }) => name === "postgres");

/** Doors in the database: what passes one waits while the test keeps it shut. */
const door = { cancels: 1, statement: 2, next: 3 };
const pass = (which: number): string => `pg_advisory_xact_lock_shared(${which})`;

const prepare = `
  CREATE SCHEMA late;
  CREATE FUNCTION late.pg_cancel_backend(pid int) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN PERFORM ${pass(door.cancels)}; RETURN pg_catalog.pg_cancel_backend(pid); END $$;
  -- Ends at its second cancel.
  CREATE FUNCTION public.stubborn() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    BEGIN PERFORM ${pass(door.statement)}; EXCEPTION WHEN query_canceled THEN NULL; END;
    PERFORM ${pass(door.statement)};
  END $$;`;

const one: Payer = { key: "one", isAnonymous: false };
const two: Payer = { key: "two", isAnonymous: false };

describe.skipIf(postgres?.isAvailable !== true)("connections to PostgreSQL", () => {
  let admin: pg.Client;
  let proxy: Proxy;
  let connections: PostgresConnections;
  const opened: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const { url, drop } = await postgres.create();
    opened.push(drop);
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
    opened.push(() => admin.end());
    await admin.query(prepare);
    const { hostname, port, pathname } = new URL(url);
    // The service's own calls find the function that waits.
    const database = pathname.slice(1);
    await admin.query(`ALTER DATABASE ${database} SET search_path = late, pg_catalog, public`);
    proxy = await startProxy(hostname, Number(port || 5432));
    opened.push(() => proxy.close());
    connections = openConnections(pg, {
      url: proxy.url(url),
      // One of each of two callers, and two of the service.
      size: 4,
      isShared: false,
      statementMillis: 60_000,
      typeParser: (oid, format) => pg.types.getTypeParser(oid, format),
    });
  });
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
  });

  const shut = (which: number) => admin.query("SELECT pg_advisory_lock($1)", [which]);
  const open = (which: number) => admin.query("SELECT pg_advisory_unlock($1)", [which]);
  const count = async (text: string, values: readonly unknown[]): Promise<number> => {
    const { rows } = await admin.query<{ n: number }>(`SELECT count(*)::int AS n ${text}`, [
      ...values,
    ]);
    return rows[0]?.n ?? 0;
  };
  const waitingAt = (which: number): Promise<number> =>
    count(
      `FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [which],
    );
  /** Backends in this state whose last statement has this in it. */
  const backends = (state: string, query: string): Promise<number> =>
    count(
      `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND state = $1 AND strpos(query, $2) > 0`,
      [state, query],
    );

  /** A statement of a caller who waits for it until `leave` is called. */
  const run = async (payer: Payer, text: string) => {
    let leave = (): void => undefined;
    const lifetime = new Lifetime(Infinity, {
      isGone: () => false,
      onGone: (listener) => (leave = listener),
    });
    const connection = await connections.acquire({ lifetime, payer });
    const ended = connection
      .query({ text }, lifetime)
      .then(
        ({ rows }): unknown => rows,
        (error: unknown) => error,
      )
      .finally(() => connection.release());
    return { ended, leave: () => leave() };
  };

  const fails = `SELECT 1 / length(${pass(door.statement)}::text)`;

  test("one of several servers that says nothing holds up nobody", async () => {
    const { port } = new URL(proxy.url("postgres://a/b"));
    const { user, database } = admin;
    const other = await startProxy("127.0.0.1", admin.port);
    opened.push(() => other.close());
    const several = openConnections(pg, {
      url: `postgres://${user}@127.0.0.1:${port},127.0.0.1:${other.port}/${database}`,
      size: 6,
      isShared: false,
      statementMillis: 60_000,
      typeParser: (oid, format) => pg.types.getTypeParser(oid, format),
    });
    opened.push(() => several.close());
    const use = async (key: string): Promise<unknown> => {
      // Less than one attempt to connect takes that is never answered.
      const lifetime = Lifetime.within(1_900);
      const connection = await several.acquire({ lifetime, payer: { key, isAnonymous: false } });
      try {
        return (await connection.query({ text: "SELECT 1 AS one" }, lifetime)).rows[0]?.["one"];
      } finally {
        connection.release();
      }
    };
    const useAll = () => Promise.all(["a", "b", "c", "d"].map(use));
    expect(await useAll()).toEqual([1, 1, 1, 1]);
    for (const [silent, well] of [
      [proxy, other],
      [other, proxy],
    ] as const) {
      await well.become({ kind: "pass" });
      await silent.become({ kind: "silent" });
      silent.cut();
      // The pool hears of the ends of its idle connections.
      await expect.poll(() => silent.open).toBe(0);
      await sleep(200);
      expect(await useAll()).toEqual([1, 1, 1, 1]);
    }
  });

  test.each([
    ["that has been answered", `SELECT ${pass(door.statement)}`, false],
    ["that has failed by itself", fails, false],
    ["that has failed once the cancel was given up", fails, true],
  ])(
    "a cancel that comes late, for a statement %s, does not end the next one",
    async (_of, text, isGivenUp) => {
      for (const which of Object.values(door)) await shut(which);
      const first = await run(one, text);
      await expect.poll(() => waitingAt(door.statement)).toBe(1);
      first.leave();
      await expect.poll(() => waitingAt(door.cancels)).toBe(1);
      // The one of the cancel goes.
      if (isGivenUp) await expect.poll(() => proxy.open).toBe(1);
      await open(door.statement);
      await first.ended;
      const next = await run(one, `SELECT 'whole' AS it FROM ${pass(door.next)}`);
      await expect.poll(() => waitingAt(door.next)).toBe(1);
      await open(door.cancels);
      await expect.poll(() => backends("active", "pg_cancel_backend")).toBe(0);
      await open(door.next);
      expect(await next.ended).toEqual([{ it: "whole" }]);
      await connections.close();
    },
  );

  test("a cancel whose answer is lost delays no other, and its connection is destroyed", async () => {
    await shut(door.statement);
    const before = await run(one, `SELECT ${pass(door.statement)}`);
    await expect.poll(() => waitingAt(door.statement)).toBe(1);
    before.leave();
    await before.ended;
    // Cancels have their connection now.
    const ignoring = await run(one, "SELECT public.stubborn()");
    const waiting = await run(two, `SELECT ${pass(door.statement)}`);
    await expect.poll(() => waitingAt(door.statement)).toBe(2);
    await shut(door.cancels);
    ignoring.leave();
    waiting.leave();
    await expect.poll(() => waitingAt(door.cancels)).toBe(1);
    await proxy.become({ kind: "half-open", dead: "down" });
    await open(door.cancels);
    await expect.poll(() => backends("idle", "pg_cancel_backend")).toBe(1);
    // What lost its answer stays silent.
    await proxy.become({ kind: "pass" });
    await ignoring.ended;
    await waiting.ended;
    await expect.poll(() => backends("active", `SELECT ${pass(door.statement)}`)).toBe(0);
    // The other one heeded nothing, so that the lost answer was the cancel's alone.
    expect(await backends("active", "stubborn")).toBe(1);
    await connections.close();
    await expect.poll(() => proxy.open).toBe(0);
  });
});
