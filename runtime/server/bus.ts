// Which bus a BUS_URL names. An engine is imported only when it is configured.
import type { Log } from "../operations/log.js";
import type { SignalBus } from "../realtime/bus-port.js";

/** Opens the bus of a URL, `postgres://…`; null is one process, or several that look into the database. */
export async function openBus(url: string | null, log: Log): Promise<SignalBus | null> {
  if (url === null) return null;
  const { openPostgresBus } = await import("../engines/postgres/bus.js");
  return openPostgresBus(url, log);
}
