// A run beside the hostile author: its service in a process that is started anew if it ends, its callers, its receivers and the
// probe in others; what has become of everything that was acknowledged.
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SMTPServer } from "smtp-server";
import { testProject, type TestProject } from "../../acceptance/project-service.js";
import { versionOf, type Version, type VersionProcess } from "../../acceptance/version-process.js";
import type { TestEngine } from "../../engines.js";
import { newClient, type Client } from "../../faults/client.js";
import { oddReceivers } from "../../faults/odd-receivers.js";
import { openDescriptors, processorSeconds, residentMebibytes } from "../../faults/observe.js";
import { freePort } from "../../free-port.js";
import type { KindReport, LoadOptions, LoadReport } from "./load.js";
import { startOwn } from "./own-process.js";
import type { ProbeReport } from "./probe.js";
import { hostileFiles } from "./project.js";
import type { ReceiverPorts, Received } from "./receivers.js";

/** What the process takes, at one moment. */
export interface HostileSample {
  readonly minute: number;
  readonly mebibytes: number;
  readonly descriptors: number;
  readonly processor: number;
}

export interface HostileReport {
  readonly kinds: readonly KindReport[];
  readonly unexpected: readonly string[];
  readonly unexpectedCount: number;
  readonly restarts: number;
  /** Acknowledged and not there, or refused and there: notes by their keys, events by their numbers. */
  readonly lost: readonly string[];
  readonly phantoms: readonly string[];
  readonly acknowledged: { readonly notes: number; readonly events: number };
  /** Dead letters of the outbox, beside those that are owed; what is still pending. */
  readonly outbox: { readonly dead: number; readonly doomed: number; readonly pending: number };
  /** Deliveries of webhooks, by what became of them, beside how many were owed. */
  readonly webhooks: Readonly<Record<"owed" | "delivered" | "givenUp" | "pending", number>>;
  readonly livez: ProbeReport;
  /** How late the event loop of the service was; milliseconds. */
  readonly loop: Readonly<Record<"p50" | "p99" | "max", number>>;
  readonly samples: readonly HostileSample[];
  /** The last lines of the service, where it has ended. */
  readonly ends: readonly string[];
}

const password = "correct horse battery staple";
const badOwners = 3;
/** Events that are owed are delivered within this, behind all that fails. */
const settleMillis = 60_000;

/** Runs the project of the hostile author on an engine for so long. */
export async function runHostile(engine: TestEngine, minutes: number): Promise<HostileReport> {
  const project: TestProject = await testProject(hostileFiles);
  const database = await engine.create();
  const receivers = await startOwn<ReceiverPorts, Received>("receivers", null);
  const mails = await startMailServer();
  const supervised = await supervise(await versionOf(project), {
    DATABASE_URL: database.url,
    LOG_LEVEL: "warn",
    SETTLE_SECONDS: "0",
    DRAIN_SECONDS: "1",
    WEBHOOK_ADDRESSES: "any",
    WEBHOOK_MAX_ATTEMPTS: "3",
    WEBHOOK_BACKOFF_SECONDS: "0.5",
    OUTBOX_MAX_ATTEMPTS: "3",
    OUTBOX_BACKOFF_SECONDS: "0.05",
    DESTINATION_SHOP: `http://127.0.0.1:${receivers.begun.good}/shop`,
    DESTINATION_MAIL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: "notes@example.test",
  });
  const client = newClient(supervised.url);
  try {
    const hooks = await subscribe(supervised, client, receivers.begun);
    const token = await supervised.signIn("listener@example.test");
    const given: LoadOptions = { url: supervised.url, token };
    const probe = await startOwn<null, ProbeReport>("probe", { url: supervised.url });
    const load = await startOwn<null, LoadReport>("load", given);
    const samples = await sampled(supervised, minutes);
    const done = await load.end();
    const livez = await probe.end();
    const loop = await client.call("GET", "/good/loop");
    const outbox = await settledOutbox(client);
    const webhooks = await settledWebhooks(client, done.noted.length * hooks);
    const stored = await storedKeys(client);
    const received = await receivers.end();
    const { kinds, unexpected, unexpectedCount } = done;
    return {
      ...{ kinds, unexpected, unexpectedCount, livez, samples, webhooks },
      ...comparisonOf(done, stored, received, mails.received),
      loop: loop.body,
      restarts: supervised.restarts(),
      outbox: { ...outbox, doomed: done.doomed },
      ends: supervised.ends(),
    };
  } finally {
    client.close();
    receivers.kill();
    await supervised.stop();
    mails.close();
    await database.drop();
    project.remove();
  }
}

