// Restarts that nobody notices: nginx with connections kept to two processes, which are restarted in turn under load (attack 83).
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../support/engines.js";
import { newClient, type Client } from "./client.js";
import { isSuccess, type Load } from "./load.js";
import { freePort } from "../support/free-port.js";
import { startSubject, type Subject } from "./subject.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

const postgres = engines.find(({ name }) => name === "postgres");
const hasNginx = !(process.env["OPWRIGHT_TEST_WITHOUT"] ?? "").split(",").includes("nginx");
const restarts = 10;

describe.skipIf(postgres?.isAvailable !== true || !hasNginx)("two processes behind nginx", () => {
  const folder = mkdtempSync(join(tmpdir(), "opwright-nginx-"));
  let database: FreshDatabase;
  let nginx: ChildProcess;
  let subjects: Subject[] = [];
  let client: Client;
  let load: TaskLoad;
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    database = await postgres.create();
    const environment = { DATABASE_URL: database.url, SETTLE_SECONDS: "0.5", LOG_LEVEL: "info" };
    const first = await startSubject(environment);
    subjects = [first, await startSubject(environment, null)];
    const port = await freePort();
    nginx = await startNginx(folder, port, subjects);
    client = newClient(`http://127.0.0.1:${port}`, { token: first.client.token, sockets: 16 });
    load = startTaskLoad(client, { writers: 6, readers: 8, pauseMillis: 5 });
  });
  afterAll(async () => {
    await load.stop();
    client.close();
    nginx.kill("SIGTERM");
    await once(nginx, "exit");
    for (const subject of subjects) await subject.dispose();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  test(`${restarts} restarts under load: no request fails, and every write is there once`, async () => {
    await load.successes(100);
    for (let round = 0; round < restarts; round += 1) {
      const at = round % 2;
      const subject = subjects[at];
      if (subject === undefined) throw new Error("two processes");
      expect(await subject.stop()).toBeLessThan(8_000);
      subjects[at] = await subject.restarted();
      await subjects[at]?.expectMissing();
      await load.successes(100);
    }
    await load.stop();
    const log = readFileSync(join(folder, "error.log"), "utf8").match(/\[error\].*/g);
    expect(failuresOf(load), log?.join("\n") ?? "").toEqual([]);
    await load.expectAllWrites(client);
  }, 180_000);
});

/** Each kind of failure, with its number. */
function failuresOf({ outcomes }: Load): readonly string[] {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    if (isSuccess(outcome)) continue;
    const { method, status, fault, body } = outcome;
    const what = `${method} ${status === 0 ? fault : status} ${body?.code ?? ""}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} of ${outcomes.length}: ${what}`);
}

/**
 * nginx as it comes, but for connections that it keeps to both processes, and `max_fails=0`: else one refused connection takes
 * a process out for 10 s, and restarts that follow each other within that leave none.
 */
async function startNginx(
  folder: string,
  port: number,
  subjects: readonly Subject[],
): Promise<ChildProcess> {
  for (const name of ["body", "proxy", "f", "u", "s"]) mkdirSync(join(folder, name));
  const servers = subjects.map(({ url }) => `server ${new URL(url).host} max_fails=0;`).join(" ");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log info;
    ${process.getuid?.() === 0 ? "user root;" : ""}
    events {}
    http {
      access_log off;
      client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
      upstream service { ${servers} keepalive 16; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://service;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $host;
          # Writes have keys: what was reset before it ran may go to the other process.
          proxy_next_upstream error timeout non_idempotent;
        }
      }
    }`,
  );
  const started = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: "inherit",
  });
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null);
    if (answer?.ok === true) return started;
    await sleep(100);
  }
  started.kill("SIGTERM");
  throw new Error("nginx does not answer");
}
