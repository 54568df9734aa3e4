// The bus over Redis publish and subscribe: one connection publishes, another subscribes.
import type { Log } from "../../ports/log.js";
import { isLoss, type BusListener, type BusMessage, type SignalBus } from "../../ports/bus.js";
import { drawBytes } from "../../ports/ambient.js";
import { openRedis } from "./kept-client.js";

/**
 * Messages that may wait to be sent, and their characters. Further ones are dropped, which the port
 * allows (ports/bus.ts).
 */
const [maxWaiting, maxWaitingLength] = [10_000, 16 * 1024 * 1024];

/**
 * Connects in the background and reconnects by itself. `service` separates services that share one
 * Redis. Throws if the package `redis` is not installed.
 */
export async function openRedisBus(url: string, service: string, log: Log): Promise<SignalBus> {
  const redis = await openRedis(url);
  const origin = drawBytes(8).toString("hex");
  const channel = `opwright:${service}:signals`;
  let listener: BusListener | undefined;

  const hear = (text: string): void => {
    try {
      const told = JSON.parse(text) as { readonly origin: string; readonly message: BusMessage };
      if (told.origin !== origin) listener?.heard(told.message);
    } catch (error) {
      log.warn({ err: error }, "another process told what this one does not understand");
    }
  };
  const warn = (error: unknown): void =>
    log.warn({ err: error }, "the bus of signals does not answer");
  const usual = { name: channel, mostCommands: maxWaiting, warn };
  const subscriber = redis.keep({
    ...usual,
    subscribe: (client) => client.subscribe(channel, hear),
    connected: () => listener?.resumed(),
  });
  const publisher = redis.keep({
    ...usual,
    lost: () => {
      // What was sent last may have reached a server that nobody hears any more, and what others
      // send may not reach the one where this process hears.
      listener?.lost();
      subscriber.refuse(new Error("the connection that publishes has been replaced"));
    },
  });
  let waitingLength = 0;

  return {
    send(message) {
      const lost = (): void => {
        if (isLoss(message)) listener?.lost();
      };
      const { client } = publisher;
      const text = JSON.stringify({ origin, message });
      if (client === null || waitingLength + text.length > maxWaitingLength) return lost();
      waitingLength += text.length;
      client
        .publish(channel, text)
        .catch((error: unknown) => {
          publisher.note(error);
          lost();
        })
        .finally(() => (waitingLength -= text.length));
    },

    listen(given) {
      listener = given;
    },

    async probe() {
      if (publisher.client === null || subscriber.client === null)
        throw new Error("the bus does not answer", { cause: publisher.fault ?? subscriber.fault });
      await publisher.client.ping();
    },

    async close() {
      await Promise.all([publisher.close(), subscriber.close()]);
      redis.close();
    },
  };
}
