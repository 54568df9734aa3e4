// The names of signals: mailboxes keep the first one, and processes tell each other that, so that
// clients of each version hear the name that they know (evolution.md "Rename").
import { firstName, presentName, type FirstNames } from "../../contract/former-names.js";
import type { Signal } from "../../ports/signal.js";
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

/** The name that clients of this version know. */
export function toldAs(events: RealtimeSpec["events"], name: string): string {
  return presentName(formerNames({ events }), name);
}

/** The event for a document that has left a topic. */
const removed = "realtime.removed";

type Told = Pick<Signal, "name" | "data">;

/** An ephemeral signal with the first name of its event, or with the present one. */
export function renameSignal({ name, data }: Told, rename: (name: string) => string): Told {
  if (name !== removed) return { name: rename(name), data };
  const said = JSON.parse(data) as { readonly event: string };
  const event = rename(said.event);
  return { name, data: event === said.event ? data : JSON.stringify({ ...said, event }) };
}
