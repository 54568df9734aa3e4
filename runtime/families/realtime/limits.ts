// The limits of realtime connections in one process, and its counters of them.
import type { RealtimeTransport } from "./spec.js";

export interface RealtimeLimits {
  /** Frames of one WebSocket that are taken in a second; those beyond wait. */
  readonly framesPerSecond: number;
  /** Frames that are taken at once after a quiet time. */
  readonly framesBurst: number;
  /** Connections of all callers together. */
  readonly connections: number;
  /** How long an SSE stream may go without a sign of life; null is the plane's default. */
  readonly silentSeconds: number | null;
}

/** How often each limit was reached since the start, for `/metrics`. */
export interface RealtimeCounters {
  /** Connections that are open now. */
  connections: number;
  /** Times that frames of a connection began to wait. */
  paused: number;
  /** Frames that were refused as invalid. */
  refused: number;
  /** Connections that ended because their device connected again. */
  replaced: number;
  /** Connections that ended because they showed no sign of life. */
  silent: number;
  /** Connections that were refused because there were too many, of their caller or of all. */
  turnedAway: number;
  /** Topics that ended because their caller may not hear them any more. */
  topicsEnded: number;
  /** Signals of each transport. */
  readonly signals: Readonly<Record<RealtimeTransport, SignalCounters>>;
}

/** Signals to all connections over one transport. */
export interface SignalCounters {
  /** Written to a connection. */
  delivered: number;
  /** Not kept, and not written because their connection was behind. */
  dropped: number;
  /** Announcements of a loss (`realtime.gap`). */
  gaps: number;
}

export function realtimeCounters(): RealtimeCounters {
  const none = (): SignalCounters => ({ delivered: 0, dropped: 0, gaps: 0 });
  return {
    connections: 0,
    paused: 0,
    refused: 0,
    replaced: 0,
    silent: 0,
    turnedAway: 0,
    topicsEnded: 0,
    signals: { socketio: none(), sse: none(), websocket: none() },
  };
}
