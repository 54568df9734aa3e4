// Backpressure of a connection's stream: what is buffered, when it drains, and an end to one that takes nothing.
import type { Writable } from "node:stream";

/** Bytes that may wait for a slow reader. */
const softBytes = 256 * 1024;
/** Milliseconds that a connection may take nothing. */
const stalledMillis = 10_000;

export interface Flow {
  isWritable(): boolean;
  writable(): Promise<void>;
  /** Has frames of one tick leave in one write. */
  together(): void;
}

/** What waits in front of a stream, and tells by `drain` that it does no longer. */
export interface Queue {
  readonly emitter: {
    on(event: "drain", listener: () => void): unknown;
    off(event: "drain", listener: () => void): unknown;
  };
  bytes(): number;
}

/** The flow of a stream, which is destroyed where nothing of it is taken for ten seconds. */
export function flowOf(stream: Writable, queue?: Queue): Flow {
  let isCorked = false;
  return {
    isWritable: () => stream.writableLength + (queue?.bytes() ?? 0) < softBytes,
    writable: () =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          stream.off("drain", done);
          stream.off("close", done);
          queue?.emitter.off("drain", done);
          resolve();
        };
        const timer = setTimeout(() => stream.destroy(), stalledMillis);
        if (stream.destroyed) {
          done();
          return;
        }
        stream.on("drain", done);
        stream.on("close", done);
        queue?.emitter.on("drain", done);
      }),
    together() {
      if (isCorked) return;
      isCorked = true;
      stream.cork();
      setImmediate(() => {
        isCorked = false;
        stream.uncork();
      });
    },
  };
}
