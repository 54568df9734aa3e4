// What goes out on a connection: the frames of one tick in one write, backpressure, and an end to
// one that takes nothing. Most of the cost of a delivery is the call that writes (architecture.md
// "Realtime").
import type { Writable } from "node:stream";
import { runNextTurn, startInterval } from "../../ports/ambient.js";

/** Bytes that may wait for a slow reader. */
const softBytes = 256 * 1024;
/** Milliseconds that a client may read nothing. */
const stalledMillis = 10_000;

/** A buffer in front of a stream, which emits `drain` when it is empty again. */
export interface Queue {
  readonly emitter: {
    on(event: "drain", listener: () => void): unknown;
    off(event: "drain", listener: () => void): unknown;
  };
  bytes(): number;
}

/** Flows that have frames for the end of this tick. */
let due: Flow[] = [];

function flushAll(): void {
  const flushing = due;
  due = [];
  for (const flow of flushing) flow.flush();
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
 * The way out of a connection: frames on a stream, which is destroyed where nothing of it is taken
 * for ten seconds. Nothing goes out once it has ended.
 */
export abstract class Flow {
  readonly #stream: Writable;
  /** Those of this tick. A connection that is idle has no list of its own. */
  #frames: Buffer[] | undefined;
  #bytes = 0;
  #draining: Promise<void> | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  abstract get hasEnded(): boolean;

  /** What is in front of the stream, if anything is. */
  protected readonly queue: Queue | undefined;

  /** Sends a frame at the end of this tick; to be called while the flow is writable. */
  send(frame: Buffer): void {
    this.#bytes += frame.length;
    if (this.#frames !== undefined) return void this.#frames.push(frame);
    this.#frames = [frame];
    if (due.push(this) === 1) runNextTurn(flushAll);
  }

  /** Sends waiting frames now; to be called before anything else is written to the stream. */
  flush(): void {
    const going = this.#frames;
    if (going === undefined) return;
    this.#frames = undefined;
    this.#bytes = 0;
    if (!this.hasEnded) this.#stream.write(joinFrames(going));
  }

  isWritable(): boolean {
    return this.#waiting < softBytes;
  }

  /** Resolves once it is writable, or has ended. */
  writable(): Promise<void> {
    this.flush();
    // If the system takes a write at once, no `drain` follows.
    if (this.#stream.destroyed || this.isWritable()) return Promise.resolve();
    return (this.#draining ??= this.#drained());
  }

  get #waiting(): number {
    return this.#stream.writableLength + this.#bytes + (this.queue?.bytes() ?? 0);
  }

  #drained(): Promise<void> {
    const [stream, { queue }] = [this.#stream, this];
    return new Promise((resolve) => {
      const done = (): void => {
        clearInterval(timer);
        stream.off("drain", done);
        stream.off("close", done);
        queue?.emitter.off("drain", done);
        this.#draining = undefined;
        resolve();
      };
      let before = this.#waiting;
      const timer = startInterval(() => {
        // A client that reads something, however slowly, is waited for.
        if (this.#waiting >= before) stream.destroy();
        before = this.#waiting;
      }, stalledMillis);
      stream.on("drain", done);
      stream.on("close", done);
      queue?.emitter.on("drain", done);
    });
  }
}
