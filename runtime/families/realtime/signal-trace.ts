// What a trace says of a signal: when this process has sent it to who hears it.
import type { Signal } from "../../ports/signal.js";
import type { Tracer } from "../../ports/tracer.js";

/** Notes in the trace of a signal that it is being sent: to one connection, or to a topic's. */
export function traceSent(tracer: Tracer | null, { name, traceparent }: Signal): void {
  if (tracer === null || traceparent === null) return;
  tracer.begin(`signal ${name}`, "producer", { traceparent }).span?.end();
}
