// A PostgreSQL server of a test's own, to restart, to make a standby and to promote.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePort } from "../support/free-port.js";

export interface PostgresCluster {
  readonly url: string;
  /** Runs a statement past the service. */
  sql(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends it as a crash does: no connection is told, nothing is flushed. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** The next start is one of a standby: it answers, and refuses every write (25006). */
  becomeStandby(): void;
  promote(): Promise<void>;
  /** Makes and starts a standby of it, which streams what it writes. */
  startReplica(): Promise<PostgresCluster>;
  /** Has its processes stand still, or go on: its connections stay open, and nothing answers. */
  freeze(isFrozen: boolean): void;
  remove(): Promise<void>;
}

const base = "/usr/lib/postgresql";
const isRoot = process.getuid?.() === 0;

/** Whether Debian's binaries are installed. */
export const hasPostgresBinaries = existsSync(base);

/** Makes and starts a server on a free port; one that streams from another if that is given. */
export async function startCluster(of?: { readonly port: string }): Promise<PostgresCluster> {
  const bin = join(base, readdirSync(base).sort().at(-1) ?? "", "bin");
  const folder = mkdtempSync(join(tmpdir(), "opwright-cluster-"));
  const data = join(folder, "data");
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const run = async (program: string, ...args: readonly string[]): Promise<void> => {
    const command = [join(bin, program), "-D", data, ...args];
    // PostgreSQL refuses to run as root.
    const [file, ...rest] = isRoot
      ? ["su", "postgres", "-c", command.join(" ")]
      : ["sh", "-c", command.join(" ")];
    await promisify(execFile)(file ?? "", rest);
  };
  if (isRoot) execFileSync("chown", ["postgres", folder]);
  const options = `'-p ${port} -k ${folder} -c listen_addresses=127.0.0.1'`;
  const start = (): Promise<void> =>
    run("pg_ctl", "-w", "-s", "-l", join(folder, "log"), "-o", options, "start");
  if (of === undefined) await run("initdb", "-U", "postgres", "--auth=trust", "--no-sync", "-N");
  else
    await run(
      "pg_basebackup",
      "-R",
      "-X",
      "stream",
      "-c",
      "fast",
      "-h",
      "127.0.0.1",
      "-U",
      "postgres",
      "-p",
      of.port,
    );
  await start();
  return {
    url,
    async sql(statement) {
      const client = new Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query(statement)).rows;
      } finally {
        await client.end();
      }
    },
    crash: () => run("pg_ctl", "-s", "-m", "immediate", "stop"),
    start,
    becomeStandby: () => writeFileSync(join(data, "standby.signal"), ""),
    promote: () => run("pg_ctl", "-w", "-s", "promote"),
    startReplica: () => startCluster({ port: String(port) }),
    freeze(isFrozen) {
      const [pid] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      // The server, and what it has started.
      const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], {
        encoding: "utf8",
      });
      for (const one of [pid, ...children.trim().split(/\s+/)])
        process.kill(Number(one), isFrozen ? "SIGSTOP" : "SIGCONT");
    },
    async remove() {
      await run("pg_ctl", "-s", "-m", "immediate", "stop").catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
