// Signals on topics that are lost while the bus is away: clients that stay connected are told once it is back, on every
// transport, whichever side of the bus failed and whoever noticed (decisions.md §2: loss is never silent; attack 158).
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { Client } from "../support/realtime-clients.js";
import { buses, type FreshBus } from "../support/bus-engines.js";
import { databaseAt, type FreshDatabase } from "../support/engines.js";
import { freePort } from "../support/free-port.js";
import { earsOf, expectAnnounced, postgres, startPair, type Pair } from "./bus-pair.js";
import { startProxy, type Mode, type Proxy } from "./proxy.js";

const available = buses.filter(({ isAvailable }) => isAvailable && postgres?.isAvailable === true);
describe.each(available)("a bus over $name behind a network that fails", (engine) => {
  let bus: FreshBus;
  let database: FreshDatabase;
  let pair: Pair;
  let ears: readonly Client[] = [];
  const ways: Record<"here" | "there", Proxy | undefined> = { here: undefined, there: undefined };
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    bus = await engine.create();
    database =
      engine.name === "postgres" ? databaseAt(bus.url, () => bus.drop()) : await postgres.create();
    const { hostname, port } = new URL(bus.url);
    const usual = engine.name === "postgres" ? 5432 : 6379;
    const way = (): Promise<Proxy> => startProxy(hostname, Number(port || usual));
    const [here, there] = [await way(), await way()];
    Object.assign(ways, { here, there });
    pair = await startPair(database, [here.url(bus.url), there.url(bus.url)]);
    ears = await earsOf(pair);
  });
  afterAll(async () => {
    for (const client of ears) client.close();
    await pair.stop();
    await ways.here?.close();
    await ways.there?.close();
    await database.drop();
    if (engine.name === "redis") await bus.drop();
  });

  const refuses = ["refuses", { kind: "refuse" }] as const;
  const silent = ["is silent", { kind: "silent" }] as const;
  const mute = ["hears and says nothing", { kind: "half-open", dead: "down" }] as const;
  const deaf = ["hears nothing", { kind: "half-open", dead: "up" }] as const;
  // What else is half-open loses no signal: a sender's answers, a listener's questions.
  const faults: readonly (readonly ["there" | "here", string, Mode])[] = [
    ...[refuses, silent, mute].map((fault) => ["there", ...fault] as const),
    ...[refuses, silent, deaf].map((fault) => ["here", ...fault] as const),
  ];
  test.each(faults)("%s, the network that %s", async (side, _what, mode) => {
    await expectAnnounced(pair, ears, {
      async begin() {
        await ways[side]?.become(mode);
        if (mode.kind === "refuse") ways[side]?.cut();
      },
      end: () => ways[side]?.become({ kind: "pass" }),
    });
  });
});

describe.skipIf(!existsSync("/usr/bin/redis-server") || postgres?.isAvailable !== true)(
  "a Redis that dies and comes back",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "opwright-redis-"));
    let port = 0;
    let server: ChildProcess;
    let database: FreshDatabase;
    let pair: Pair;
    let ears: readonly Client[] = [];
    const begin = (): ChildProcess =>
      spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
        cwd: folder,
        stdio: "ignore",
      });
    const kill = async (): Promise<void> => {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    };
    beforeAll(async () => {
      if (postgres === undefined) throw new Error("there is no PostgreSQL");
      port = await freePort();
      server = begin();
      database = await postgres.create();
      const url = `redis://127.0.0.1:${port}`;
      pair = await startPair(database, [url, url]);
      ears = await earsOf(pair);
    });
    afterAll(async () => {
      for (const client of ears) client.close();
      await pair.stop();
      await kill();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("signals sent meanwhile are announced as lost", async () => {
      await expectAnnounced(pair, ears, { begin: kill, end: () => void (server = begin()) });
    });
  },
);
