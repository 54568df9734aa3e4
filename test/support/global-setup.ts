// Finds or starts the real engines that tests need, before any test, and says loudly what is not there.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createClient } from "redis";
import { hasObjectGateway, startObjectGateway } from "./object-gateway.js";
import { hasPgBouncer, startPgBouncer } from "./pgbouncer.js";

const isRequired = process.env["OPWRIGHT_REQUIRE_ENGINES"] === "1";

export default async function setup(): Promise<() => void> {
  // Each project of a run comes here; what the first one found is there for all.
  if (process.env["OPWRIGHT_TEST_FOUND"] === "1") return () => undefined;
  process.env["OPWRIGHT_TEST_FOUND"] = "1";
  const found = [
    await postgres(),
    await pooler(),
    await redis(),
    await objects(),
    chromium(),
    clients(),
  ];
  return () => {
    for (const end of found) end();
  };
}

async function postgres(): Promise<() => void> {
  const given =
    process.env["DATABASE_URL"]?.startsWith("postgres") === true
      ? process.env["DATABASE_URL"]
      : undefined;
  const candidates = [
    given,
    "postgres://postgres@127.0.0.1:5432/postgres",
    "postgres://postgres:postgres@127.0.0.1:5432/postgres",
  ];
  for (const url of candidates) {
    if (url === undefined || !(await answers(url))) continue;
    process.env["OPWRIGHT_TEST_POSTGRES"] = url;
    return () => undefined;
  }
  const own = startPrivatePostgres();
  if (own !== undefined && (await answers(own.url))) {
    process.env["OPWRIGHT_TEST_POSTGRES"] = own.url;
    return own.stop;
  }
  return missing("PostgreSQL: none answers, and no binaries are installed; its tests are SKIPPED");
}

/** A PgBouncer in front of PostgreSQL. */
async function pooler(): Promise<() => void> {
  const server = process.env["OPWRIGHT_TEST_POSTGRES"];
  if (server === undefined) return () => undefined;
  if (!hasPgBouncer)
    return missing("PgBouncer is not installed (apt-get install pgbouncer); its tests are SKIPPED");
  // Each test has a database of its own, which soon is of no use any more.
  const { port, stop } = await startPgBouncer(server, {
    server_idle_timeout: 5,
    autodb_idle_timeout: 30,
  });
  process.env["OPWRIGHT_TEST_POOLER"] = String(port);
  return () => void stop();
}

/** The Redis that answers, or one of our own. */
async function redis(): Promise<() => void> {
  const given = process.env["BUS_URL"];
  for (const url of [given, "redis://127.0.0.1:6379"]) {
    if (url?.startsWith("redis") !== true || !(await redisAnswers(url))) continue;
    process.env["OPWRIGHT_TEST_REDIS"] = url;
    return () => undefined;
  }
  if (spawnSync("sh", ["-c", "command -v redis-server"]).status === 0) {
    const port = String(50_000 + (process.pid % 5_000));
    const own = spawn("redis-server", ["--port", port, "--bind", "127.0.0.1", "--save", ""], {
      stdio: "ignore",
    });
    const url = `redis://127.0.0.1:${port}`;
    for (let attempt = 0; attempt < 50; attempt += 1) {
      if (await redisAnswers(url)) {
        process.env["OPWRIGHT_TEST_REDIS"] = url;
        return () => void own.kill();
      }
      await sleep(100);
    }
    own.kill();
  }
  return missing(
    "Redis: none answers, and none starts (apt-get install redis-server); its tests are SKIPPED",
  );
}

async function redisAnswers(url: string): Promise<boolean> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.ping();
    await client.close();
    return true;
  } catch {
    return false;
  }
}

/** A Ceph RADOS Gateway of our own, from the binaries that Debian installs. */
async function objects(): Promise<() => void> {
  const gateway = hasObjectGateway()
    ? await startObjectGateway()
    : "not installed (apt-get install --no-install-recommends radosgw ceph-mon ceph-osd)";
  if (typeof gateway === "string")
    return missing(`S3: no Ceph RADOS Gateway starts; its tests are SKIPPED: ${gateway}`);
  process.env["OPWRIGHT_TEST_S3"] = gateway.url;
  return gateway.stop;
}

/** Debian's Chromium, for what only a browser can show. */
function chromium(): () => void {
  const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((one) => existsSync(one));
  if (path === undefined)
    return missing("Chromium is not installed (apt-get install chromium); its tests are SKIPPED");
  process.env["OPWRIGHT_TEST_CHROMIUM"] = path;
  return () => undefined;
}

/** Programs that people call and download with, and those that break a disk or a clock. */
function clients(): () => void {
  const lacking = [
    "curl",
    "wget",
    "aria2c",
    "nginx",
    "ffmpeg",
    "strace",
    "faketime",
    "javac",
    "systemd-analyze",
    "prometheus",
  ].filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
  process.env["OPWRIGHT_TEST_WITHOUT"] = lacking.join(",");
  if (lacking.length === 0) return () => undefined;
  return missing(
    `${lacking.join(", ")}: not installed (apt-get install curl wget aria2 nginx-light ffmpeg strace faketime default-jdk-headless systemd prometheus); their tests are SKIPPED`,
  );
}

/** Says loudly what is not there, at the beginning and at the end; where it is required, it fails. */
function missing(message: string): () => void {
  if (isRequired) throw new Error(message);
  const banner = (): void =>
    void process.stderr.write(`\n${"!".repeat(80)}\n${message}\n${"!".repeat(80)}\n`);
  banner();
  return banner;
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/** A server of our own on port 54329, from the binaries that Debian installs. */
function startPrivatePostgres(): { readonly url: string; readonly stop: () => void } | undefined {
  const base = "/usr/lib/postgresql";
  const version = existsSync(base) ? readdirSync(base).sort().at(-1) : undefined;
  if (version === undefined) return undefined;
  const bin = join(base, version, "bin");
  const folder = mkdtempSync(join(tmpdir(), "opwright-postgres-"));
  const data = join(folder, "data");
  const asOwner = (command: string, args: readonly string[]): void => {
    const isRoot = process.getuid?.() === 0;
    if (isRoot)
      execFileSync("su", ["postgres", "-c", [command, ...args].join(" ")], { stdio: "ignore" });
    else execFileSync(command, [...args], { stdio: "ignore" });
  };
  try {
    if (process.getuid?.() === 0) execFileSync("chown", ["-R", "postgres", folder]);
    asOwner(join(bin, "initdb"), ["-D", data, "-U", "postgres", "--auth=trust"]);
    asOwner(join(bin, "pg_ctl"), [
      "-D",
      data,
      "-w",
      "-l",
      join(folder, "log"),
      "-o",
      // It is thrown away with its data: nothing waits for a disk.
      `"-p 54329 -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off"`,
      "start",
    ]);
  } catch {
    return undefined;
  }
  return {
    url: "postgres://postgres@127.0.0.1:54329/postgres",
    stop: () => {
      const stop = ["-D", data, "-m", "immediate", "stop"];
      if (process.getuid?.() === 0)
        spawnSync("su", ["postgres", "-c", [join(bin, "pg_ctl"), ...stop].join(" ")]);
      else spawnSync(join(bin, "pg_ctl"), stop);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
