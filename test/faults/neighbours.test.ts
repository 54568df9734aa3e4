// Noisy neighbours: what one caller does to stop the service, beside innocent callers whose answers must all come
// (attacks 73, 74, 75, 77, 88, 107).
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client as Postgres } from "pg";
import { WebSocket } from "ws";
import { engines, type FreshDatabase } from "../support/engines.js";
import { faultsOf } from "./answers.js";
import { newClient, type Client, type Outcome } from "./client.js";
import { dearestBody, dearQueries } from "./dear-queries.mjs";
import { isSuccess, startWorkers, type Load } from "./load.js";
import { startObjectLoad } from "./object-load.js";
import { busyShare, peakMebibytes, residentMebibytes } from "./observe.js";
import { loadPlaces } from "./places.js";
import { startSubject, type Subject } from "./subject.js";
import { startTaskLoad } from "./task-load.js";

const attacker = "127.0.0.9";
/** Longer than this nobody innocent waits, on a busy machine. */
const patienceMillis = 4_000;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`neighbours on ${engine.name}`, () => {
    let database: FreshDatabase;
    let subject: Subject;
    let innocents: readonly Load[] = [];
    beforeAll(async () => {
      database = await engine.create();
      await loadPlaces(database.url, 20_000);
      subject = await startSubject({
        DATABASE_URL: database.url,
        NODE_OPTIONS: "--max-old-space-size=512",
        // So that what a budget would refuse has to be borne: other bounds hold as well.
        QUERY_BUDGET_ANONYMOUS: "none",
        IDLE_SECONDS: "2",
        STALL_SECONDS: "3",
      });
      const anonymous = newClient(subject.url, { address: "127.0.0.2" });
      const first = await anonymous.call("POST", "/places/list", { body: { size: 1 } });
      const place = `/places/${first.body.hits[0].id}`;
      innocents = [
        startTaskLoad(subject.client, { seconds: patienceMillis / 1_000 }),
        startObjectLoad(subject.client, { seconds: patienceMillis / 1_000 }),
        startWorkers(anonymous, [
          (by) => by.call("GET", place),
          (by) => by.call("POST", "/places/list", { body: { size: 5 } }),
        ]),
      ];
      for (const load of innocents) await load.successes(5);
    }, 240_000);
    afterAll(async () => {
      for (const load of innocents) await load.stop();
      await subject.dispose();
      await database.drop();
    });

    /** Holds that nobody innocent is refused or waits while `attack` runs, and that probes say all is well. */
    const beside = async <T>(attack: () => Promise<T>): Promise<T> => {
      for (const load of innocents) load.takeOutcomes();
      const probes: Outcome[] = [];
      const attacking = attack();
      const ended = attacking.then(
        () => true,
        () => true,
      );
      do
        for (const path of ["/livez", "/readyz"])
          probes.push(await subject.stranger.call("GET", path));
      while (!(await Promise.race([ended, sleep(200, false)])));
      const result = await attacking;
      // What is under way now was sent beside the attack.
      for (const load of innocents) await load.successes(8);
      const seen = [...probes, ...innocents.flatMap((load) => load.takeOutcomes())];
      const wrong = seen.filter(
        (outcome) => !isSuccess(outcome) || outcome.millis > patienceMillis,
      );
      const longest = Math.max(...wrong.map(({ millis }) => millis));
      expect(
        wrong.length === 0
          ? []
          : [
              `${wrong.length} of ${seen.length}, up to ${Math.round(longest)} ms`,
              describeAll(wrong),
            ],
      ).toEqual([]);
      return result;
    };

    describe.each(dearQueries)("$what", (query) => {
      let bad: Client;
      let body: unknown;
      beforeAll(async () => {
        bad = newClient(subject.url, { address: attacker, sockets: 64 });
        body = await dearestBody(query, async (dear) => {
          const { status, body: answer } = await bad.call("POST", query.path, { body: dear });
          return { status, code: answer?.code };
        });
      });
      afterAll(() => bad.close());

      test("20 at a time", async () => {
        const answers = await beside(async () => {
          const until = performance.now() + 2_000;
          const workers = Array.from({ length: 20 }, async () => {
            const got: Outcome[] = [];
            do got.push(await bad.call("POST", query.path, { body, patienceMillis: 6_000 }));
            while (performance.now() < until);
            return got;
          });
          return (await Promise.all(workers)).flat();
        });
        const unknown = answers.filter(
          ({ status, headers, fault }) =>
            ![200, 422, 504].includes(status) &&
            // Whoever has not been answered by then has gone.
            fault !== "no answer" &&
            !([429, 503].includes(status) && headers["retry-after"] !== undefined),
        );
        expect(describeAll(unknown)).toEqual("");
      });

      test("half a second of patience is half a second", async () => {
        const answers = await beside(() =>
          Promise.all(
            Array.from({ length: 20 }, () =>
              bad.call("POST", query.path, { body, headers: { "x-deadline-budget": "0.5" } }),
            ),
          ),
        );
        const late = answers.filter(({ millis }) => millis > 500 + patienceMillis);
        expect(describeAll(late)).toEqual("");
      });

      test("work ends when its caller goes", async () => {
        await beside(async () => {
          await Promise.all(
            Array.from({ length: 12 }, () =>
              bad.call("POST", query.path, { body, patienceMillis: 300 }),
            ),
          );
        });
        await expect.poll(() => statementsOf(database.url, "places"), { timeout: 5_000 }).toBe(0);
      });
    });

    test("when all callers have gone, the process is idle", async () => {
      const bad = newClient(subject.url, { address: attacker, sockets: 64 });
      for (const query of dearQueries)
        await Promise.all(
          Array.from({ length: 6 }, () =>
            bad.call("POST", query.path, { body: query.body(query.most), patienceMillis: 200 }),
          ),
        );
      bad.close();
      // The innocent take their part.
      await expect
        .poll(() => busyShare(subject.process.child), { timeout: 10_000 })
        .toBeLessThan(0.8);
    });

    test("400 requests for 10 000 rows each on one connection, and nothing read", async () => {
      const before = residentMebibytes(subject.process.child);
      const payload = JSON.stringify({ size: 10_000 });
      const one = `POST /places/list HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`;
      const attack = beside(async () => {
        const sockets = [1, 2, 3].map(() => deafSocket(subject.url, one.repeat(400)));
        await Promise.all(sockets.map(({ ended }) => ended));
      });
      const peak = await peakMebibytes(subject.process.child, attack);
      await attack;
      expect(peak - before).toBeLessThan(300);
    });

    test("100 000 frames of one byte on a WebSocket", async () => {
      const { token } = subject.client;
      const socket = new WebSocket(`${subject.url.replace("http", "ws")}/realtime/ws`, {
        headers: { authorization: `Bearer ${token}` },
        localAddress: attacker,
      });
      socket.on("error", () => undefined);
      await new Promise((resolve, reject) => {
        socket.once("open", resolve);
        socket.once("error", reject);
      });
      await beside(async () => {
        for (let sent = 0; sent < 100_000 && socket.readyState === WebSocket.OPEN; sent += 1) {
          socket.send("x");
          if (sent % 5_000 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        // Until the service has ended it, or has had time for all of them.
        const closed = new Promise((resolve) => socket.once("close", resolve));
        await Promise.race([closed, sleep(4_000)]);
      });
      socket.terminate();
    });

    test("a flood of logins, beside uploads and downloads", async () => {
      const bad = newClient(subject.url, { address: attacker, sockets: 64 });
      const answers = await beside(async () => {
        const until = performance.now() + 3_000;
        let number = 0;
        const workers = Array.from({ length: 40 }, async () => {
          const got: Outcome[] = [];
          while (performance.now() < until) {
            const login = {
              login: `nobody${(number += 1)}@example.test`,
              password: "wrong password",
            };
            got.push(await bad.call("POST", "/auth/login", { body: login }));
          }
          return got;
        });
        return (await Promise.all(workers)).flat();
      });
      bad.close();
      const unknown = answers.filter(
        ({ status, headers }) =>
          status !== 401 && !([429, 503].includes(status) && headers["retry-after"] !== undefined),
      );
      expect(describeAll(unknown)).toEqual("");
    });

    test("2 000 connections that say nothing: others are served, and they are ended", async () => {
      const silent: Socket[] = [];
      let ended = 0;
      await beside(async () => {
        for (let index = 0; index < 2_000; index += 1) {
          const socket = connect({
            port: Number(new URL(subject.url).port),
            host: "127.0.0.1",
            localAddress: attacker,
          });
          socket.on("error", () => undefined);
          socket.on("close", () => (ended += 1));
          // Else an end would not be seen.
          socket.resume();
          silent.push(socket);
          if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        await sleep(1_000);
      });
      await expect.poll(() => ended, { timeout: 15_000 }).toBe(silent.length);
    });

    test("after all of it, nothing was lost and nothing leaked", async () => {
      for (const load of innocents) await load.stop();
      expect(innocents.flatMap(({ outcomes }) => faultsOf(outcomes))).toEqual([]);
      await subject.expectMissing();
      expect(await subject.stop()).toBeLessThan(9_000);
    });
  });
}

function describeAll(outcomes: readonly Outcome[]): string {
  const one = ({ method, path, status, fault, body }: Outcome): string =>
    `${method} ${path.replaceAll(/[0-9a-f-]{36}.*/g, "ID")} ${status === 0 ? fault : status} ${body?.code ?? ""}`;
  return [...new Set(outcomes.map(one))].join("; ");
}

/** A connection that sends all at once and reads nothing; `ended` resolves when the service has given it up. */
function deafSocket(url: string, bytes: string): { readonly ended: Promise<void> } {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: attacker });
  socket.pause();
  socket.write(bytes);
  return {
    ended: new Promise((resolve, reject) => {
      // Who does not read hears of the end only when he writes.
      const knocking = setInterval(() => socket.write("\r\n"), 250);
      const patience = setTimeout(() => {
        socket.destroy();
        reject(new Error("the service keeps a connection whose answers are not read"));
      }, 25_000);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        clearInterval(knocking);
        clearTimeout(patience);
        resolve();
      });
    }),
  };
}

/** How many statements about a table a PostgreSQL database runs now; an embedded one is not asked. */
async function statementsOf(url: string, table: string): Promise<number> {
  if (!url.startsWith("postgres")) return 0;
  const client = new Postgres({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
         AND query LIKE '%' || $1 || '%' AND now() - query_start > interval '200 milliseconds'`,
      [table],
    );
    return rows[0]?.n ?? 0;
  } finally {
    await client.end();
  }
}
