// Failover as a suite (`npm run test:ha`): a real cluster loses its leader in each way that we know; every acknowledged write
// is there, each unknown one exactly once after its retry, failures are 503 or 504, and durable signals come without a gap.
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "../faults/answers.js";
import { startSubject, type Subject } from "../faults/subject.js";
import { startCluster, type Cluster } from "./cluster.js";
import { listenTo, type Ear } from "./ear.js";
import type { Host } from "./network.js";
import { watchService, type Seen, type Witness } from "./witness.js";

/** A name that leads to the leader, as one does that a failover moves. */
const hostName = "opwright-ha-leader";
const hostsFile = "/etc/hosts";

let cluster: Cluster;
let subjects: readonly Subject[] = [];
let witnesses: readonly Witness[] = [];
let ear: Ear;
let names: { stop(): Promise<void> } | undefined;
let assigning: Assigning;
const told: (Seen & { readonly fault: string })[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  names = followLeader(cluster);
  const several = await startSubject({ DATABASE_URL: cluster.url });
  const { token } = several.client;
  // A name may lead to a server that was the leader, and has become a standby.
  const named = `${cluster.proxyUrl.replace(/@[^/]+/, `@${hostName}:5432`)}?target_session_attrs=read-write`;
  // Its first member is there already.
  const others = [cluster.proxyUrl, named];
  const more = [];
  for (const DATABASE_URL of others) more.push(await startSubject({ DATABASE_URL }, null));
  subjects = [several, ...more];
  witnesses = ["several hosts", "HAProxy", "a name that moves"].map((name, at) =>
    watchService(name, subjects[at]?.url ?? "", token),
  );
  ear = listenTo(
    subjects.map(({ url }) => url),
    token,
  );
  assigning = startAssigning(witnesses, token);
}, 180_000);

afterAll(async () => {
  process.stdout.write(`\n${tableOf(told)}\n`);
  ear?.close();
  for (const { load } of witnesses) await load.stop();
  for (const subject of subjects) await subject.dispose();
  await names?.stop();
  await cluster?.remove();
}, 120_000);

describe("a cluster that", () => {
  /** Breaks it, and holds that callers saw nothing but success, 503 and 504, and that all is well again. */
  async function expectSurvived(
    fault: string,
    work: () => Promise<{ readonly leaderAt: number | null }>,
  ): Promise<void> {
    await cluster.whole();
    await Promise.all(witnesses.map(({ load }) => load.successes(5)));
    for (const witness of witnesses) {
      witness.load.takeOutcomes();
      witness.begin();
    }
    const { leaderAt } = await work();
    await cluster.whole();
    await Promise.all(witnesses.map(({ load }) => load.successes(10)));
    for (const witness of witnesses) told.push({ fault, ...witness.tell(leaderAt) });
    const faults = witnesses.flatMap(({ name, load }) =>
      faultsOf(load.takeOutcomes()).map((one) => `${name}: ${one}`),
    );
    expect(faults).toEqual([]);
    for (const subject of subjects) await subject.expectMissing();
  }

  /** A fault of the leader, after which there is another. */
  async function loseLeader(
    begin: (leader: Host) => unknown,
    end: (former: Host) => unknown = () => undefined,
  ): Promise<{ readonly leaderAt: number }> {
    const leader = await cluster.whole();
    await begin(leader);
    await cluster.otherLeader(leader);
    const leaderAt = performance.now();
    // Who wakes up now has been the leader until then, for all that it knows.
    await end(leader);
    return { leaderAt };
  }

  test("switches over", () =>
    expectSurvived("switchover", () => loseLeader(() => cluster.switchOver())));

  test("has a leader that is killed", () =>
    expectSurvived("leader killed", () =>
      loseLeader(
        (leader) => leader.signal("KILL"),
        (former) => (cluster.startEtcd(former), cluster.start(former)),
      ),
    ));

  test("has a leader that freezes, and wakes up when there is another", () =>
    expectSurvived("leader frozen", () =>
      loseLeader(
        (leader) => leader.signal("STOP"),
        (former) => former.signal("CONT"),
      ),
    ));

  test("has a leader that nobody reaches", () =>
    expectSurvived("leader cut off", () =>
      loseLeader(
        (leader) => leader.pullCable(),
        async (former) => {
          await sleep(5_000);
          former.plugIn();
        },
      ),
    ));

  test("loses the standby that commits wait for", () =>
    expectSurvived("synchronous standby killed", async () => {
      const leader = await cluster.whole();
      const standby = cluster.hosts.find((host) => host !== leader);
      standby?.signal("KILL", "postgres");
      standby?.signal("KILL", "patroni");
      await sleep(15_000);
      if (standby !== undefined) cluster.start(standby);
      return { leaderAt: null };
    }));

  test("has no etcd for a while", () =>
    expectSurvived("etcd away", async () => {
      for (const host of cluster.hosts) cluster.stopEtcd(host);
      await sleep(30_000);
      for (const host of cluster.hosts) cluster.startEtcd(host);
      return { leaderAt: null };
    }));

  test("loses all of its servers at once", () =>
    expectSurvived("all killed", async () => {
      for (const host of cluster.hosts) host.signal("KILL");
      await sleep(3_000);
      for (const host of cluster.hosts) cluster.startEtcd(host);
      for (const host of cluster.hosts) cluster.start(host);
      await cluster.whole();
      return { leaderAt: performance.now() };
    }));
});

