// A PostgreSQL cluster of three hosts that elects its leader: Patroni with etcd on each, and HAProxy in front, as Debian has
// them. Its commits wait for a standby, so that a leader alone acknowledges nothing.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeNetwork, type Host } from "./network.js";

export interface Cluster {
  readonly hosts: readonly Host[];
  /** A URL that names each host. */
  readonly url: string;
  /** A URL of HAProxy, which leads to the leader. */
  readonly proxyUrl: string;
  /** The host that is the leader now, as Patroni's REST API says; null if there is none. */
  leader(): Promise<Host | null>;
  /** Waits for a leader that isn't this host. */
  otherLeader(than: Host): Promise<Host>;
  /** Waits until there is a leader, and all others follow it. */
  whole(): Promise<Host>;
  /** Has the leader give way to another host. */
  switchOver(): Promise<void>;
  /** Starts again what was killed on a host. */
  start(host: Host): void;
  /** Ends etcd on a host, or starts it again. */
  stopEtcd(host: Host): void;
  startEtcd(host: Host): void;
  /** Where everything has its files, also what it prints. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** What must be installed, as Debian names it. */
export const needed = [
  "patroni",
  "etcd-server",
  "haproxy",
  "iproute2",
  "postgresql",
  "nginx-light",
];

const base = "/usr/lib/postgresql";
const password = "lab";
/** The least that Patroni takes. Without a sign of life from a leader for so long, another is elected. */
const ttlSeconds = 20;

/** Makes and starts a cluster. */
export async function startCluster(): Promise<Cluster> {
  const network = makeNetwork(3);
  const folder = mkdtempSync("/tmp/opwright-ha-");
  execFileSync("chmod", ["755", folder]);
  const { hosts } = network;
  const nameOf = (host: Host): string => `n${hosts.indexOf(host) + 1}`;
  const peers = hosts.map((host) => `${nameOf(host)}=http://${host.address}:2380`).join(",");
  const homeOf = (host: Host): string => join(folder, nameOf(host));
  for (const host of hosts) {
    mkdirSync(homeOf(host), { mode: 0o700 });
    writeFileSync(
      join(homeOf(host), "patroni.yml"),
      patroniOf(host, nameOf(host), homeOf(host), hosts),
    );
    execFileSync("chown", ["-R", "postgres:postgres", homeOf(host)]);
  }
  const startEtcd = (host: Host): void => {
    const at = (port: number): string => `http://${host.address}:${port}`;
    host.spawn("postgres", join(folder, `${nameOf(host)}.etcd.log`), [
      "etcd",
      `--name=${nameOf(host)}`,
      `--data-dir=${join(homeOf(host), "etcd")}`,
      `--listen-peer-urls=${at(2380)}`,
      `--initial-advertise-peer-urls=${at(2380)}`,
      `--listen-client-urls=${at(2379)}`,
      `--advertise-client-urls=${at(2379)}`,
      `--initial-cluster=${peers}`,
      // Patroni 3.0 misses changes by etcd's third API when a member of etcd dies.
      "--enable-v2",
      // A busy machine is no reason for an election.
      "--heartbeat-interval=300",
      "--election-timeout=3000",
    ]);
  };
  const startPatroni = (host: Host): void => {
    const configuration = join(homeOf(host), "patroni.yml");
    host.spawn("postgres", join(folder, `${nameOf(host)}.patroni.log`), ["patroni", configuration]);
  };
  for (const host of hosts) startEtcd(host);
  for (const host of hosts) startPatroni(host);
  const proxy = startProxy(folder, network.address, hosts);

  const statusOf = async (host: Host, path: string): Promise<number> => {
    try {
      const answer = await fetch(`http://${host.address}:8008${path}`, {
        signal: AbortSignal.timeout(1_000),
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  };
  const leader = async (): Promise<Host | null> => {
    const statuses = await Promise.all(hosts.map((host) => statusOf(host, "/primary")));
    return hosts[statuses.indexOf(200)] ?? null;
  };
  const until = async <T>(what: string, look: () => Promise<T | null>): Promise<T> => {
    for (const end = Date.now() + 180_000; ; await sleep(100)) {
      const found = await look();
      if (found !== null) return found;
      if (Date.now() > end) throw new Error(`${what}: not in 180 s; see ${folder}`);
    }
  };
  const whole = (): Promise<Host> =>
    until("the cluster is whole", async () => {
      const found = await leader();
      if (found === null) return null;
      const paths = hosts.map((host) => statusOf(host, host === found ? "/primary" : "/replica"));
      const statuses = await Promise.all(paths);
      const isSynchronous = await Promise.all(hosts.map((host) => statusOf(host, "/sync")));
      // Without a standby that Patroni calls synchronous, nobody may become the leader.
      return statuses.every((status) => status === 200) && isSynchronous.includes(200)
        ? found
        : null;
    });
  await whole();
  return {
    hosts,
    folder,
    url: urlOf(hosts.map((host) => `${host.address}:5432`).join(",")),
    proxyUrl: urlOf(`${network.address}:5000`),
    leader,
    otherLeader: (than) =>
      until("another leader", async () => {
        const found = await leader();
        return found === null || found === than ? null : found;
      }),
    whole,
    async switchOver() {
      const from = await whole();
      await until("a switchover", async () => {
        const answer = await fetch(`http://${from.address}:8008/switchover`, {
          method: "POST",
          body: JSON.stringify({ leader: nameOf(from) }),
        });
        await answer.text();
        return answer.ok ? answer : null;
      });
    },
    start: startPatroni,
    stopEtcd: (host) => host.signal("KILL", "etcd --name="),
    startEtcd,
    async remove() {
      proxy.kill("SIGKILL");
      network.remove();
      await sleep(500);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const urlOf = (place: string): string => `postgres://postgres:${password}@${place}/postgres`;

function patroniOf(host: Host, name: string, home: string, hosts: readonly Host[]): string {
  const bin = join(base, readdirSync(base).sort().at(-1) ?? "", "bin");
  const etcd = hosts.map(({ address }) => `${address}:2379`).join(",");
  return `scope: lab
name: ${name}
restapi: {listen: "${host.address}:8008", connect_address: "${host.address}:8008"}
etcd: {hosts: "${etcd}"}
bootstrap:
  dcs:
    ttl: ${ttlSeconds}
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    failsafe_mode: true
    postgresql: {use_pg_rewind: true, parameters: {max_connections: 100, wal_keep_size: 64MB}}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, data-checksums]
  pg_hba: ["host all all 0.0.0.0/0 trust", "local all all trust", "host replication all 0.0.0.0/0 trust"]
postgresql:
  listen: "${host.address}:5432"
  connect_address: "${host.address}:5432"
  bin_dir: ${bin}
  data_dir: ${home}/data
  pgpass: ${home}/pgpass
  parameters: {unix_socket_directories: ${home}, shared_buffers: 32MB}
  authentication:
    superuser: {username: postgres, password: ${password}}
    replication: {username: replicator, password: ${password}}
    rewind: {username: postgres, password: ${password}}
`;
}

/** HAProxy as Patroni's documentation has it: the leader is the one whose REST API says so. */
function startProxy(folder: string, address: string, hosts: readonly Host[]): ChildProcess {
  const servers = hosts.map(
    (host, at) =>
      `  server n${at + 1} ${host.address}:5432 maxconn 100 check port 8008 inter 1s fall 2 rise 1`,
  );
  const file = join(folder, "haproxy.cfg");
  writeFileSync(
    file,
    `global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 2s
listen leader
  bind ${address}:5000
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server on-marked-down shutdown-sessions
${servers.join("\n")}
`,
  );
  return spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
}
