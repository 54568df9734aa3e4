// A connection to the Redis server that accepts writes. It is replaced when it ends, when it goes
// silent, and when its server is no longer the master.
import { startTimer } from "../../ports/ambient.js";
import { waitMillis, type Backoff } from "../../work/backoff.js";
import { heartbeat } from "../../work/heartbeat.js";
import { within } from "../../work/within.js";
import { redisAddresses } from "./addresses.js";
import { hangUp, loadRedis, type CreateClient, type RedisClient } from "./driver.js";
import { openMasterFinder, type MasterFinder } from "./master.js";

/** A new master is found within about a second of its election. */
const reconnecting: Backoff = { firstMillis: 100, longestMillis: 1_000, leastShare: 0.5 };
/** Milliseconds that commands under way have to be answered when a connection is closed. */
const closeMillis = 1_000;

export interface KeptClient {
  /** Null while there is no connection. */
  readonly client: RedisClient | null;
  /** Resolves when the first attempt to connect is over. */
  readonly first: Promise<void>;
  /** Replaces the connection: an answer has shown that its server is the wrong one. */
  refuse(reason: unknown): void;
  /** Ends the connection, after what is under way if that is answered in a second. */
  close(): Promise<void>;
}

export interface KeepOptions {
  /** The name that operators see in CLIENT LIST. */
  readonly name: string;
  /** Commands that may wait for an answer; further ones reject. */
  readonly mostCommands: number;
  /** Called with each new connection, before others have it. If it rejects, another is made. */
  readonly prepare?: (client: RedisClient) => Promise<void>;
  /** Called once others have it. */
  readonly connected?: () => void;
  /** Called when a connection that others had is gone. */
  readonly lost?: () => void;
  /** Called with every fault. */
  readonly warn: (error: unknown) => void;
}

/** Opens kept connections to the Redis of a URL. Throws if the package `redis` isn't installed. */
export async function openRedis(url: string): Promise<{
  /** Connects in the background, and tries again until it is closed. */
  keep(options: KeepOptions): KeptClient;
  /** Ends what only the connections needed; close those first. */
  close(): void;
}> {
  const createClient = await loadRedis();
  const finder = openMasterFinder(createClient, redisAddresses(url));
  return {
    keep: (options) => keepClient(createClient, finder, options),
    close: () => finder.close(),
  };
}

function keepClient(
  createClient: CreateClient,
  finder: MasterFinder,
  { name, mostCommands, prepare, connected, lost, warn }: KeepOptions,
): KeptClient {
  let current: { readonly client: RedisClient; readonly url: string } | null = null;
  let opening: RedisClient | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  let attempts = 0;

  const again = (): void => {
    if (isClosed) return;
    attempts += 1;
    retry = startTimer(() => void connect(), waitMillis(reconnecting, attempts)).unref();
  };
  const replace = (client: RedisClient, reason: unknown): void => {
    if (current?.client !== client) return;
    current = null;
    hangUp(client);
    if (isClosed) return;
    warn(reason);
    lost?.();
    again();
  };
  const connect = async (): Promise<void> => {
    try {
      const url = await finder.find();
      if (isClosed) return;
      const client = newClient(createClient, url, { name, mostCommands });
      client.on("error", (error: unknown) => replace(client, error));
      opening = client;
      await client.connect();
      await expectMaster(client);
      await prepare?.(client);
      if (isClosed || !client.isReady) throw new Error("the connection has ended");
      current = { client, url };
      attempts = 0;
    } catch (error) {
      if (opening !== null) hangUp(opening);
      if (!isClosed) warn(error);
      return again();
    } finally {
      opening = null;
    }
    connected?.();
  };
  const beat = heartbeat(
    async () => {
      const asked = current;
      if (asked === null) return;
      await expectMaster(asked.client);
      // While no Sentinel answers, the server that is there goes on.
      const url = await finder.find().catch(() => asked.url);
      if (url !== asked.url && current === asked)
        replace(asked.client, new Error("another server has been made the master"));
    },
    (fault) => {
      if (current !== null) replace(current.client, fault);
    },
  );
  const first = connect();
  return {
    get client() {
      return current?.client ?? null;
    },
    first,
    refuse(reason) {
      if (current !== null) replace(current.client, reason);
    },
    async close() {
      isClosed = true;
      beat.stop();
      clearTimeout(retry);
      if (opening !== null) hangUp(opening);
      if (current === null) return;
      const { client } = current;
      await within(closeMillis, client.close(), () => new Error("it is silent")).catch(warn);
      hangUp(client);
    },
  };
}

/** A client of one connection: it is made anew here, where the next master may be another. */
function newClient(
  createClient: CreateClient,
  url: string,
  { name, mostCommands }: Pick<KeepOptions, "name" | "mostCommands">,
): RedisClient {
  return createClient({
    url,
    name,
    commandsQueueMaxLength: mostCommands,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 5_000,
      // For a connection that goes silent while it is made; the heartbeat keeps a live one within
      // it.
      socketTimeout: 10_000,
      reconnectStrategy: false,
    },
  });
}

/**
 * Rejects if the server is a replica: it refuses writes, and what is published there reaches nobody
 * but those who subscribe there. Who may not ask finds out by a write.
 */
async function expectMaster(client: RedisClient): Promise<void> {
  const answer = await client.sendCommand(["ROLE"]).catch((error: unknown) => {
    if (error instanceof Error && /^(?:NOPERM|ERR unknown)/.test(error.message)) return null;
    throw error;
  });
  if (Array.isArray(answer) && String(answer[0]) !== "master")
    throw new Error("the server is a replica: signals and counts need the master");
}
