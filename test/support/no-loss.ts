// Schedules under which nothing durable may be lost: two server processes on PostgreSQL and Redis, writers whose
// transactions overlap, devices that come and go, a bus that is cut, processes that are killed.
import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { identitySpec } from "../../generated/identity.js";
import { service as reference } from "../../generated/service.js";
import { issueSession } from "../../runtime/families/identity/operations.js";
import { createPrincipal } from "../../runtime/families/identity/provision.js";
import { silentLog } from "../../runtime/ports/log.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import { connect, type ServiceConnection } from "../../runtime/server/connect.js";
import { readSettings } from "../../runtime/server/settings.js";
import { engines } from "./engines.js";
import { Device, type Transport } from "./no-loss-device.js";
import { generated } from "./service.js";
import { tenantStore } from "../../runtime/ports/tenants.js";

const root = new URL("../..", import.meta.url).pathname;
const writers = 16;
/** Rounds at the end of a schedule in which one device comes back while one signal is sent. */
const lastWords = 4;
/** A connected device hears what was committed within so many milliseconds, before the plane heals what a bus has lost. */
const patienceMillis = 9_000;
/** A process that is killed between a commit and its word on the bus is made up for by the healing, each 10 seconds. */
const patienceAfterKillMillis = 14_000;

/** Two processes, their database and bus, and the people of all schedules. */
export interface World {
  /** Runs one schedule. Throws with what was lost, or came out of order. */
  run(seed: number): Promise<void>;
  /** What has really been done to it: connections of the bus that were cut, processes that were killed. */
  readonly done: { cuts: number; kills: number };
  stop(): Promise<void>;
}

