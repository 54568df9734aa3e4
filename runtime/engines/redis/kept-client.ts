// A connection to the Redis server that accepts writes. It is replaced when it ends, when it goes
// silent, and when its server is no longer the master.
import { startTimer } from "../../ports/ambient.js";
import { waitMillis, type Backoff } from "../../work/backoff.js";
import { heartbeat } from "../../work/heartbeat.js";
import type { Repeated } from "../../work/repeat.js";
import { tellOnce, type Outage } from "../../work/tell-once.js";
import { within } from "../../work/within.js";
import { redisAddresses } from "./addresses.js";
import { hangUp, loadRedis, type CreateClient, type RedisClient } from "./driver.js";
import { openMasterFinder, type MasterFinder } from "./master.js";

/** A new master is found within about a second of its election. */
const reconnecting: Backoff = { firstMillis: 100, longestMillis: 1_000, leastShare: 0.5 };
/** Milliseconds that commands under way have to be answered when a connection is closed. */
const closeMillis = 1_000;

export interface KeepOptions {
  /** The name that operators see in CLIENT LIST. */
  readonly name: string;
  /** Commands that may wait for an answer; further ones reject. */
  readonly mostCommands: number;
  /**
   * Subscribes each new connection, before others have it. If it rejects, another is made. Such a
   * connection can't be asked what its server is, so somebody else has to refuse it.
   */
  readonly subscribe?: (client: RedisClient) => Promise<void>;
  /** Called once others have it. */
  readonly connected?: () => void;
  /** Called when a connection that others had is gone. */
  readonly lost?: () => void;
  /** Called with each fault that differs from the last one, until there is a connection again. */
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
    keep: (options) => new KeptClient(createClient, finder, options),
    close: () => finder.close(),
  };
}

interface Made {
  readonly client: RedisClient;
  readonly url: string;
}

export class KeptClient {
  /** Resolves when the first attempt to connect is over. */
  readonly first: Promise<void>;
  readonly #createClient: CreateClient;
  readonly #finder: MasterFinder;
  readonly #options: KeepOptions;
  readonly #beat: Repeated;
  readonly #outage: Outage;
  #current: Made | null = null;
  #opening: RedisClient | null = null;
  #retry: NodeJS.Timeout | undefined;
  #attempts = 0;
  #fault: unknown = null;
  #closing: Promise<void> | undefined;

  constructor(createClient: CreateClient, finder: MasterFinder, options: KeepOptions) {
    this.#createClient = createClient;
    this.#finder = finder;
    this.#options = options;
    this.#outage = tellOnce(options.warn);
    this.#beat = heartbeat(
      () => this.#ask(),
      (silence) => this.refuse(silence),
    );
    this.first = this.#connect();
  }

  /** Null while there is no connection. */
  get client(): RedisClient | null {
    return this.#current?.client ?? null;
  }

  /** Why there is no connection, or what was last wrong with it; null if nothing was. */
  get fault(): unknown {
    return this.#fault;
  }

  /** Tells a fault, unless it was the last one that was told since the connection was made. */
  note(fault: unknown): void {
    if (this.#isClosed) return;
    this.#fault = fault;
    this.#outage.tell(fault);
  }

  /** Replaces the connection: an answer has shown that its server is the wrong one. */
  refuse(reason: unknown): void {
    if (this.#current !== null) this.#replace(this.#current.client, reason);
  }

  /** Ends the connection, after what is under way if that is answered in a second. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  get #isClosed(): boolean {
    return this.#closing !== undefined;
  }

  async #close(): Promise<void> {
    this.#beat.stop();
    clearTimeout(this.#retry);
    if (this.#opening !== null) hangUp(this.#opening);
    const client = this.#current?.client;
    this.#current = null;
    if (client === undefined) return;
    const silent = (): Error => new Error("it is silent");
    await within(closeMillis, client.close(), silent).catch(() => undefined);
    hangUp(client);
  }

  #replace(client: RedisClient, reason: unknown): void {
    if (this.#current?.client !== client) return;
    this.#current = null;
    hangUp(client);
    if (this.#isClosed) return;
    this.note(reason);
    this.#options.lost?.();
    this.#again();
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#attempts += 1;
    const millis = waitMillis(reconnecting, this.#attempts);
    this.#retry = startTimer(() => void this.#connect(), millis).unref();
  }

  async #connect(): Promise<void> {
    try {
      this.#current = await this.#make();
      this.#attempts = 0;
      this.#fault = null;
      this.#outage.end();
    } catch (error) {
      if (this.#opening !== null) hangUp(this.#opening);
      this.note(error);
      return this.#again();
    } finally {
      this.#opening = null;
    }
    this.#options.connected?.();
  }

  async #make(): Promise<Made> {
    const url = await this.#finder.find();
    if (this.#isClosed) throw new Error("it is closed");
    const client = newClient(this.#createClient, url, this.#options);
    client.on("error", (error: unknown) => this.#replace(client, error));
    this.#opening = client;
    await client.connect();
    await expectMaster(client);
    await this.#options.subscribe?.(client);
    if (this.#isClosed || !client.isReady) throw new Error("the connection has ended");
    return { client, url };
  }

  async #ask(): Promise<void> {
    const asked = this.#current;
    if (asked === null) return;
    const { client } = asked;
    await (this.#options.subscribe === undefined ? expectMaster(client) : client.ping());
    // While no Sentinel answers, the server that is there goes on.
    const url = await this.#finder.find().catch(() => asked.url);
    if (url !== asked.url)
      this.#replace(client, new Error("another server has been made the master"));
  }
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
