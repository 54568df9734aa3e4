// What goes out on a connection: the frames of one tick in one write, backpressure, and an end to
// one that takes nothing. Most of the cost of a delivery is the call that writes (architecture.md
// "Realtime").
import type { Writable } from "node:stream";
import { runNextTurn, startInterval } from "../../ports/ambient.js";

/** Bytes that may wait for a slow reader. */
const softBytes = 256 * 1024;
/** Milliseconds that a client may read nothing. */
const stalledMillis = 10_000;

export interface Flow {
  /** Sends a frame at the end of this tick; to be called while the flow is writable. */
  send(frame: Buffer): void;
  /** Sends waiting frames now; to be called before anything else is written to the stream. */
  flush(): void;
  isWritable(): boolean;
  /** Resolves once it is writable, or has ended. */
  writable(): Promise<void>;
}

/** A buffer in front of a stream, which emits `drain` when it is empty again. */
export interface Queue {
  readonly emitter: {
    on(event: "drain", listener: () => void): unknown;
    off(event: "drain", listener: () => void): unknown;
  };
  bytes(): number;
}

/** Flows that have frames for the end of this tick. */
let due: (() => void)[] = [];

function flushAll(): void {
  const flushing = due;
  due = [];
  for (const flush of flushing) flush();
  lastFrames = [];
}

/**
 * The frames that were joined last, because a burst has the same frames for all connections that
 * hear it.
 */
let lastFrames: readonly Buffer[] = [];
let lastJoined = Buffer.alloc(0);

function joinFrames(frames: readonly Buffer[]): Buffer {
  const [first] = frames;
  if (frames.length === 1 && first !== undefined) return first;
  const isSame =
    frames.length === lastFrames.length && frames.every((frame, at) => frame === lastFrames[at]);
  if (!isSame) {
    lastFrames = frames;
    lastJoined = Buffer.concat(frames);
  }
  return lastJoined;
}

/**
 * The flow of a stream, which is destroyed where nothing of it is taken for ten seconds. Nothing
 * goes out once it has ended.
 */
export function flowOf(stream: Writable, hasEnded: () => boolean, queue?: Queue): Flow {
  let frames: Buffer[] = [];
  let bytes = 0;
  let draining: Promise<void> | undefined;
  const waiting = (): number => stream.writableLength + bytes + (queue?.bytes() ?? 0);
  const flush = (): void => {
    if (frames.length === 0) return;
    const going = frames;
    frames = [];
    bytes = 0;
    if (!hasEnded()) stream.write(joinFrames(going));
  };
  return {
    send(frame) {
      bytes += frame.length;
      if (frames.push(frame) > 1) return;
      if (due.push(flush) === 1) runNextTurn(flushAll);
    },
    flush,
    isWritable: () => waiting() < softBytes,
    writable() {
      flush();
      // If the system takes a write at once, no `drain` follows.
      if (stream.destroyed || waiting() < softBytes) return Promise.resolve();
      draining ??= new Promise<void>((resolve) => {
        const done = (): void => {
          clearInterval(timer);
          stream.off("drain", done);
          stream.off("close", done);
          queue?.emitter.off("drain", done);
          draining = undefined;
          resolve();
        };
        let before = waiting();
        const timer = startInterval(() => {
          // A client that reads something, however slowly, is waited for.
          if (waiting() >= before) stream.destroy();
          before = waiting();
        }, stalledMillis);
        stream.on("drain", done);
        stream.on("close", done);
        queue?.emitter.on("drain", done);
      });
      return draining;
    },
  };
}
