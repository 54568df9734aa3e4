// Where rate limits and attempts are counted: in Redis where the bus is one, else in PostgreSQL, else in this process.
import { memoryRateLimiter } from "../engines/memory/rate-limiter.js";
import { systemClock, type Clock } from "../ports/clock.js";
import type { Database } from "../ports/database.js";
import { databaseRateLimiter } from "../operations/database-rate-limiter.js";
import type { Log } from "../ports/log.js";
import type { RateLimiter } from "../ports/rate-limiter.js";
import { rateLimiterWithFallback } from "../operations/rate-limiter-fallback.js";
import type { Settings } from "./settings.js";

export interface OpenLimiter {
  readonly limiter: RateLimiter;
  close(): Promise<void>;
}

/** The limiter of a service, shared by its processes wherever there may be several. `service` is its name. */
export async function openLimiter(
  { busUrl, databaseUrl }: Pick<Settings, "busUrl" | "databaseUrl">,
  service: string,
  {
    clock,
    database,
    log,
  }: { readonly clock: Clock; readonly database: Database; readonly log: Log },
): Promise<OpenLimiter> {
  const close = async (): Promise<void> => undefined;
  if (busUrl?.startsWith("redis") === true) {
    const { openRedisRateLimiter } = await import("../engines/redis/rate-limiter.js");
    const shared = await openRedisRateLimiter(busUrl, service, log);
    const limiter = rateLimiterWithFallback(shared, memoryRateLimiter(), log);
    return { limiter, close: () => shared.close() };
  }
  // The database has a time of its own, which no test moves.
  if (clock !== systemClock) return { limiter: memoryRateLimiter(clock.now), close };
  const isShared = databaseUrl.startsWith("postgres");
  return { limiter: isShared ? databaseRateLimiter(database) : memoryRateLimiter(), close };
}
