// What one process gives to realtime connections at most, and what it counts of that.

export interface RealtimeLimits {
  /** Frames of one WebSocket that are taken in a second; those beyond wait. */
  readonly framesPerSecond: number;
  /** Frames that are taken at once where a client was quiet before. */
  readonly framesBurst: number;
  /** Connections of all callers together. */
  readonly connections: number;
  /** How long a stream of events may go without a sign of life; null leaves it to the plane. */
  readonly silentSeconds: number | null;
}

/** How often each bound was met since the start, for whoever watches the service. */
export interface RealtimeCounters {
  /** Connections that there are now. */
  connections: number;
  /** Frames of a connection began to wait. */
  paused: number;
  /** A frame was none of the protocol. */
  refused: number;
  /** A connection ended since its device came again. */
  replaced: number;
  /** A connection ended without a sign of life. */
  silent: number;
  /** A connection was not taken: there were too many, of its caller or of all. */
  turnedAway: number;
}

export function realtimeCounters(): RealtimeCounters {
  return { connections: 0, paused: 0, refused: 0, replaced: 0, silent: 0, turnedAway: 0 };
}
