// Rate limits counted in Redis and shared by all processes: one expiring counter per key, changed
// by atomic scripts.
import type { Log } from "../../ports/log.js";
import { unavailable } from "../../contract/errors.js";
import { allowed, countedKey, refusedFor, type RateLimiter } from "../../ports/rate-limiter.js";
import { within } from "../../work/within.js";
import type { RedisClient } from "./driver.js";
import { openRedis } from "./kept-client.js";

/** Milliseconds to wait for an answer. A Redis nearby answers in less than one. */
const answerMillis = 500;
/** Milliseconds that startup waits for the first connection. */
const startMillis = 2_000;

/**
 * Takes one of `ARGV[1]` points per `ARGV[2]` milliseconds. Returns -1, or if none is left, the
 * milliseconds to wait.
 */
const take = `
if tonumber(redis.call("GET", KEYS[1]) or "0") >= tonumber(ARGV[1]) then
  return math.max(redis.call("PTTL", KEYS[1]), 0)
end
redis.call("INCR", KEYS[1])
if redis.call("PTTL", KEYS[1]) < 0 then redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return -1`;

const giveBack = `
if tonumber(redis.call("GET", KEYS[1]) or "0") > 0 then redis.call("DECR", KEYS[1]) end
return 0`;

export interface RedisRateLimiter extends RateLimiter {
  close(): Promise<void>;
}

/**
 * A limiter on one connection, which reconnects by itself. While Redis can't be reached or is
 * silent, calls reject with `core.unavailable` within half a second. `service` separates services
 * that share one Redis. Throws if the package `redis` is not installed.
 */
export async function openRedisRateLimiter(
  url: string,
  service: string,
  log: Log,
): Promise<RedisRateLimiter> {
  const redis = await openRedis(url);
  const prefix = `opwright:${service}:rates`;
  const kept = redis.keep({
    name: prefix,
    mostCommands: 10_000,
    // Callers get `core.unavailable` anyway, so the log only needs this for debugging.
    warn: (err) => log.debug({ err }, "the Redis of rate limits is away"),
  });
  await answeredIn(startMillis, kept.first).catch(() => undefined);

  const asked = async <T>(call: (client: RedisClient) => Promise<T>): Promise<T> => {
    try {
      if (kept.client === null)
        throw new Error("there is no connection to Redis", { cause: kept.fault });
      return await answeredIn(answerMillis, call(kept.client));
    } catch (cause) {
      // It was the master, and is one no longer.
      if (cause instanceof Error && cause.message.includes("READONLY")) kept.refuse(cause);
      throw unavailable(cause);
    }
  };
  const keyOf = (name: string, key: string): string => `${prefix}:${name}:${countedKey(key)}`;
  const run = (script: string, key: string, ...values: readonly number[]): Promise<unknown> =>
    asked((client) => client.eval(script, { keys: [key], arguments: values.map(String) }));

  return {
    async take({ name, points, windowSeconds }, key) {
      const left = Number(await run(take, keyOf(name, key), points, windowSeconds * 1000));
      return left < 0 ? allowed : refusedFor(left);
    },
    async giveBack({ name }, key) {
      await run(giveBack, keyOf(name, key));
    },
    async forget({ name }, key) {
      await asked((client) => client.del(keyOf(name, key)));
    },
    async close() {
      await kept.close();
      redis.close();
    },
  };
}

function answeredIn<T>(millis: number, work: Promise<T>): Promise<T> {
  return within(millis, work, () => new Error(`Redis has not answered in ${millis} ms`));
}
