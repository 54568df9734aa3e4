// Fan-out of one signal to many connections beside bare `ws`, rooms of Socket.IO and nchan; replay of a mailbox; durable
// signals on a database that is a network away. Deliveries per second of the server's CPU, since the clients share the machine.
import { fork, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { durable } from "./realtime/durable.mjs";
import { connectAll, mark, opwright, peer, perPerson, text } from "./realtime/servers.mjs";
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
const nchanModule = "/usr/lib/nginx/modules/ngx_nchan_module.so";
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
      ["server", "deliveries per CPU second", "relative", "in bursts of ten"],
      contestants.map(({ name, rates }) => [
        name,
        median(rates[1]).toFixed(0),
        (median(rates[1]) / single).toFixed(2),
        (median(rates[10]) / single).toFixed(2),
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

/** A server with its clients. */
async function prepared({ name, start, kind }, count) {
  const server = await start();
  const clients = await connectAll(server, kind, count);
  return { name, server, clients, rates: { 1: [], 10: [] } };
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
