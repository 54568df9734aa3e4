// A run beside the hostile author: its service in a process that is started anew if it ends, its callers, its receivers and the
// probe in others; what has become of everything that was acknowledged.
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SMTPServer } from "smtp-server";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf } from "../../support/version-process.js";
import type { TestEngine } from "../../support/engines.js";
import { newClient, type Client } from "../../faults/client.js";
import { oddReceivers } from "../../faults/odd-receivers.js";
import {
  openDescriptors,
  processorSeconds,
  residentMebibytes,
  waitedSeconds,
} from "../../faults/observe.js";
import type { LoadOptions, LoadReport } from "./load.js";
import { startOwn } from "./own-process.js";
import {
  comparisonOf,
  goodPaths,
  settledOutbox,
  settledWebhooks,
  storedKeys,
} from "./reckoning.js";
import { supervise, type Supervised } from "./supervise.js";
import type { ProbeReport } from "./probe.js";
import { hostileFiles } from "./project.js";
import type { ReceiverPorts, Received } from "./receivers.js";
import type { HostileReport, HostileSample } from "./report.js";

const badOwners = 3;

/** Runs the project of the hostile author on an engine for so long. */
export async function runHostile(engine: TestEngine, minutes: number): Promise<HostileReport> {
  const project: TestProject = await testProject(hostileFiles);
  const database = await engine.create();
  const receivers = await startOwn<ReceiverPorts, Received>("receivers", null);
  const running: { kill(): void }[] = [receivers];
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
    running.push(probe);
    const load = await startOwn<null, LoadReport>("load", given);
    running.push(load);
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
      kinds,
      unexpected,
      unexpectedCount,
      livez,
      samples,
      webhooks,
      ...comparisonOf(done, stored, received, mails.received),
      loop: loop.body,
      restarts: supervised.restarts(),
      outbox: { ...outbox, doomed: done.doomed },
      ends: supervised.ends(),
    };
  } finally {
    client.close();
    for (const each of running) each.kill();
    await supervised.stop();
    mails.close();
    await database.drop();
    project.remove();
  }
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
      waited: waitedSeconds(child),
    });
  }
  return samples;
}
