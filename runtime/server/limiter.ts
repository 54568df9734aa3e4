// Where rate limits and attempts are counted: in Redis if that is the bus, otherwise in PostgreSQL,
// otherwise in this process.
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
  /**
   * Rejects while the shared counts refuse to be changed; undefined if they are not apart from the
   * database.
   */
  readonly probe?: () => Promise<void>;
  close(): Promise<void>;
}

/** Counted past the fallback: a Redis that was made a replica answers, and refuses every write. */
const probed = { name: "readiness", points: 1_000_000, windowSeconds: 1 };

/**
 * Opens the limiter of the service with this name. If the service may have several processes, they
 * share the counts.
 */
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
    const probe = async (): Promise<void> => void (await shared.take(probed, "readiness"));
    return { limiter, probe, close: () => shared.close() };
  }
  // The database counts by its own clock, which tests can't move.
  if (clock !== systemClock) return { limiter: memoryRateLimiter(clock.now), close };
  const isShared = databaseUrl.startsWith("postgres");
  return { limiter: isShared ? databaseRateLimiter(database) : memoryRateLimiter(), close };
}
