// A store of objects whose calls are parts of a trace.
import type { ObjectStore } from "../../ports/objects.js";
import { tracePart, type Attributes, type TraceSpan } from "../../ports/tracer.js";

/**
 * Calls of the store as parts of a span. Keys are callers' and aren't told; of an opened object the
 * span is about its beginning, as its reader sets the pace of the rest.
 */
export function tracedStore(store: ObjectStore, trace: TraceSpan, storage: string): ObjectStore {
  const about: Attributes = { "opwright.storage": storage };
  const within = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    tracePart(trace, `${what} ${storage}`, "client", work, about);
  return {
    head: (...given) => within("head", () => store.head(...given)),
    open: (...given) => within("open", () => store.open(...given)),
    write: (...given) => within("write", () => store.write(...given)),
    remove: (...given) => within("remove", () => store.remove(...given)),
    copy: (...given) => within("copy", () => store.copy(...given)),
    list: (...given) => store.list(...given),
    sweep: (...given) => store.sweep(...given),
    ping: (...given) => store.ping(...given),
    direct: store.direct,
    close: () => store.close(),
  };
}
