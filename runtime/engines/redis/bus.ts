// The bus over Redis publish and subscribe: one connection publishes, another subscribes.
import { waitMillis, type Backoff } from "../../work/backoff.js";
import type { Log } from "../../ports/log.js";
import { heartbeat } from "../../work/heartbeat.js";
import type { Repeated } from "../../work/repeat.js";
import { isLoss, type BusListener, type BusMessage, type SignalBus } from "../../ports/bus.js";
import { drawBytes } from "../../ports/ambient.js";

const reconnecting: Backoff = { firstMillis: 100, longestMillis: 5_000, leastShare: 0.5 };
/**
 * Messages that may wait to be sent. Further ones are dropped, which the port allows
 * (ports/bus.ts).
 */
const maxWaiting = 10_000;

/**
 * Connects in the background and reconnects by itself. `service` separates services that share one
 * Redis. Throws if the package `redis` is not installed.
 */
export async function openRedisBus(url: string, service: string, log: Log): Promise<SignalBus> {
  const { createClient } = await import("redis").catch((cause: unknown) => {
    throw new Error("Redis needs the package redis: npm install redis", { cause });
  });
  const origin = drawBytes(8).toString("hex");
  const channel = `opwright:${service}:signals`;
  const publisher = createClient({
    url,
    // The name that operators see in CLIENT LIST.
    name: channel,
    commandsQueueMaxLength: maxWaiting,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 5_000,
      // For a connection that goes silent while it is made; the heartbeat keeps a live one within
      // it.
      socketTimeout: 10_000,
      reconnectStrategy: (retries) => !isClosed && waitMillis(reconnecting, retries + 1),
    },
  });
  const subscriber = publisher.duplicate();
  let listener: BusListener | undefined;
  let isSubscribed = false;
  let isClosed = false;

  const hear = (text: string): void => {
    try {
      const told = JSON.parse(text) as { readonly origin: string; readonly message: BusMessage };
      if (told.origin !== origin) listener?.heard(told.message);
    } catch (error) {
      log.warn({ err: error }, "another process told what this one does not understand");
    }
  };
  const warned = (error: unknown): void => {
    if (!isClosed) log.warn({ err: error }, "the bus of signals does not answer");
  };
  publisher.on("error", warned);
  subscriber.on("error", warned);
  const ready = async (): Promise<void> => {
    // After the first subscription, the client resubscribes by itself before it emits `ready`.
    if (!isSubscribed) await subscriber.subscribe(channel, hear);
    isSubscribed = true;
    listener?.resumed();
  };
  // If the connection breaks before the first subscription, `ready` comes again and retries it.
  subscriber.on("ready", () => void ready().catch(warned));
  // Not awaited: without a server the clients keep trying in the background until `close`.
  for (const client of [publisher, subscriber]) void client.connect().catch(warned);
  const beats = [publisher, subscriber].map((client) => replacedIfSilent(client, warned));

  return {
    send(message) {
      const lost = (): void => {
        if (isLoss(message)) listener?.lost();
      };
      if (!publisher.isReady) return lost();
      publisher.publish(channel, JSON.stringify({ origin, message })).catch((error: unknown) => {
        warned(error);
        lost();
      });
    },

    listen(given) {
      listener = given;
    },

    async probe() {
      if (!publisher.isReady || !isSubscribed) throw new Error("the bus does not answer");
      await publisher.ping();
    },

    async close() {
      isClosed = true;
      for (const beat of beats) beat.stop();
      for (const client of [publisher, subscriber]) {
        if (client.isReady) await client.close().catch(warned);
        else if (client.isOpen) client.destroy();
      }
    },
  };
}

/** A client of Redis, as far as the heartbeat needs it. */
interface Beating {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  ping(): Promise<unknown>;
  connect(): Promise<unknown>;
  destroy(): void;
}

/**
 * Has a client connect again when its connection has gone silent. What waits for an answer is lost,
 * and rejects.
 */
function replacedIfSilent(client: Beating, warned: (error: unknown) => void): Repeated {
  const ask = async (): Promise<void> => {
    if (client.isReady) await client.ping();
  };
  return heartbeat(ask, (silence) => {
    if (!client.isOpen || !client.isReady) return;
    warned(silence);
    client.destroy();
    void client.connect().catch(warned);
  });
}
