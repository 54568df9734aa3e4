// Whether a service traces: where an OpenTelemetry SDK has been registered before it started.
import type { Log } from "../ports/log.js";
import type { Tracer } from "../ports/tracer.js";
import { ownVersion } from "./own-version.js";

/**
 * Where OpenTelemetry's API, in all versions 1.x, keeps what an SDK registers, so that copies of
 * it find each other. Asking there spares everybody else the API, which takes time to load.
 */
const registered = Symbol.for("opentelemetry.js.api.1");

/** The tracer of the process; null if nobody has asked for one. */
export async function openTracer(log: Log): Promise<Tracer | null> {
  const found = (globalThis as { readonly [registered]?: { readonly trace?: unknown } })[
    registered
  ];
  if (found?.trace === undefined) return null;
  try {
    const { openTelemetryTracer } = await import("../engines/opentelemetry/tracer.js");
    return openTelemetryTracer(ownVersion(), log);
  } catch (error) {
    const text = "nothing is traced: the package @opentelemetry/api is missing beside opwright";
    log.warn({ err: error }, text);
    return null;
  }
}