test("every acknowledged write is there, and each other one once its key is sent again", async () => {
  for (const { load, client } of witnesses) {
    await load.stop();
    await load.expectAllWrites(client);
  }
});

test("durable signals came without a gap, each acknowledged one once", async () => {
  const owed = await assigning.stop();
  expect(owed.length).toBeGreaterThan(100);
  const titles = (): readonly string[] => [...ear.heard.values()].toSorted();
  await expect.poll(titles, { timeout: 60_000 }).toEqual(owed.toSorted());
  expect(ear.faults).toEqual([]);
  expect([...ear.heard.keys()].toSorted((one, other) => one - other)).toEqual(
    owed.map((_title, at) => at + 1),
  );
});

interface Assigning {
  /** Sends all that nobody knows of again; returns every title. */
  stop(): Promise<readonly string[]>;
}

/** Assigns a task to the owner of the token again and again, at services in turn. */
function startAssigning(among: readonly Witness[], token: string): Assigning {
  const { sub: assignee } = JSON.parse(
    Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
  );
  const project = randomUUID();
  const sent: string[] = [];
  const unknown = new Set<string>();
  const over = new AbortController();
  const assign = async (title: string, at: number): Promise<boolean> => {
    const { status } = (await among[at % among.length]?.client.call("POST", "/tasks", {
      body: { title, project, assignee },
      headers: { "idempotency-key": `${project}-${title}`, "x-deadline-budget": "2" },
    })) ?? { status: 0 };
    return status === 201;
  };
  const running = (async () => {
    for (let at = 0; !over.signal.aborted; at += 1) {
      const title = `assigned-${at}`;
      sent.push(title);
      if (!(await assign(title, at))) unknown.add(title);
      await sleep(200);
    }
  })();
  return {
    async stop() {
      over.abort();
      await running;
      for (const end = performance.now() + 60_000; unknown.size > 0; await sleep(100))
        for (const title of unknown) {
          if (await assign(title, 0)) unknown.delete(title);
          if (performance.now() > end) throw new Error(`${unknown.size} are not acknowledged`);
        }
      return sent;
    },
  };
}

/** Has a name of this machine lead to the leader, as a managed database's name does. */
function followLeader({ leader, hosts }: Cluster): { stop(): Promise<void> } {
  const before = readFileSync(hostsFile, "utf8");
  const over = new AbortController();
  const point = ({ address }: Host): void =>
    writeFileSync(hostsFile, `${before.replace(/\n?$/, "\n")}${address} ${hostName}\n`);
  const [first] = hosts;
  if (first !== undefined) point(first);
  const running = (async () => {
    for (let last: Host | null = null; !over.signal.aborted; await sleep(250)) {
      const found = await leader();
      if (found !== null && found !== last) point(found);
      last = found ?? last;
    }
  })();
  return {
    async stop() {
      over.abort();
      await running;
      writeFileSync(hostsFile, before);
    },
  };
}

function tableOf(rows: readonly (Seen & { readonly fault: string })[]): string {
  const seconds = (millis: number | null): string =>
    millis === null ? "" : (millis / 1_000).toFixed(1);
  const lines = rows.map(
    ({ fault, service, acknowledged, silentMillis, afterLeaderMillis, others }) =>
      `| ${fault} | ${service} | ${acknowledged} | ${seconds(silentMillis)} | ${seconds(afterLeaderMillis)} | ${Object.entries(
        others,
      )
        .map(([status, count]) => `${count} × ${status}`)
        .join(", ")} |`,
  );
  return [
    "| fault | by | acknowledged | s without an acknowledged write | s after the new leader | other answers |",
    "|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
