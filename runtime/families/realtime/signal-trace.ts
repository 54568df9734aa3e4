// What a trace says of a signal: when this process has sent it to who hears it.
import type { Signal } from "../../ports/signal.js";
import type { Tracer } from "../../ports/tracer.js";
import type { Hub } from "./hub.js";

/** A hub that notes in traces what is published. */
export function tracedHub(hub: Hub, tracer: Tracer | null): Hub {
  if (tracer === null) return hub;
  return {
    ...hub,
    publish(tenant, to, signal) {
      hub.publish(tenant, to, signal);
      traceSent(tracer, signal);
    },
  };
}

/** Notes in the trace of a signal that it is being sent: to one connection, or to a topic's. */
export function traceSent(tracer: Tracer | null, { name, traceparent }: Signal): void {
  if (tracer === null || traceparent === null) return;
  tracer.begin(`signal ${name}`, "producer", { traceparent }).span?.end();
}
