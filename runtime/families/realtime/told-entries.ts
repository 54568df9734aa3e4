// Signals of other versions as this one declares them: entries of mailboxes, and what other processes publish.
import type { Resources } from "../../operations/resources.js";
import type { BusMessage } from "../../ports/bus.js";
import type { MailboxEntry } from "../../ports/mailbox.js";
import { Signal } from "../../ports/signal.js";
import { keptAs, renamed, toldAs } from "./signal-names.js";
import type { RealtimeSpec } from "./spec.js";

/**
 * The signal of an entry. An event is undeclared if clients of this version don't know it. An entry that can't be read, because
 * an author's converter throws, is lost: whoever tells entries announces a gap, and goes on.
 */
export type TellEntry = (entry: MailboxEntry) => Signal | "undeclared" | "lost";

type Telling = readonly [Pick<RealtimeSpec, "events">, Pick<Resources, "kept">];

/** Makes the function that turns entries into signals. */
export function entriesTold(
  { events }: Pick<RealtimeSpec, "events">,
  { kept, log }: Pick<Resources, "kept" | "log">,
): TellEntry {
  return (entry) => {
    const name = toldAs(events, entry.name);
    if (!Object.hasOwn(events, name)) return "undeclared";
    try {
      const data = kept.signals(name).told(entry.data, entry.shape);
      return Signal.ofEntry({ ...entry, name, data });
    } catch (error) {
      log.error({ err: error, event: name, signal: entry.eventId }, "a signal could not be read");
      return "lost";
    }
  };
}

type Published = Extract<BusMessage, { readonly kind: "signal" }>;

/** Makes the function that reads ephemeral signals of other processes; null for an event that this version doesn't declare. */
export function publishedElsewhere(
  ...[{ events }, { kept }]: Telling
): (message: Published) => Signal | null {
  return ({ shape, signalId = null, ...sent }) => {
    const { name, data } = renamed(sent, (first) => toldAs(events, first));
    const isOwn = name.startsWith("realtime.");
    if (!isOwn && !Object.hasOwn(events, name)) return null;
    const told = isOwn ? data : kept.signals(name).told(data, shape);
    return new Signal(name, told, null, signalId);
  };
}

/** An ephemeral signal as other processes are sent it. */
export function publishedHere(
  signal: Signal,
  ...[{ events }, { kept }]: Telling
): Pick<Published, "name" | "data" | "shape" | "signalId"> {
  const { signalId } = signal;
  const form = kept.signals(signal.name);
  const stored = { name: signal.name, data: form.stored(signal.data) };
  const { name, data } = renamed(stored, (present) => keptAs(events, present));
  return { name, data, shape: form.shape, ...(signalId === null ? {} : { signalId }) };
}
