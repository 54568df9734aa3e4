// A destination for development: events are printed to the log, payload and all.
import type { Log } from "../../ports/log.js";
import type { Destination } from "./spec.js";

/** Prints each event. Never in production: payloads hold secrets. */
export function logDestination(log: Log): Destination {
  // As text, because the log would redact members such as a token, which developers need.
  return async ({ name, data }) =>
    log.info({ event: name, payload: JSON.stringify(data) }, "integration event");
}
