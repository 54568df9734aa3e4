// What grows with the number of connections: memory of each, the work of one that comes, and of a signal to all. Beside bare `ws`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectAll, memory, opwright, peer, perPerson } from "./realtime/servers.mjs";
import { amount, cpuSeconds, leaveOut, median, table } from "./tools.mjs";

/** What a process needs beside its connections. */
const otherFiles = 200;
const wanted = amount([100, 1_000, 5_000, 10_000, 20_000], [20, 100]);
const rounds = amount(10, 2);

export async function run() {
  const limit = Number(
    /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1],
  );
  const most = Math.floor((limit - otherFiles) / perPerson) * perPerson;
  const steps = [...new Set(wanted.map((one) => Math.min(one, most)))];
  if (steps.at(-1) < wanted.at(-1))
    leaveOut(`more than ${steps.at(-1)} connections: a process may have ${limit} files open`);
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const rows = [];
  for (const { name, kind, start } of [
    { name: "ws, a string to each", kind: "ws", start: () => peer("ws") },
    { name: "opwright, ws", kind: "ws", start: () => opwright(steps.at(-1), folder) },
    { name: "opwright, sse", kind: "sse", start: () => opwright(steps.at(-1), folder) },
  ])
    rows.push(...(await grown(name, kind, await start(), steps)));
  table(
    [
      "server",
      "connections",
      "resident, MB",
      "KB for each more",
      "to connect, CPU µs",
      "a signal to all, ms",
      "for each, CPU µs",
    ],
    rows,
  );
  rmSync(folder, { recursive: true, force: true });
}

async function grown(name, kind, server, steps) {
  const rows = [];
  const groups = [];
  let connected = 0;
  let before = null;
  for (const step of steps) {
    const cpuBefore = cpuSeconds(server.pid);
    const came = step - connected;
    let connecting = 0;
    const opened = () => (connecting = cpuSeconds(server.pid) - cpuBefore);
    groups.push(await connectAll(server, kind, came, connected / perPerson, opened));
    connected = step;
    await sleep(500);
    await server.collect();
    const resident = memory(server.pid);
    const { millis, cpu } = await told(server, groups, connected);
    const each = before === null ? "" : ((resident - before) / came).toFixed(1);
    rows.push([
      name,
      connected,
      (resident / 1024).toFixed(0),
      each,
      ((connecting / came) * 1e6).toFixed(0),
      millis.toFixed(0),
      cpu.toFixed(1),
    ]);
    before = resident;
  }
  for (const one of groups) await one.end();
  await server.stop();
  return rows;
}

/** Milliseconds until a signal has reached all connections, and the server's microseconds for each. */
async function told(server, groups, connected) {
  const heard = async () =>
    (await Promise.all(groups.map((one) => one.heard()))).reduce((sum, one) => sum + one, 0);
  const times = [];
  const cpuBefore = cpuSeconds(server.pid);
  for (let round = 0; round < rounds; round += 1) {
    const expected = (await heard()) + connected;
    const started = performance.now();
    await server.publish(1);
    while ((await heard()) < expected) await sleep(2);
    times.push(performance.now() - started);
  }
  const cpu = ((cpuSeconds(server.pid) - cpuBefore) / rounds / connected) * 1e6;
  return { millis: median(times), cpu };
}