interface Supervised {
  readonly url: string;
  current(): VersionProcess;
  restarts(): number;
  ends(): readonly string[];
  /** Makes a principal, and resolves with its token. */
  signIn(login: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the service, and anew whenever it ends, as whoever operates it would. */
async function supervise(
  version: Version,
  given: Readonly<Record<string, string>>,
): Promise<Supervised> {
  const port = await freePort();
  const environment = { ...given, PORT: String(port) };
  const url = `http://127.0.0.1:${port}`;
  const ends: string[] = [];
  let isStopping = false;
  const begin = (): VersionProcess => {
    const begun = version.spawn(environment);
    void begun.exited.then((code) => {
      if (isStopping) return;
      ends.push(`ended with ${code}: ${begun.output().slice(-3_000)}`);
      current = begin();
    });
    return begun;
  };
  let current = begin();
  while (!(await answers(url))) await sleep(50);
  return {
    url,
    current: () => current,
    restarts: () => ends.length,
    ends: () => ends,
    async signIn(login) {
      const command = version.spawn(environment, "create-principal", login);
      command.child.stdin?.end(`${password}\n`);
      const code = await command.exited;
      if (code !== 0) throw new Error(command.output());
      const client = newClient(url);
      const { status, body } = await client.call("POST", "/auth/login", {
        body: { login, password },
      });
      client.close();
      if (status !== 200) throw new Error(`nobody could sign in: ${status}`);
      return body.access_token;
    },
    async stop() {
      isStopping = true;
      current.child.kill("SIGKILL");
      await current.exited;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Subscribes a good owner to the good receivers, others to the odd ones; resolves with how many webhooks there are. */
async function subscribe(
  { signIn }: Supervised,
  client: Client,
  { odd, good }: ReceiverPorts,
): Promise<number> {
  const add = async (token: string, url: string): Promise<void> => {
    const made = await client.call("POST", "/webhooks", {
      body: { url, events: ["notes.noted"] },
      headers: { authorization: `Bearer ${token}` },
    });
    if (made.status !== 201) throw new Error(`no webhook: ${made.status}`);
  };
  const owner = await signIn("good@example.test");
  for (const path of goodPaths) await add(owner, `http://127.0.0.1:${good}${path}`);
  const names = Object.keys(oddReceivers);
  const owners: string[] = [];
  for (let index = 0; index < badOwners; index += 1)
    owners.push(await signIn(`bad${index}@example.test`));
  for (const [index, name] of names.entries())
    await add(
      owners[index % badOwners] ?? "",
      `http://127.0.0.1:${odd}/${encodeURIComponent(name)}`,
    );
  return goodPaths.length + names.length;
}

const goodPaths = ["/first", "/second"];

/** A mail server that takes everything, and notes who got a mail. */
async function startMailServer() {
  const received = new Set<string>();
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    onData(stream, { envelope }, done) {
      stream.resume().on("end", () => {
        for (const { address } of envelope.rcptTo) received.add(address);
        done();
      });
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return { port, received, close: () => server.close(() => undefined) };
}

/** Lets the load run, and looks at the process now and then. */
async function sampled(
  { current }: Supervised,
  minutes: number,
): Promise<readonly HostileSample[]> {
  const count = 12;
  const samples: HostileSample[] = [];
  for (let index = 1; index <= count; index += 1) {
    await sleep((minutes * 60_000) / count);
    const { child } = current();
    samples.push({
      minute: (index * minutes) / count,
      mebibytes: residentMebibytes(child),
      descriptors: openDescriptors(child),
      processor: processorSeconds(child),
    });
  }
  return samples;
}

async function metricsOf(client: Client, ...names: readonly string[]): Promise<readonly number[]> {
  const { bytes } = await client.call("GET", "/metrics");
  return names.map((name) =>
    Number(new RegExp(`^opwright_${name} (\\S+)$`, "m").exec(bytes.toString())?.[1]),
  );
}

/** What is left of the outbox once nothing waits any more, or once it has had its time. */
async function settledOutbox(
  client: Client,
): Promise<{ readonly dead: number; readonly pending: number }> {
  return settled(
    async () => {
      const [pending = NaN, dead = NaN] = await metricsOf(client, "outbox_pending", "outbox_dead");
      return { pending, dead };
    },
    ({ pending }) => pending === 0,
  );
}

/** Each delivery was made, given up, or still waits: silent receivers take their time. */
async function settledWebhooks(
  client: Client,
  owed: number,
): Promise<HostileReport["webhooks"]> {
  const names = ["webhooks_delivered_total", "webhooks_given_up_total", "webhooks_pending"];
  return settled(
    async () => {
      const [delivered = NaN, givenUp = NaN, pending = NaN] = await metricsOf(client, ...names);
      return { owed, delivered, givenUp, pending };
    },
    ({ delivered, givenUp, pending }) => delivered + givenUp + pending === owed,
  );
}

/** The first value that is good enough, or the last that there was time for. */
async function settled<T>(look: () => Promise<T>, isSettled: (value: T) => boolean): Promise<T> {
  const until = performance.now() + settleMillis;
  for (;;) {
    const value = await look();
    if (isSettled(value) || performance.now() > until) return value;
    await sleep(200);
  }
}

async function storedKeys(client: Client): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (let after: string | null = null; ;) {
    const body = { size: 1_000, ...(after === null ? {} : { after }) };
    const { status, body: page } = await client.call("POST", "/notes/list_cursor", { body });
    if (status !== 200) throw new Error(`notes could not be listed: ${status}`);
    for (const { key } of page.hits) keys.add(key);
    after = page.next_cursor;
    if (page.has_more !== true) return keys;
  }
}

function comparisonOf(
  { acknowledged, refused, noted, mailed, sent }: LoadReport,
  stored: ReadonlySet<string>,
  received: Received,
  mails: ReadonlySet<string>,
): Pick<HostileReport, "lost" | "phantoms" | "acknowledged"> {
  const undelivered = [...goodPaths, "/shop"].flatMap((path) => {
    const there = new Set(received[path]);
    return noted.filter((n) => !there.has(n)).map((n) => `event ${n} at ${path}`);
  });
  const lost = [
    ...acknowledged.filter((key) => !stored.has(key)),
    ...undelivered,
    ...mailed.filter((n) => !mails.has(`n${n}@example.test`)).map((n) => `mail ${n}`),
    ...sent.filter((n) => !stored.has(`sent-${n}`)).map((n) => `event ${n} of a function`),
  ];
  // What is called behind a slash belongs to a handler that stored nothing, or is called too late.
  const phantoms = [
    ...refused.filter((key) => stored.has(key)),
    ...[...stored].filter((key) => key.includes("/")),
  ];
  const events = noted.length + mailed.length + sent.length;
  return { lost, phantoms, acknowledged: { notes: acknowledged.length, events } };
}
