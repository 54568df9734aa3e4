// What a service under test has committed and logged, as arrays: events, signals, and lines of the
// log.
import type { CheckedMail } from "../families/outbox/mail.js";
import type { Log } from "../ports/log.js";
import type { CommittedSignal, Observer } from "../ports/observer.js";

/** An integration event. `Events` has the type of the data by the name of the event. */
export type RecordedEvent<Events> = {
  readonly [Name in keyof Events & string]: {
    readonly id: string;
    readonly name: Name;
    readonly data: Events[Name];
    readonly tenant: string;
    /** RFC 3339. */
    readonly created_at: string;
  };
}[keyof Events & string];

/** A mail that the function of `outbox.mail` has made. */
export interface RecordedMail<Events> extends CheckedMail {
  /** The event that it is of. */
  readonly event: RecordedEvent<Events>;
}

/** A signal. `Signals` has the type of the data by the name of the signal. */
export type RecordedSignal<Signals> = {
  readonly [Name in keyof Signals & string]: {
    readonly name: Name;
    readonly data: Signals[Name];
    readonly tenant: string;
    /** The principals of a durable signal; the principal or topic of an ephemeral one. */
    readonly to: CommittedSignal["to"];
  };
}[keyof Signals & string];

/** A line of the log. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Recorder<Events, Signals> {
  readonly outbox: readonly RecordedEvent<Events>[];
  readonly signals: readonly RecordedSignal<Signals>[];
  readonly logs: readonly LogLine[];
  readonly observer: Observer;
  readonly log: Log;
}

/** Records what it is told, oldest first. */
export function recorder<Events, Signals>(): Recorder<Events, Signals> {
  const outbox: RecordedEvent<Events>[] = [];
  const signals: RecordedSignal<Signals>[] = [];
  const logs: LogLine[] = [];
  const noted =
    (level: LogLine["level"]): Log["info"] =>
    (fields, message) =>
      void logs.push({ level, message, fields });
  return {
    outbox,
    signals,
    logs,
    observer: {
      event({ createdAt, ...event }) {
        const entry = { ...event, created_at: new Date(createdAt).toISOString() };
        // `stageEvent` has the types of the registry, so the cast holds. Cloned because a handler
        // may change its object later.
        outbox.push(structuredClone(entry) as RecordedEvent<Events>);
      },
      withdrawn(eventId) {
        const at = outbox.findIndex((event) => (event as { readonly id: string }).id === eventId);
        if (at >= 0) outbox.splice(at, 1);
      },
      signal({ data, ...signal }) {
        signals.push({ ...signal, data: JSON.parse(data) } as RecordedSignal<Signals>);
      },
    },
    log: { debug: noted("debug"), info: noted("info"), warn: noted("warn"), error: noted("error") },
  };
}
