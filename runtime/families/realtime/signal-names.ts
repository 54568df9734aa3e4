// The names of signals: mailboxes keep the first one, and processes tell each other that, so that clients of each version hear
// the name that they know (evolution.md "Rename").
import { firstName, presentName, type FirstNames } from "../../contract/former-names.js";
import type { MailboxEntry } from "../../ports/mailbox.js";
import { Signal } from "../../ports/signal.js";
import type { RealtimeSpec } from "./spec.js";

type Events = Pick<RealtimeSpec, "events">;

const read = new WeakMap<Events["events"], FirstNames>();

/** First names of signals by present ones. */
function formerNames({ events }: Events): FirstNames {
  const known = read.get(events);
  if (known !== undefined) return known;
  const made = Object.fromEntries(
    Object.entries(events).flatMap(([name, { was }]) => (was === undefined ? [] : [[name, was]])),
  );
  read.set(events, made);
  return made;
}

/** The name under which a signal is kept. */
export function keptAs(events: RealtimeSpec["events"], name: string): string {
  return firstName(formerNames({ events }), name);
}

/** Entries of mailboxes under the names that clients of this version know. */
export function named<Entry extends Pick<MailboxEntry, "name">>(
  spec: Events,
  entries: readonly Entry[],
): readonly Entry[] {
  const former = formerNames(spec);
  return entries.map((entry) => {
    const name = presentName(former, entry.name);
    return name === entry.name ? entry : { ...entry, name };
  });
}

/** What a document that has left a topic is told of; it names an event as well. */
const removed = "realtime.removed";

type Told = Pick<Signal, "name" | "data">;

/** An ephemeral signal as other processes are told of it. */
export function toOthers(spec: Events, signal: Told): Told {
  return renamed(signal, (name) => firstName(formerNames(spec), name));
}

/** The signal that another process tells of. */
export function fromOthers(spec: Events, told: Told): Signal {
  const { name, data } = renamed(told, (first) => presentName(formerNames(spec), first));
  return new Signal(name, data, null);
}

function renamed({ name, data }: Told, rename: (name: string) => string): Told {
  if (name !== removed) return { name: rename(name), data };
  const said = JSON.parse(data) as { readonly event: string };
  const event = rename(said.event);
  return { name, data: event === said.event ? data : JSON.stringify({ ...said, event }) };
}
