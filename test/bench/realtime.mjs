// Fan-out of one signal to many connections beside bare `ws`, rooms of Socket.IO and nchan; memory of idle connections;
// replay of a mailbox. Deliveries per second of the server's CPU, since the clients share the machine.
import { fork, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSeconds, freePort, repository, table } from "./tools.mjs";

const here = join(repository, "test/bench/realtime");
const mark = "markmark";
/** The text of a signal whose frame has about 200 bytes. */
const text = mark + "x".repeat(140);
const nchanModule = "/usr/lib/nginx/modules/ngx_nchan_module.so";
const perPerson = 20;
const rounds = 3;

export async function run() {
  for (const count of [1_000, 5_000]) await fanOut(count);
  await replay();
}

async function fanOut(count) {
  const deliveries = count === 1_000 ? 100_000 : 150_000;
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const nginx = hasNchan();
  if (!nginx) process.stdout.write("nginx with nchan is not installed: it is not compared\n\n");
  const cases = [
    { name: "ws, a string to each", start: () => peer("ws"), kind: "ws", each: 1 },
    { name: "ws, ten in a burst", start: () => peer("ws"), kind: "ws", each: 10 },
    { name: "Socket.IO, a room", start: () => peer("socketio"), kind: "socketio", each: 1 },
    ...["ws", "sse", "socketio"].flatMap((kind) =>
      [1, 10].map((each) => ({
        name: `opwright, ${kind}${each === 1 ? "" : ", ten in a burst"}`,
        start: () => opwright(count, folder),
        kind,
        each,
      })),
    ),
    ...(nginx
      ? ["ws", "sse"].map((kind) => ({
          name: `nchan, ${kind}`,
          start: () => nchan(folder),
          kind,
          each: 1,
        }))
      : []),
  ];
  try {
    const rows = [];
    for (const one of cases)
      rows.push({ name: one.name, ...(await measureCase(one, count, deliveries)) });
    const [bare] = rows;
    process.stdout.write(`${count} connections\n\n`);
    table(
      ["server", "deliveries a CPU second", "relative", "KB an idle connection"],
      rows.map(({ name, rate, kilobytes }) => [
        name,
        rate.toFixed(0),
        (rate / bare.rate).toFixed(2),
        kilobytes.toFixed(0),
      ]),
    );
    process.stdout.write("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The median of rounds on one server with one set of connections. */
async function measureCase({ start, kind, each }, count, deliveries) {
  const server = await start();
  await server.collect();
  const before = memory(server.pid);
  const clients = await connectAll(server, kind, count);
  try {
    await sleep(500);
    await server.collect();
    const kilobytes = (memory(server.pid) - before) / count;
    const signals = deliveries / count;
    // Time for a signal to be written to all before the next one comes.
    const pause = Math.max(10, count * 0.025 * Math.sqrt(each));
    const rates = [];
    for (let round = 0; round <= rounds; round += 1) {
      const heardBefore = await clients.heard();
      const cpuBefore = cpuSeconds(server.pid);
      const expected = heardBefore + deliveries;
      for (let sent = 0; sent < signals; sent += each) {
        await server.publish(each);
        await sleep(pause);
      }
      await clients.until(expected);
      // The first round warms up.
      if (round > 0) rates.push(deliveries / (cpuSeconds(server.pid) - cpuBefore));
    }
    return { rate: rates.toSorted((a, b) => a - b)[Math.floor(rounds / 2)], kilobytes };
  } finally {
    await clients.end();
    await server.stop();
  }
}

/** A process of connections. */
async function connectAll(server, kind, count) {
  const child = fork(join(here, "clients.mjs"));
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
  for (let last = -1; ;) {
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
  const child = fork(join(here, script), args, {
    env: { ...process.env, ...env },
    execArgv: ["--expose-gc"],
  });
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
    location /pub { nchan_publisher; nchan_channel_id bench; nchan_message_buffer_length 1; } } }`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", file, "-e", `${folder}/error.log`], {
    stdio: "ignore",
  });
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
    publish: async () => void (await (await fetch(`${url}/pub`, { method: "POST", body })).text()),
    stop: () => new Promise((resolve) => child.on("exit", resolve).kill("SIGKILL")),
  };
}

/** A mailbox of 10 000 entries, read by one connection from its beginning. */
async function replay() {
  const entries = 10_000;
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const server = await opwright(perPerson, folder);
  try {
    await server.ask({ text, staged: entries });
    // They are numbered behind the commit.
    await sleep(3_000);
    const rows = [];
    for (const kind of ["ws", "sse", "socketio"]) {
      const child = fork(join(here, "clients.mjs"));
      const port = Number(new URL(server.url).port);
      const started = performance.now();
      const cpuBefore = cpuSeconds(server.pid);
      child.send({ connections: [{ kind, port, mark, ...server.address(kind, 0) }] });
      await new Promise((resolve) => {
        const timer = setInterval(() => child.send({ ask: true }), 5);
        child.on("message", ({ heard }) => {
          if (heard === undefined || heard < entries) return;
          clearInterval(timer);
          resolve();
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

/** Resident kilobytes of a process. */
function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
