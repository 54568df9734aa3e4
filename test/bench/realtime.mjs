// Fan-out of one signal to many connections beside bare `ws`, rooms of Socket.IO and nchan; memory of idle connections;
// replay of a mailbox; durable signals on a database that is a network away. Deliveries per second of the server's CPU, since the clients share the machine.
import { fork, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { durable } from "./realtime/durable.mjs";
import {
  amount,
  cpuSeconds,
  ending,
  freePort,
  leaveOut,
  median,
  repository,
  table,
} from "./tools.mjs";

const here = join(repository, "test/bench/realtime");
const mark = "markmark";
/** The text of a signal whose frame has about 200 bytes. */
const text = mark + "x".repeat(140);
const nchanModule = "/usr/lib/nginx/modules/ngx_nchan_module.so";
const perPerson = 20;
const rounds = amount(5, 1);
const counts = amount([1_000, 5_000], [100]);
/** Entries of the mailbox that is replayed. */
const entries = amount(10_000, 500);

export async function run() {
  for (const count of counts) await fanOut(count);
  await replay();
  await durable();
}

async function fanOut(count) {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const nginx = hasNchan();
  if (!nginx) leaveOut("nchan beside realtime: nginx with its module is not installed");
  const cases = [
    { name: "ws, a string to each", start: () => peer("ws"), kind: "ws" },
    { name: "Socket.IO, a room", start: () => peer("socketio"), kind: "socketio" },
    ...["ws", "sse", "socketio"].map((kind) => ({
      name: `opwright, ${kind}`,
      start: () => opwright(count, folder),
      kind,
    })),
    ...(nginx ? ["ws", "sse"] : []).map((kind) => ({
      name: `nchan, ${kind}`,
      start: () => nchan(folder),
      kind,
    })),
  ];
  const contestants = [];
  try {
    for (const one of cases) contestants.push(await prepared(one, count));
    // Turn by turn, so that none gets the quieter moments. The first round warms up.
    for (let round = 0; round <= rounds; round += 1)
      for (const contestant of contestants) await measureRound(contestant, count, round > 0);
    const [bare] = contestants;
    const single = median(bare.rates[1]);
    process.stdout.write(`${count} connections\n\n`);
    table(
      [
        "server",
        "deliveries per CPU second",
        "relative",
        "in bursts of ten",
        "KB per idle connection",
      ],
      contestants.map(({ name, rates, kilobytes }) => [
        name,
        median(rates[1]).toFixed(0),
        (median(rates[1]) / single).toFixed(2),
        (median(rates[10]) / single).toFixed(2),
        kilobytes.toFixed(0),
      ]),
    );
    process.stdout.write("\n");
  } finally {
    for (const { clients, server } of contestants) {
      await clients.end();
      await server.stop();
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server with its clients, and what they cost it while nothing is sent. */
async function prepared({ name, start, kind }, count) {
  const server = await start();
  await server.collect();
  const before = memory(server.pid);
  const clients = await connectAll(server, kind, count);
  await sleep(500);
  await server.collect();
  const kilobytes = (memory(server.pid) - before) / count;
  return { name, server, clients, kilobytes, rates: { 1: [], 10: [] } };
}

async function measureRound(contestant, count, counts) {
  for (const each of [1, 10]) {
    const rate = await deliver(contestant, count, each);
    if (counts) contestant.rates[each].push(rate);
  }
}

/** Has signals delivered, so many at a time; returns deliveries a second of the server's CPU. */
async function deliver({ server, clients }, count, each) {
  const deliveries = (count <= 1_000 ? 100 : 30) * count;
  // Time for a signal to be written to all before the next one comes.
  const pause = Math.max(10, count * 0.018 * Math.sqrt(each));
  const expected = (await clients.heard()) + deliveries;
  const before = cpuSeconds(server.pid);
  for (let sent = 0; sent < deliveries / count; sent += each) {
    await server.publish(each);
    await sleep(pause);
  }
  await clients.until(expected);
  return deliveries / (cpuSeconds(server.pid) - before);
}

/** A process of connections. */
async function connectAll(server, kind, count) {
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
    ...server.address(kind, Math.floor(at / perPerson)),
  }));
  await ask({ connections }, ({ opened }) => opened === true);
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

async function peer(kind) {
  const server = await forked("peer.mjs", [kind], { NODE_ENV: "production" });
  const path = kind === "ws" ? "/" : "/socket.io/?EIO=4&transport=websocket";
  return { ...server, address: () => ({ path }), publish: (each) => server.ask({ text, each }) };
}

async function opwright(count, folder) {
  const data = mkdtempSync(join(folder, "data-"));
  const people = Math.ceil(count / perPerson);
  const server = await forked("opwright.mjs", [String(people)], {
    PORT: "0",
    DATA_DIR: data,
    DATABASE_URL: `sqlite:${join(data, "bench.db")}`,
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

function hasNchan() {
  return existsSync(nchanModule) && spawnSync("sh", ["-c", "command -v nginx"]).status === 0;
}

async function nchan(folder) {
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    `load_module ${nchanModule}; daemon off; master_process off; pid ${folder}/nginx.pid;
    error_log ${folder}/error.log; worker_rlimit_nofile 15000; events { worker_connections 12000; }
    http { access_log off; server { listen 127.0.0.1:${port};
    location /sub { nchan_subscriber; nchan_channel_id bench; }
    location /pub { nchan_publisher; nchan_channel_id bench; nchan_message_buffer_length 20; } } }`,
  );
  const args = ["-p", folder, "-c", file, "-e", `${folder}/error.log`];
  const child = ending(spawn("nginx", args, { stdio: "ignore" }));
  const url = `http://127.0.0.1:${port}`;
  const body = JSON.stringify({ event: "bench.signal", id: null, data: { text } });
  for (;;) {
    try {
      await fetch(url);
      break;
    } catch {
      if (child.exitCode !== null) throw new Error(readFileSync(`${folder}/error.log`, "utf8"));
      await sleep(20);
    }
  }
  return {
    url,
    pid: child.pid,
    address: () => ({ path: "/sub" }),
    collect: async () => undefined,
    async publish(each) {
      const post = async () =>
        void (await (await fetch(`${url}/pub`, { method: "POST", body })).text());
      for (let index = 0; index < each; index += 1) await post();
    },
    stop: () => new Promise((resolve) => child.on("exit", resolve).kill("SIGKILL")),
  };
}

/** A mailbox of 10 000 entries, read by one connection from its beginning. */
async function replay() {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const server = await opwright(perPerson, folder);
  try {
    await server.ask({ text, staged: entries });
    // They are numbered behind the commit.
    await numbered(server, entries);
    const rows = [];
    for (const kind of ["ws", "sse", "socketio"]) {
      const child = ending(fork(join(here, "clients.mjs")));
      const port = Number(new URL(server.url).port);
      const started = performance.now();
      const cpuBefore = cpuSeconds(server.pid);
      child.send({ connections: [{ kind, port, mark, ...server.address(kind, 0) }] });
      await new Promise((resolve, reject) => {
        const timer = setInterval(() => child.send({ ask: true }), 5);
        const late = setTimeout(() => reject(new Error(`${kind} replays too little`)), 60_000);
        child.on("message", (answer) => {
          if (!(answer.heard >= entries)) return;
          clearInterval(timer);
          clearTimeout(late);
          resolve(undefined);
        });
      });
      const millis = performance.now() - started;
      const cpu = cpuSeconds(server.pid) - cpuBefore;
      child.send({ end: true });
      rows.push([
        kind,
        millis.toFixed(0),
        (entries / (millis / 1000)).toFixed(0),
        (cpu * 1000).toFixed(0),
      ]);
    }
    process.stdout.write(`replay of ${entries} entries\n\n`);
    table(["transport", "ms", "entries a second", "CPU, ms"], rows);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the first of the people has so many signals in the mailbox. */
async function numbered({ url, tokens: [token] }, count) {
  const deadline = Date.now() + 60_000;
  let after = "";
  for (let seen = 0; seen < count;) {
    if (Date.now() > deadline) throw new Error(`${seen} of ${count} signals are in the mailbox`);
    const answer = await fetch(`${url}/realtime/history?limit=100${after}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { signals } = JSON.parse(await answer.text());
    seen += signals.length;
    if (signals.length > 0) after = `&after=${signals.at(-1).id}`;
    else await sleep(50);
  }
}

/** Resident kilobytes of a process. */
function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
