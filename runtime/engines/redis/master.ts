// Which Redis server accepts writes now. A URL names it, or Sentinels do, which elect another one
// when it is gone (Redis documentation, "Guidelines for Redis clients with support for Redis
// Sentinel").
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import { within } from "../../work/within.js";
import type { RedisAddresses, ServerAddress } from "./addresses.js";
import { hangUp, type CreateClient, type RedisClient } from "./driver.js";

/** Milliseconds that a Sentinel has to answer, also with a new connection. */
const answerMillis = 2_000;
/** Milliseconds to wait for the others once one has answered: they may know of a later election. */
const othersMillis = 300;
/** Milliseconds for which an answer is good enough for who asks next. */
const freshMillis = 500;

export interface MasterFinder {
  /** The URL of the server. Rejects if no Sentinel that answers knows one. */
  find(): Promise<string>;
  close(): void;
}

/** A finder that connects to Sentinels when it is first asked, and stays connected. */
export function openMasterFinder(
  createClient: CreateClient,
  addresses: RedisAddresses,
): MasterFinder {
  if (addresses.kind === "server")
    return { find: async () => addresses.url, close: () => undefined };
  const { urls, master, urlOf } = addresses;
  const sentinels = urls.map((url) => openSentinel(createClient, url));
  let last: { readonly url: Promise<string>; readonly since: number } | undefined;
  return {
    async find() {
      if (last === undefined || monotonicMillis() - last.since > freshMillis)
        last = {
          url: askAll(sentinels, master).then(({ server }) => readableUrl(urlOf(server))),
          since: monotonicMillis(),
        };
      return last.url;
    },
    close() {
      for (const sentinel of sentinels) sentinel.close();
    },
  };
}

/** The package would throw an error that has the URL, and so the password, in it. */
function readableUrl(url: string): string {
  if (!URL.canParse(url)) throw new Error("the Sentinels name a host that can't be read");
  return url;
}

/** What a Sentinel believes. A later election has a higher epoch. */
interface Belief {
  readonly server: ServerAddress;
  readonly epoch: number;
}

interface Sentinel {
  ask(master: string): Promise<Belief>;
  close(): void;
}

/** Asks all at once: one that was cut off from the others still believes in the old master. */
async function askAll(sentinels: readonly Sentinel[], master: string): Promise<Belief> {
  const beliefs: Belief[] = [];
  const asked = sentinels.map(async (sentinel) => {
    const belief = await sentinel.ask(master);
    beliefs.push(belief);
    return belief;
  });
  try {
    await Promise.any(asked);
  } catch (error) {
    throw noMaster(master, error);
  }
  await Promise.race([Promise.allSettled(asked), sleep(othersMillis, undefined, { ref: false })]);
  return beliefs.reduce((latest, one) => (one.epoch > latest.epoch ? one : latest));
}

function noMaster(master: string, cause: unknown): Error {
  const reasons = cause instanceof AggregateError ? cause.errors : [cause];
  const told = new Set(reasons.map((one) => (one instanceof Error ? one.message : String(one))));
  return new Error(`no Sentinel names the master ${master}: ${[...told].join("; ")}`, { cause });
}

function openSentinel(createClient: CreateClient, url: string): Sentinel {
  let current: { readonly client: RedisClient; readonly connected: Promise<unknown> } | undefined;
  const connect = (): NonNullable<typeof current> => {
    const client = createClient({
      url,
      disableOfflineQueue: true,
      socket: { connectTimeout: answerMillis, reconnectStrategy: false },
    });
    // Who asks next connects anew.
    client.on("error", () => undefined);
    return { client, connected: client.connect() };
  };
  const forget = (): void => {
    // Also while it is being connected: one that is silent would never be.
    if (current !== undefined) hangUp(current.client);
    current = undefined;
  };
  const answer = async (master: string): Promise<Belief> => {
    const { client, connected } = (current ??= connect());
    await connected;
    return readBelief(await client.sendCommand(["SENTINEL", "MASTER", master]));
  };
  const late = (): Error => new Error(`no answer in ${answerMillis} ms`);
  return {
    async ask(master) {
      try {
        return await within(answerMillis, answer(master), late);
      } catch (error) {
        forget();
        throw error;
      }
    },
    close: forget,
  };
}

/** Reads the answer: names and values in turn. */
function readBelief(answer: unknown): Belief {
  const texts = Array.isArray(answer) ? answer.map(String) : [];
  const valueOf = (name: string): string => {
    const at = texts.findIndex((text, index) => index % 2 === 0 && text === name);
    return at < 0 ? "" : (texts[at + 1] ?? "");
  };
  const server = { host: valueOf("ip"), port: Number(valueOf("port")) };
  if (server.host === "" || !(server.port > 0)) throw new Error("its answer can't be read");
  return { server, epoch: Number(valueOf("config-epoch")) };
}
