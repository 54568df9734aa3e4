// A connection as its transport provides it.
import type { Sink } from "./pump.js";
import type { RealtimeTransport } from "./spec.js";

export interface Connection extends Sink {
  readonly transport: RealtimeTransport;
  /** Sends the written frames now. */
  flush(): void;
  /** Ends it because the service stops. */
  leave(): void;
  /**
   * Ends it because its credential has ended, its device has connected again, or something failed.
   */
  refuse(code: "core.authentication" | "core.internal" | "realtime_device_replaced"): void;
  /**
   * Ends it so that a live client comes back at once; null if the transport itself finds out
   * whether the other side is still there.
   */
  readonly reconnect: (() => void) | null;
}
