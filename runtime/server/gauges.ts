// Figures of single parts of a service, read when somebody asks for them: what waits in the outbox, what connections do.
import type { Connection } from "./connect.js";
import type { RunningRealtime } from "./realtime.js";
import type { ServiceDefinition } from "./service.js";

/** A figure by its name. */
export type Gauges = Readonly<Record<string, () => number | Promise<number>>>;

export function gaugesOf(
  { outbox, realtime: plane }: Pick<ServiceDefinition, "outbox" | "realtime">,
  { database }: Connection,
  realtime: RunningRealtime | null,
): Gauges {
  const state = askedOnce(() => database.reader.outbox.state(Date.now()));
  const ofOutbox: Gauges =
    outbox === undefined
      ? {}
      : {
          outbox_pending: async () => (await state()).pending,
          outbox_dead: async () => (await state()).dead,
          outbox_lag_seconds: async () => (await state()).lagMillis / 1000,
        };
  const ofSignals: Gauges =
    plane === undefined
      ? {}
      : {
          signals_lag_seconds: async () =>
            (await database.reader.mailbox.stagedLag(Date.now())) / 1000,
        };
  const names = Object.keys(realtime?.counters ?? {}) as (keyof RunningRealtime["counters"])[];
  const ofRealtime = names.map(
    (name) => [`realtime_${name}`, () => realtime?.counters[name] ?? 0] as const,
  );
  return { ...ofOutbox, ...ofSignals, ...Object.fromEntries(ofRealtime) };
}

/** Those who ask at once share one answer: figures that are read together come of one query. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () =>
    (asked ??= ask().finally(() => {
      asked = undefined;
    }));
}
