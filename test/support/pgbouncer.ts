// A real PgBouncer of a test's own, in front of a PostgreSQL server.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.js";

export interface PgBouncer {
  readonly port: number;
  /** A URL of the server, through the pooler. */
  url(direct: string): string;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Another version than Debian's may be tried. */
export const pgBouncerPath = process.env["OPWRIGHT_TEST_PGBOUNCER"] ?? "/usr/sbin/pgbouncer";

export const hasPgBouncer = existsSync(pgBouncerPath);

/** Whether it keeps the prepared statements of its clients apart, as it does from 1.21. */
export function keepsStatements(): boolean {
  const said = execFileSync(pgBouncerPath, ["--version"], { encoding: "utf8" });
  const [, minor = "0"] = /PgBouncer 1\.(\d+)/.exec(said) ?? [];
  return Number(minor) >= 21;
}

/** A server's URL, reached through a port of this machine. */
export function throughPort(direct: string, port: number | string): string {
  const url = new URL(direct);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

/** The settings of a service whose PostgreSQL (`direct`) is reached through a pooler at `url`. */
export function pooledEnvironment(url: string, direct: string): Readonly<Record<string, string>> {
  return { DATABASE_URL: url, DATABASE_DIRECT_URL: direct, DATABASE_POOLER: "transaction" };
}

/**
 * Starts one in transaction mode, with these settings of its configuration beside the usual ones, for the URL's user and
 * other roles without a password.
 */
export async function startPgBouncer(
  server: string,
  settings: Readonly<Record<string, string | number>> = {},
  roles: readonly string[] = [],
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "opwright-pgbouncer-"));
  // It refuses to run as root.
  chmodSync(folder, 0o755);
  const { hostname, port: serverPort, username, password } = new URL(server);
  const port = await freePort();
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "trust",
    auth_file: join(folder, "users"),
    pool_mode: "transaction",
    max_client_conn: 2_000,
    ...settings,
  };
  const users = [
    [decodeURIComponent(username), decodeURIComponent(password)],
    ...roles.map((role) => [role, ""]),
  ];
  writeFileSync(
    join(folder, "users"),
    users.map(([name, secret]) => `"${name}" "${secret}"\n`).join(""),
  );
  writeFileSync(
    join(folder, "ini"),
    [
      "[databases]",
      `* = host=${hostname} port=${serverPort || "5432"}`,
      "[pgbouncer]",
      ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
    ].join("\n"),
  );
  let child: ReturnType<typeof spawn> | undefined;
  let said = "";
  const kill = async (): Promise<void> => {
    const killed = child;
    if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return;
    const ended = new Promise((resolve) => killed.once("exit", resolve));
    killed.kill("SIGKILL");
    await ended;
  };
  const start = async (): Promise<void> => {
    const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
    child = spawn(pgBouncerPath, ["-q", ...user, join(folder, "ini")]);
    child.stderr?.on("data", (data: Buffer) => (said += data.toString()));
    for (let attempt = 0; attempt < 100; attempt += 1) {
      if (await listens(port)) return;
      await sleep(50);
    }
    await kill();
    throw new Error(`${pgBouncerPath} does not start: ${said}`);
  };
  await start();
  return {
    port,
    url: (direct) => throughPort(direct, port),
    kill,
    start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(false));
  });
}
