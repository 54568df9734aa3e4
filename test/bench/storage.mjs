// Files down and up: opwright on a folder beside nginx, Express sendFile, and bare busboy to disk, with the CPU they take.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  amount,
  cpuSeconds,
  ending,
  execute,
  freePort,
  leaveOut,
  median,
  repository,
  table,
} from "./tools.mjs";

const mebibyte = 1024 * 1024;
const downloadBytes = amount(100, 10) * mebibyte;
const uploadBytes = amount(64, 6) * mebibyte;
const windowBytes = amount(8, 1) * mebibyte;
const range = ["-r", `${mebibyte}-${mebibyte + windowBytes - 1}`];
const rounds = amount(9, 1);
const sized = (bytes) => `${bytes / mebibyte} MiB`;

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const servers = [];
  try {
    execute("sh", [
      "-c",
      `head -c ${downloadBytes} /dev/urandom > ${folder}/file.bin; head -c ${uploadBytes} /dev/urandom > ${folder}/up.bin`,
    ]);
    const opwright = await startOpwright(folder);
    const peer = await startPeer(folder);
    servers.push(opwright, peer);
    const nginx = await startNginx(folder);
    if (nginx !== null) servers.push(nginx);
    const key = JSON.parse(curl("-F", `file=@${folder}/file.bin`, `${opwright.url}/plain`)).key;
    const sealed = JSON.parse(curl("-F", `file=@${folder}/file.bin`, `${opwright.url}/sealed`)).key;
    const plain = { ...opwright, name: "opwright", path: `/plain/${key}` };
    const encrypted = { ...opwright, name: "opwright, encrypted", path: `/sealed/${sealed}` };
    const express = { ...peer, name: "Express sendFile", path: "/file" };
    const downloads = [
      plain,
      encrypted,
      express,
      ...(nginx === null ? [] : [{ ...nginx, name: "nginx", path: "/file.bin" }]),
    ];
    const target = join(folder, "target.bin");
    const get = (args) => (server) => void curl(...args, "-o", target, server.url + server.path);
    report(`download of ${sized(downloadBytes)}`, downloads, downloadBytes, get([]));
    report(`a range of ${sized(windowBytes)}`, downloads, windowBytes, get(range));
    const uploads = [
      { ...opwright, name: "opwright", path: "/plain" },
      { ...opwright, name: "opwright, encrypted", path: "/sealed" },
      { ...peer, name: "busboy to disk", path: "/upload" },
    ];
    report(`upload of ${sized(uploadBytes)}`, uploads, uploadBytes, (server) => {
      curl("-F", `file=@${folder}/up.bin`, server.url + server.path);
    });
  } finally {
    for (const { child } of servers) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Turn by turn, so that none gets the quieter moments: the median of the times, and all CPU. */
function report(what, servers, bytes, work) {
  const times = servers.map(() => []);
  const cpu = servers.map(() => 0);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      const before = cpuSeconds(server.child.pid);
      const started = performance.now();
      work(server);
      // The first round warms up.
      if (round === 0) continue;
      times[index].push(performance.now() - started);
      cpu[index] += cpuSeconds(server.child.pid) - before;
    }
  }
  const rows = servers.map(({ name }, index) => {
    const millis = median(times[index]);
    return { name, rate: bytes / mebibyte / (millis / 1000), cpu: cpu[index] / rounds };
  });
  const last = rows.at(-1);
  process.stdout.write(`${what}\n\n`);
  table(
    ["server", "MiB/s", "relative", "CPU, ms", "relative"],
    rows.map((row) => [
      row.name,
      row.rate.toFixed(0),
      (row.rate / last.rate).toFixed(2),
      (row.cpu * 1000).toFixed(0),
      last.cpu === 0 ? "" : (row.cpu / last.cpu).toFixed(2),
    ]),
  );
  process.stdout.write("\n");
}

function curl(...args) {
  return execute("curl", ["-sS", "--fail", ...args]);
}

async function started(child, url) {
  for (;;) {
    try {
      await fetch(url);
      return { child, url };
    } catch {
      if (child.exitCode !== null) throw new Error(`a server ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function startOpwright(folder) {
  const port = String(await freePort());
  const env = { ...process.env, PORT: port, DATA_DIR: join(folder, "data") };
  const script = join(repository, "test/tools/storage-server.mjs");
  const args = [script, join(repository, "generated")];
  const child = ending(spawn(process.execPath, args, { env, stdio: "ignore" }));
  return started(child, `http://127.0.0.1:${port}`);
}

async function startPeer(folder) {
  const port = String(await freePort());
  const script = join(repository, "test/bench/storage/peer.mjs");
  const env = { ...process.env, PORT: port, NODE_ENV: "production" };
  const child = ending(spawn(process.execPath, [script, folder], { env, stdio: "ignore" }));
  return started(child, `http://127.0.0.1:${port}`);
}

/** Null where nginx is not installed. */
async function startNginx(folder) {
  if (spawnSync("sh", ["-c", "command -v nginx"]).status !== 0) {
    leaveOut("nginx beside storages: it is not installed");
    return null;
  }
  const port = await freePort();
  const configuration = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; user root;
    events {} http { access_log off; sendfile on; server { listen 127.0.0.1:${port}; root ${folder}; } }`;
  writeFileSync(join(folder, "nginx.conf"), configuration);
  const args = ["-p", folder, "-c", join(folder, "nginx.conf")];
  const child = ending(spawn("nginx", args, { stdio: "ignore" }));
  return started(child, `http://127.0.0.1:${port}`);
}
