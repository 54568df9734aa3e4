// A Ceph RADOS Gateway (S3) of our own, from the binaries that Debian installs.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ObjectGateway {
  readonly url: string;
  readonly stop: () => void;
}

const script = new URL("../tools/rgw.sh", import.meta.url).pathname;

/** The gateway's port and the two after it, its monitor's; below those that connections are given. */
const places = { first: 20_000, ports: 3, count: 4_000 };

export function hasObjectGateway(): boolean {
  return spawnSync("sh", ["-c", "command -v radosgw ceph-mon ceph-osd"]).status === 0;
}

/** Starts one, or says what each of three attempts said: a port may be taken while it starts. */
export async function startObjectGateway(): Promise<ObjectGateway | string> {
  const failures: string[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const port = await freePlace();
    const folder = mkdtempSync(join(tmpdir(), "opwright-rgw-"));
    const started = run("start", folder, String(port));
    const stop = (): void => void run("stop", folder);
    const url = `http://127.0.0.1:${port}`;
    if (started.status === 0 && (await answers(url))) return { url, stop };
    stop();
    failures.push(`on port ${port}: ${started.stderr} ${started.error?.message ?? ""}`);
  }
  return failures.join("\n");
}

function run(...args: readonly string[]): ReturnType<typeof spawnSync> {
  return spawnSync("bash", [script, ...args], { encoding: "utf8", timeout: 60_000 });
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** The first port of a place that nobody listens in; runs beside this one begin at others. */
async function freePlace(): Promise<number> {
  for (let index = 0; index < places.count; index++) {
    const port = places.first + ((process.pid + index) % places.count) * places.ports;
    const free = await Promise.all([port, port + 1, port + 2].map((one) => isFree(one)));
    if (free.every(Boolean)) return port;
  }
  throw new Error(`no ${places.ports} free ports from ${places.first}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
