// Floods of frames on one connection, beside others who are answered all the while (attack 77).
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstToken, startProcess, type ServiceProcess } from "../../support/process.js";
import {
  fin,
  frame,
  opcodes,
  raw,
  textFrame,
  upgrade,
  type RawSocket,
} from "../../support/raw-sockets.js";
import { ask, openSocket } from "../../support/realtime-clients.js";

/** Bytes of answers, many times less than a flood that is answered at once has. */
const mostAnswered = 250_000;
/** Generous: what is measured is told from the seconds of a loop that never ends its turn. */
const worstMillis = 1_000;

interface Setting {
  readonly service: ServiceProcess;
  readonly token: string;
  /** What comments are made on. */
  readonly task: string;
}

/** The service in a process of its own: a client in the same loop would be slowed with it. */
async function started(environment: Readonly<Record<string, string>> = {}): Promise<Setting> {
  const data = { DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-flooded-")) };
  const service = await startProcess({ ...data, ...environment });
  const token = await firstToken(service.url, data);
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { readonly id: string }).id;
  };
  const project = await post("/projects", { name: "P", key: "PP" });
  return { service, token, task: await post("/tasks", { title: "t", project }) };
}

async function stopped({ service }: Setting): Promise<void> {
  service.child.kill("SIGKILL");
  await service.exited;
}

/** An admitted connection of bytes, by transport. */
const admitted = {
  async WebSocket({ service, token }: Setting): Promise<RawSocket> {
    const one = await raw(service.url, upgrade(token));
    one.socket.write(textFrame('{"type":"cmd","cid":"first","event":"nothing"}'));
    await expect.poll(() => one.received().includes('"cid":"first"')).toBe(true);
    return one;
  },
  async "Socket.IO"({ service, token }: Setting): Promise<RawSocket> {
    const path = "/realtime/socket.io/?EIO=4&transport=websocket";
    const one = await raw(service.url, upgrade(token, path));
    await expect.poll(() => one.received().includes('"sid"')).toBe(true);
    one.socket.write(textFrame(`40${JSON.stringify({ token })}`));
    await expect.poll(() => one.received().includes("40{")).toBe(true);
    return one;
  },
};
const transports = ["WebSocket", "Socket.IO"] as const;

const upTo = "01890000-0000-7000-8000-0000000000ff.1";
const commandOf = {
  WebSocket: (cid: number, task: string) =>
    JSON.stringify({ type: "cmd", cid, event: "task.comment", payload: { task, text: "t" } }),
  "Socket.IO": (cid: number, task: string) =>
    `42${cid}${JSON.stringify(["task.comment", { task, text: "t" }])}`,
};
const many = (count: number, one: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => one(index)));

const floods: readonly (readonly [
  string,
  (transport: (typeof transports)[number], task: string) => Buffer,
])[] = [
  [
    "100 000 frames of one byte",
    (transport) => {
      const one = textFrame(transport === "WebSocket" ? "x" : "6");
      return many(100_000, () => one);
    },
  ],
  [
    "20 000 valid commands",
    (transport, task) => many(20_000, (cid) => textFrame(commandOf[transport](cid, task))),
  ],
  [
    "10 000 acknowledgements",
    (transport) => {
      const ack = JSON.stringify({ type: "realtime.ack", up_to: upTo });
      const one = textFrame(
        transport === "WebSocket" ? ack : `421["realtime.ack",{"up_to":"${upTo}"}]`,
      );
      return many(10_000, () => one);
    },
  ],
  [
    "100 000 pings",
    () => {
      const one = frame(fin | opcodes.ping, Buffer.from("ping"));
      return many(100_000, () => one);
    },
  ],
];

describe.each(transports)("%s", (transport) => {
  let setting: Setting;
  beforeAll(async () => {
    setting = await started();
  });
  afterAll(() => stopped(setting));

  test.each(floods)(
    "%s on one connection leave everybody else their answers",
    async (_name, flood) => {
      const { service, token, task } = setting;
      const bytes = flood(transport, task);
      const flooding = await admitted[transport](setting);
      const before = flooding.received().length;
      const { socket } = await openSocket(service, { token });
      await ask(socket, { event: "nothing" });
      let worst = 0;
      const timed = async (answer: Promise<unknown>): Promise<void> => {
        const begun = performance.now();
        await answer;
        worst = Math.max(worst, performance.now() - begun);
      };
      flooding.socket.write(bytes);
      for (const until = Date.now() + 1_500; Date.now() < until;) {
        await timed(fetch(`${service.url}/livez`).then((answer) => answer.text()));
        await timed(ask(socket, { event: "nothing" }));
        await sleep(10);
      }
      expect(worst).toBeLessThan(worstMillis);
      // Most of it waits.
      expect(flooding.received().length - before).toBeLessThan(mostAnswered);
      socket.close();
      flooding.socket.destroy();
    },
  );
});

test.each(transports)("every command of a burst over %s is answered in the end", async (name) => {
  const setting = await started({ FRAMES_PER_SECOND: "1000", FRAMES_BURST: "50" });
  const one = await admitted[name](setting);
  const count = 1_500;
  const before = one.received().length;
  const commands = many(count, (cid) => textFrame(commandOf[name](cid, setting.task)));
  one.socket.write(commands);
  const answer = name === "WebSocket" ? /"type":"ack","cid":(\d+)/g : /43(\d+)\[/g;
  const answered = (): number =>
    new Set(
      [...one.received().subarray(before).toString("latin1").matchAll(answer)].map(
        ([, cid]) => cid,
      ),
    ).size;
  await expect.poll(answered).toBe(count);
  one.socket.destroy();
  await stopped(setting);
});
