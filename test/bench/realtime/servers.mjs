// Servers of realtime connections, each a process, and the process of their clients.
import { fork } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ending, repository } from "../tools.mjs";

const here = join(repository, "test/bench/realtime");
export const mark = "markmark";
/** The text of a signal whose frame has about 200 bytes. */
export const text = mark + "x".repeat(140);
/** Connections of one person. */
export const perPerson = 20;

/** `ws` or rooms of Socket.IO. */
export async function peer(kind) {
  const server = await forked("peer.mjs", [kind], { NODE_ENV: "production" });
  const path = kind === "ws" ? "/" : "/socket.io/?EIO=4&transport=websocket";
  return { ...server, address: () => ({ path }), publish: (each) => server.ask({ text, each }) };
}

/** The reference service, with the people of so many connections, and one more. */
export async function opwright(count, folder) {
  const data = mkdtempSync(join(folder, "data-"));
  const people = Math.ceil(count / perPerson) + 1;
  const server = await forked("opwright.mjs", [String(people)], {
    PORT: "0",
    DATA_DIR: data,
    DATABASE_URL: `sqlite:${join(data, "bench.db")}`,
    MAX_CONNECTIONS: String(count + 1_000),
    REALTIME_CONNECTIONS: String(count + 1_000),
  });
  const { tokens, topic } = server;
  const paths = {
    ws: `/realtime/ws?topics=${topic}`,
    sse: `/realtime/sse?topics=${topic}`,
    socketio: "/realtime/socket.io/?EIO=4&transport=websocket",
  };
  return {
    ...server,
    address: (kind, at) => ({
      path: paths[kind],
      token: tokens[at],
      auth: { token: tokens[at], topics: [topic] },
    }),
    publish: (each) => server.ask({ text, each }),
  };
}

/**
 * A process of connections, which are all heard of when this resolves; those of the people from a number on.
 * `opened` is called once all are open.
 */
export async function connectAll(server, kind, count, firstPerson = 0, opened = () => undefined) {
  const child = ending(fork(join(here, "clients.mjs")));
  const ask = async (message, isAnswer) => {
    const answered = new Promise((resolve, reject) => {
      const listen = (answer) => {
        if (answer.error !== undefined) reject(new Error(answer.error));
        if (!isAnswer(answer)) return;
        child.off("message", listen);
        resolve(answer);
      };
      child.on("message", listen);
    });
    child.send(message);
    return answered;
  };
  const port = Number(new URL(server.url).port);
  const connections = Array.from({ length: count }, (_, at) => ({
    kind,
    port,
    mark,
    ...server.address(kind, firstPerson + Math.floor(at / perPerson)),
  }));
  await ask({ connections }, (answer) => answer.opened === true);
  opened();
  const heard = async () =>
    (await ask({ ask: true }, (answer) => answer.heard !== undefined)).heard;
  const until = async (expected) => {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const now = await heard();
      if (now >= expected) return;
      if (Date.now() > deadline) throw new Error(`heard ${now} of ${expected}`);
      await sleep(20);
    }
  };
  // All are heard of before anything is measured.
  const end = Date.now() + 60_000;
  for (let last = -1; ;) {
    if (Date.now() > end) throw new Error(`only ${last} of ${count} connections are heard of`);
    const now = await heard();
    await server.publish(1);
    await sleep(Math.max(50, count * 0.1));
    const gained = (await heard()) - now;
    if (gained === count && last === count) break;
    last = gained;
  }
  return {
    heard,
    until,
    end: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.send({ end: true });
      }),
  };
}

/** A server process that its parent talks to. */
async function forked(script, args, env = {}) {
  const child = ending(
    fork(join(here, script), args, {
      env: { ...process.env, ...env },
      // What this process was started with, so that the service is loaded file by file here too.
      execArgv: [...process.execArgv, "--expose-gc"],
    }),
  );
  const ended = new Promise((_resolve, reject) => {
    child.once("exit", (code, signal) => {
      if (signal === null) reject(new Error(`${script} ended with ${code}`));
    });
  });
  const next = (isWanted) => {
    const wanted = new Promise((resolve) => {
      const listen = (message) => {
        if (!isWanted(message)) return;
        child.off("message", listen);
        resolve(message);
      };
      child.on("message", listen);
    });
    return Promise.race([wanted, ended]);
  };
  const ready = await next(({ url }) => url !== undefined);
  return {
    ...ready,
    pid: child.pid,
    async ask(message) {
      const done = next((answer) => answer.done === true);
      child.send(message);
      await done;
    },
    /** Collects what nothing refers to. */
    async collect() {
      await this.ask({ collect: true });
    },
    stop: () => new Promise((resolve) => child.on("exit", resolve).kill("SIGKILL")),
  };
}

/** Resident kilobytes of a process. */
export function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
