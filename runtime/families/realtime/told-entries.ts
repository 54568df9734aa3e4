// Signals of other versions as this one declares them: entries of mailboxes, and what other
// processes publish.
import type { Resources } from "../../operations/resources.js";
import type { BusMessage } from "../../ports/bus.js";
import type { MailboxEntry } from "../../ports/mailbox.js";
import { Signal } from "../../ports/signal.js";
import { keptAs, renameSignal, toldAs } from "./signal-names.js";
import type { RealtimeSpec } from "./spec.js";

/**
 * The signal of an entry. An event is undeclared if clients of this version don't know it. An entry
 * that can't be read, because an author's converter throws, is lost: whoever tells entries
 * announces a gap, and goes on.
 */
export type TellEntry = (entry: MailboxEntry) => Signal | "undeclared" | "lost";

type Telling = readonly [Pick<RealtimeSpec, "events">, Pick<Resources, "kept" | "log">];

/** Makes the function that turns entries into signals. */
export function entriesTold(...[{ events }, resources]: Telling): TellEntry {
  return (entry) => {
    const name = toldAs(events, entry.name);
    if (!Object.hasOwn(events, name)) return "undeclared";
    const data = readData(resources, name, entry);
    return data === null ? "lost" : Signal.ofEntry({ ...entry, name, data });
  };
}

/**
 * The payload as this version declares it; null, and a line of the log, if a converter of the
 * author's throws.
 */
function readData(
  { kept, log }: Telling[1],
  name: string,
  { data, shape }: Pick<MailboxEntry, "data" | "shape">,
): string | null {
  try {
    return kept.signals(name).told(data, shape);
  } catch (error) {
    log.error({ err: error, event: name }, "a signal could not be read");
    return null;
  }
}

type Published = Extract<BusMessage, { readonly kind: "signal" }>;

/**
 * Makes the function that reads ephemeral signals of other processes; null for what can't be read,
 * and for an event that this version doesn't declare.
 */
export function publishedElsewhere(
  ...[{ events }, resources]: Telling
): (message: Published) => Signal | null {
  return ({ shape, signalId = null, traceparent = null, ...sent }) => {
    const { name, data } = renameSignal(sent, (first) => toldAs(events, first));
    const isOwn = name.startsWith("realtime.");
    if (!isOwn && !Object.hasOwn(events, name)) return null;
    const told = isOwn ? data : readData(resources, name, { data, shape });
    return told === null ? null : new Signal(name, told, null, signalId, traceparent);
  };
}

/** An ephemeral signal as other processes are sent it. */
export function publishedHere(
  signal: Signal,
  ...[{ events }, { kept }]: Telling
): Pick<Published, "name" | "data" | "shape" | "signalId" | "traceparent"> {
  const { signalId, traceparent } = signal;
  const form = kept.signals(signal.name);
  const stored = { name: signal.name, data: form.stored(signal.data) };
  const { name, data } = renameSignal(stored, (present) => keptAs(events, present));
  return {
    name,
    data,
    shape: form.shape,
    ...(signalId === null ? {} : { signalId }),
    ...(traceparent === null ? {} : { traceparent }),
  };
}
