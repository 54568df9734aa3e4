// Which bus a BUS_URL names. An engine is imported only when it is configured.
import type { Log } from "../ports/log.js";
import type { SignalBus } from "../ports/bus.js";

/**
 * Opens the bus of a URL, `postgres://…` or `redis://…`. Null if there is no URL: then there is one
 * process, or several find each other's signals in the database. `service` is the name of the
 * service.
 */
export async function openBus(
  url: string | null,
  service: string,
  log: Log,
): Promise<SignalBus | null> {
  if (url === null) return null;
  if (url.startsWith("redis")) {
    const { openRedisBus } = await import("../engines/redis/bus.js");
    return openRedisBus(url, service, log);
  }
  const { openPostgresBus } = await import("../engines/postgres/bus.js");
  return openPostgresBus(url, log);
}