/** Starts a world whose processes run the compiled code of a package: this one, or a copy of it. */
export async function startWorld(packageFolder = root): Promise<World> {
  const postgres = engines.find(({ name }) => name === "postgres");
  const redisUrl = process.env["OPWRIGHT_TEST_REDIS"] ?? "";
  if (postgres === undefined) throw new Error("there is no PostgreSQL");
  const database = await postgres.create();
  const data = mkdtempSync(join(tmpdir(), "opwright-no-loss-"));
  const name = `no-loss-${uuidv7()}`;
  const environment = {
    PORT: "0",
    DATABASE_URL: database.url,
    DATABASE_POOL: "10",
    BUS_URL: redisUrl,
    DATA_DIR: data,
  };
  const definition = { ...reference, name };
  const connection = await connect(definition, {
    settings: readSettings(definition, environment),
    folder: generated,
    log: silentLog,
  });
  const people = await Promise.all(
    Array.from({ length: 3 }, (_, at) =>
      createPrincipal(connection.context("test.people"), {
        login: `p${at}@example.test`,
        password: "a long password",
      }),
    ),
  );
  const admin = createClient({ url: redisUrl });
  await admin.connect();
  const start = (): Promise<Server> => startServer(packageFolder, name, environment);
  const servers = await Promise.all([start(), start()]);
  const done = { cuts: 0, kills: 0 };
  return {
    done,
    run: (seed) =>
      runSchedule(seed, {
        connection,
        people,
        servers,
        async cutBus() {
          const list = String(await admin.sendCommand(["CLIENT", "LIST", "TYPE", "pubsub"]));
          const mine = list.split("\n").filter((line) => line.includes(`opwright:${name}:`));
          for (const line of mine) {
            const id = /\bid=(\d+)/.exec(line)?.[1] ?? "";
            // One that is gone already is none that was cut.
            const isCut = await admin.sendCommand(["CLIENT", "KILL", "ID", id]).then(
              () => true,
              () => false,
            );
            if (isCut) done.cuts += 1;
          }
        },
        async kill(at) {
          if (servers[at]?.child.kill("SIGKILL") === true) done.kills += 1;
          servers[at] = await start();
        },
      }),
    async stop() {
      for (const { child } of servers) child.kill("SIGKILL");
      await admin.close();
      await connection.close();
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startServer(
  packageFolder: string,
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<Server> {
  const script = join(packageFolder, "test/tools/realtime-server.mjs");
  const child = spawn(process.execPath, [script, generated, name], {
    cwd: packageFolder,
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.endsWith("\n")) resolve(text.trim());
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, url };
}

interface Stage {
  readonly connection: ServiceConnection;
  readonly people: readonly string[];
  readonly servers: readonly Server[];
  cutBus(): Promise<void>;
  kill(at: number): Promise<void>;
}

async function runSchedule(seed: number, stage: Stage): Promise<void> {
  const { connection, people, servers } = stage;
  // Each actor draws from numbers of its own, so that what one does does not hang on when another one is done.
  const { pick } = dice(seed, "setting");

  const tenant = uuidv7();
  const tokens = await connection.write("test.people", async (context) => {
    const tenants = context.transaction.of(tenantStore);
    await tenants.addTenant({ id: tenant, key: `seed-${seed}-${tenant}`, isActive: true });
    const made: string[] = [];
    for (const principalId of people) {
      await tenants.addMember(tenant, principalId);
      const session = await issueSession(identitySpec, context, { principalId, tenant });
      made.push(session.access_token);
    }
    return made;
  });
  const devices = people.flatMap((principal, at) => {
    const places = new Map<number, string>();
    return [0, 1].map((index) => ({
      principal,
      device: new Device(
        `p${at}d${index}`,
        pick<Transport>(["websocket", "sse", "socketio"]),
        tokens[at] ?? "",
        places,
      ),
    }));
  });
  /** Texts that were answered with success, by who must hear them, in the order of the answers of each writer. */
  const owed = new Map<string, string[][]>(people.map((one) => [one, []]));
  const written = new AbortController();

  /** Sends a text; whether it is known to have been committed. */
  const send = async (
    draw: Dice,
    text: string,
    to: readonly string[],
    hold: number,
  ): Promise<boolean> => {
    try {
      const answer = await fetch(`${draw.pick(servers).url}/send`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${draw.pick(tokens)}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ to, text, hold }),
      });
      await answer.text();
      if (answer.status !== 200 && answer.status < 500) throw new Error(`/send: ${answer.status}`);
      return answer.status === 200;
    } catch (error) {
      // Nobody knows what became of it: the process was killed.
      if (error instanceof TypeError) return false;
      throw error;
    }
  };
  const write = async (writer: number): Promise<void> => {
    const draw = dice(seed, `writer ${writer}`);
    const { random, upTo } = draw;
    const [count, breaks] = [2 + upTo(4), 10 + upTo(20)];
    const lists = new Map(people.map((one) => [one, [] as string[]]));
    for (const [one, list] of lists) owed.get(one)?.push(list);
    for (let index = 0; index < count; index += 1) {
      const to = people.filter(() => random() < 0.5);
      const text = `${seed}/${writer}/${index}`;
      if (await send(draw, text, to, random() < 0.3 ? 0 : upTo(25)))
        for (const one of to) lists.get(one)?.push(text);
      await sleep(upTo(breaks));
    }
  };
  const live = async (device: Device): Promise<void> => {
    const { random, upTo, pick } = dice(seed, device.name);
    while (!written.signal.aborted) {
      await sleep(5 + upTo(60));
      const chance = random();
      if (!device.isConnected) device.connect(pick(servers).url, chance < 0.4);
      else if (chance < 0.2) device.vanish();
      else if (chance < 0.35) device.lag(upTo(120));
      else device.ack();
    }
  };
  const disturb = async (
    name: string,
    chance: number,
    work: (draw: Dice) => Promise<void>,
  ): Promise<void> => {
    const draw = dice(seed, name);
    if (draw.random() >= chance) return;
    await sleep(draw.upTo(200));
    await work(draw);
  };

  let patience = patienceMillis;
  const all = [
    disturb("cut", 0.4, () => stage.cutBus()),
    disturb("kill", 0.25, async ({ upTo }) => {
      patience = patienceAfterKillMillis;
      await stage.kill(upTo(2));
    }),
    ...devices.map(({ device }) => live(device)),
  ];
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  written.abort();
  await Promise.all(all);

  const lacking = (): readonly string[] =>
    devices.flatMap(({ principal, device }) => {
      const missing = (owed.get(principal) ?? []).flat().filter((text) => !device.heard.has(text));
      return missing.length === 0
        ? []
        : [`${device.name} (${device.transport}) never heard ${missing.join(" ")}`];
    });
  const last = dice(seed, "last words");
  /** Waits until everybody has heard everything; who is not connected comes back. */
  const settle = async (): Promise<boolean> => {
    const deadline = Date.now() + patience;
    while (lacking().length > 0 && Date.now() < deadline) {
      for (const { device } of devices)
        if (!device.isConnected) device.connect(last.pick(servers).url, false);
      await sleep(5);
    }
    return lacking().length === 0;
  };
  // Then a last word while somebody comes back: nothing that follows would make up for it.
  for (let round = 0; (await settle()) && round < lastWords; round += 1) {
    const draw = dice(seed, `last word ${round}`);
    const { device } = draw.pick(devices);
    const text = `${seed}/last/${round}`;
    device.vanish();
    const [wait, resumes] = [draw.upTo(12), draw.random() < 0.5];
    const coming = sleep(wait).then(() => device.connect(draw.pick(servers).url, resumes));
    if (await send(draw, text, people, 0)) for (const one of people) owed.get(one)?.push([text]);
    await coming;
  }
  const faults = [
    ...lacking(),
    ...devices.flatMap(({ device }) => device.faults.map((fault) => `${device.name}: ${fault}`)),
    ...devices.flatMap(({ principal, device }) =>
      (owed.get(principal) ?? []).flatMap((texts) => outOfOrder(texts, device.places)),
    ),
  ];
  for (const { device } of devices) device.vanish();
  if (faults.length > 0)
    throw new Error(
      `seed ${seed}:\n${[...new Set(faults)].join("\n")}\nreplay: OPWRIGHT_SEED=${seed} npx vitest run test/acceptance/guarantees/no-loss.test.ts`,
    );
}

/** What one writer sent one after the other stands in the mailbox in that order. */
function outOfOrder(
  texts: readonly string[],
  places: ReadonlyMap<number, string>,
): readonly string[] {
  const at = (text: string): number =>
    [...places].find(([, place]) => place.endsWith(` ${JSON.stringify({ text })}`))?.[0] ?? 0;
  return texts.flatMap((text, index) => {
    const before = texts[index - 1];
    return before !== undefined && at(before) > at(text) ? [`${before} stands behind ${text}`] : [];
  });
}

interface Dice {
  /** From 0 to 1. */
  random(): number;
  /** A whole number below. */
  upTo(most: number): number;
  pick<One>(of: readonly One[]): One;
}

/** The numbers of one actor under a seed (mulberry32, begun with a hash of both). */
function dice(seed: number, actor: string): Dice {
  let state = createHash("sha256").update(`${seed} ${actor}`).digest().readUInt32BE();
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const upTo = (most: number): number => Math.floor(random() * most);
  return { random, upTo, pick: (of) => of[upTo(of.length)] as (typeof of)[number] };
}
