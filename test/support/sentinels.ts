// A master of Redis, its replicas, and three Sentinels that elect another master when it is gone: real ones, on free ports.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "redis";
import { vi } from "vitest";
import { freePort } from "./free-port.js";

export const hasRedisServer = existsSync("/usr/bin/redis-server");
/** What makes certificates; `.ci/run` installs it. */
export const hasOpenssl = existsSync("/usr/bin/openssl");

export interface RedisServer {
  readonly port: number;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Stops it without an end, and has it go on. */
  freeze(): void;
  thaw(): void;
  start(): void;
}

export interface SentinelSet {
  /** A URL of the Sentinels, with a login for the servers. */
  readonly url: string;
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** The server that the Sentinels call the master. */
  master(): Promise<RedisServer>;
  /** Waits until all Sentinels and replicas are there, so that another election can be held. */
  ready(): Promise<void>;
  /** Has the Sentinels make another server the master, and waits until they have. */
  switchOver(): Promise<void>;
  /** Waits until another server than this one is the master. */
  electOther(than: RedisServer): Promise<RedisServer>;
  /** What a server answers to a command. */
  ask(server: RedisServer, ...command: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

const password = "p#ss:w@rd/%";
const masterName = "my master";
const patience = { timeout: 60_000, interval: 100 };

/** Starts a master, two replicas and three Sentinels; a server counts as gone after 700 ms. */
export async function startSentinels(): Promise<SentinelSet> {
  const folder = mkdtempSync(join(tmpdir(), "opwright-sentinels-"));
  const ports = await Promise.all([1, 2, 3].map(freePort));
  const servers = ports.map((port) => redisServer(join(folder, `${port}`), port, []));
  const [first = 0] = ports;
  for (const [index, server] of servers.entries())
    server.configure([
      `requirepass "${password}"`,
      `masterauth "${password}"`,
      'save ""',
      ...(index === 0 ? [] : [`replicaof 127.0.0.1 ${first}`]),
    ]);
  const sentinelPorts = await Promise.all([1, 2, 3].map(freePort));
  const name = `"${masterName}"`;
  const sentinels = sentinelPorts.map((port) => {
    const sentinel = redisServer(join(folder, `s${port}`), port, ["--sentinel"]);
    sentinel.configure([
      `requirepass sentinel`,
      `sentinel sentinel-pass sentinel`,
      `sentinel monitor ${name} 127.0.0.1 ${first} 2`,
      `sentinel auth-pass ${name} "${password}"`,
      `sentinel down-after-milliseconds ${name} 700`,
      `sentinel failover-timeout ${name} 3000`,
    ]);
    return sentinel;
  });
  for (const server of [...servers, ...sentinels]) server.start();
  const ask = async (
    { port }: RedisServer,
    secret: string,
    command: readonly string[],
  ): Promise<unknown> => {
    const url = `redis://:${encodeURIComponent(secret)}@127.0.0.1:${port}`;
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return await client.sendCommand([...command]);
    } finally {
      client.destroy();
    }
  };
  const [asked] = sentinels;
  if (asked === undefined) throw new Error("there is no Sentinel");
  const master = async (): Promise<RedisServer> => {
    const named = await ask(asked, "sentinel", ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName]);
    const port = Number(Array.isArray(named) ? named[1] : 0);
    const found = servers.find((server) => server.port === port);
    if (found === undefined) throw new Error(`the Sentinels name nobody: ${String(named)}`);
    return found;
  };
  const electOther = async (than: RedisServer): Promise<RedisServer> => {
    const portOf = async (): Promise<number> => (await master().catch(() => than)).port;
    await vi.waitUntil(async () => (await portOf()) !== than.port, patience);
    return master();
  };
  // An election needs replicas that are in step, and Sentinels that know each other.
  const known = async (): Promise<string> => {
    const told = await ask(asked, "sentinel", ["SENTINEL", "CKQUORUM", masterName]);
    const { port } = await master();
    const roles = await Promise.all(servers.map((server) => ask(server, password, ["ROLE"])));
    const follow = `slave,127.0.0.1,${port},connected`;
    const following = roles.filter((role) => String(role).startsWith(follow)).length;
    return `${String(told).slice(0, 22)} ${following}`;
  };
  const ready = async (): Promise<void> => {
    const all = `OK 3 usable Sentinels. ${servers.length - 1}`;
    await vi.waitUntil(async () => (await known().catch(String)) === all, patience);
  };
  const set: SentinelSet = {
    url: `redis+sentinel://:${encodeURIComponent(password)}@${sentinelPorts.map((port) => `127.0.0.1:${port}`).join(",")}/${encodeURIComponent(masterName)}/2?sentinel_password=sentinel`,
    servers,
    sentinels,
    master,
    electOther,
    ready,
    async switchOver() {
      const before = await master();
      const begin = (): Promise<unknown> =>
        ask(asked, "sentinel", ["SENTINEL", "FAILOVER", masterName]);
      // An election may not be over, though its master is there.
      await vi.waitUntil(async () => (await begin().catch(String)) === "OK", patience);
      await electOther(before);
    },
    ask: (server, ...command) => ask(server, password, command),
    async stop() {
      for (const one of [...sentinels, ...servers]) await one.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await set.ready();
  return set;
}

/**
 * A master and a Sentinel that take only encrypted connections, with a certificate for `localhost` alone; `authority` is the
 * file of who has signed it.
 */
export async function startEncryptedSentinel(): Promise<{
  readonly url: string;
  readonly authority: string;
  stop(): Promise<void>;
}> {
  const folder = mkdtempSync(join(tmpdir(), "opwright-encrypted-"));
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  const name = ["-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", ...made, ...name, ...files], { stdio: "pipe" });
  const [port, sentinelPort] = [await freePort(), await freePort()];
  const encrypted = (at: number): readonly string[] => [
    `tls-port ${at}`,
    `tls-cert-file ${certificate}`,
    `tls-key-file ${key}`,
    `tls-ca-cert-file ${certificate}`,
    "tls-auth-clients no",
    "tls-replication yes",
  ];
  const server = redisServer(join(folder, "server"), 0, []);
  server.configure([...encrypted(port), 'save ""']);
  const sentinel = redisServer(join(folder, "sentinel"), 0, ["--sentinel"]);
  sentinel.configure([
    ...encrypted(sentinelPort),
    "sentinel resolve-hostnames yes",
    "sentinel announce-hostnames yes",
    `sentinel monitor one localhost ${port} 1`,
  ]);
  server.start();
  sentinel.start();
  return {
    url: `rediss+sentinel://localhost:${sentinelPort}/one`,
    authority: certificate,
    async stop() {
      await sentinel.kill();
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function redisServer(folder: string, port: number, extra: readonly string[]) {
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, "redis.conf");
  let child: ChildProcess | undefined;
  return {
    port,
    configure(lines: readonly string[]): void {
      const usual = [`port ${port}`, "bind 127.0.0.1", `dir ${folder}`];
      writeFileSync(file, `${[...usual, ...lines].join("\n")}\n`);
    },
    start(): void {
      child = spawn("/usr/bin/redis-server", [file, ...extra], { stdio: "ignore" });
      const ours = child;
      process.once("exit", () => ours.kill("SIGKILL"));
    },
    async kill(): Promise<void> {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    freeze: (): void => void child?.kill("SIGSTOP"),
    thaw: (): void => void child?.kill("SIGCONT"),
  };
}
