// The counters of realtime as metrics.
import type { RealtimeCounters } from "../../families/realtime/limits.js";
import { counter, gauge, type DeclaredMetrics } from "../../operations/metric.js";

/** How many connections there are, and how often each limit was reached. */
export function countersAsMetrics(counters: Readonly<RealtimeCounters>): DeclaredMetrics {
  const ofSignals = (name: "delivered" | "dropped" | "gaps", help: string) =>
    counter(
      help,
      () =>
        Object.entries(counters.signals).map(([transport, counts]) => ({
          labels: { transport },
          value: counts[name],
        })),
      ["transport"],
    );
  return {
    realtime_connections: gauge("Open connections of realtime.", () => counters.connections),
    realtime_paused: counter(
      "Times that frames of a connection began to wait.",
      () => counters.paused,
    ),
    realtime_refused: counter("Frames refused as invalid.", () => counters.refused),
    realtime_replaced: counter(
      "Connections ended because their device connected again.",
      () => counters.replaced,
    ),
    realtime_silent: counter(
      "Connections ended that showed no sign of life.",
      () => counters.silent,
    ),
    realtime_turned_away: counter(
      "Connections refused because there were too many, of their caller or of all.",
      () => counters.turnedAway,
    ),
    realtime_topics_ended: counter(
      "Topics ended because their caller may not hear them any more.",
      () => counters.topicsEnded,
    ),
    realtime_signals_delivered: ofSignals("delivered", "Signals written to a connection."),
    realtime_signals_dropped: ofSignals(
      "dropped",
      "Signals not kept, and not written because their connection was behind.",
    ),
    realtime_signals_gaps: ofSignals("gaps", "Announcements of a loss (realtime.gap)."),
  };
}
