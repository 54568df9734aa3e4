// A WebSocket whose frames are passed on at a limited rate: faster ones wait, and nothing more is
// read meanwhile (architecture.md "Work is bounded"). It is below both the protocol of frames and
// Socket.IO.
import { WebSocket, WebSocketServer, type Server, type ServerOptions } from "ws";
import { FrameQueue, type Frame } from "./frame-queue.js";
import { monotonicMillis, startTimer } from "../../ports/ambient.js";

export interface Pace {
  readonly framesPerSecond: number;
  /** Frames that are passed on at once after a quiet time. */
  readonly framesBurst: number;
  /**
   * What is emitted now and then while frames wait: their client lives, though what shows that may
   * be behind them. A pong of RFC 6455, or a frame of a protocol above that has pongs of its own.
   */
  readonly signOfLife: readonly [event: "pong", data: Buffer] | readonly [...Message];
  /** Called each time frames begin to wait. */
  readonly onPaused: () => void;
}

/**
 * What takes the events of a WebSocket, in place of a listener for each, which take several times
 * the memory.
 */
export interface SocketTaker {
  message(data: Buffer, isBinary: boolean): void;
  pong(): void;
  /** It is about to close from this side: what waits is sent first. */
  closing(): void;
  close(): void;
}

type Message = [event: "message", data: Buffer, isBinary: boolean];

/** Milliseconds between two portions of waiting frames. */
const portionMillis = 50;
/** Frames of one portion, whatever the pace: others have their turn in between. */
const maxPortion = 64;
const signMillis = 5_000;

/** A server of WebSockets that all have this pace, each for itself. */
export function pacedServer(options: ServerOptions, pace: Pace): Server<typeof PacedWebSocket> {
  // ws makes them itself.
  class Paced extends PacedWebSocket {
    override readonly pace = pace;
  }
  return new WebSocketServer({ ...options, autoPong: false, WebSocket: Paced });
}

/** Frames that may be handed on now: a bucket that fills at the pace. */
class Bucket {
  readonly #pace: Pace;
  #frames: number;
  #filledAt = monotonicMillis();

  constructor(pace: Pace) {
    this.#pace = pace;
    this.#frames = pace.framesBurst;
  }

  get isEmpty(): boolean {
    const { framesPerSecond, framesBurst } = this.#pace;
    const now = monotonicMillis();
    const since = ((now - this.#filledAt) / 1_000) * framesPerSecond;
    this.#frames = Math.min(framesBurst, this.#frames + since);
    this.#filledAt = now;
    return this.#frames < 1;
  }

  /** Takes one frame; false if there is none. */
  take(): boolean {
    if (this.isEmpty) return false;
    this.#frames -= 1;
    return true;
  }
}

export class PacedWebSocket extends WebSocket {
  /** Of `pacedServer`, which alone makes them. */
  declare protected readonly pace: Pace;
  /** If there is none, events go to listeners, as with any WebSocket. */
  taker: SocketTaker | undefined;
  #bucketAtPace: Bucket | undefined;
  /** Frames of one read beyond the rate: ws passes on all of them, even once it is paused. */
  #waiting: FrameQueue | undefined;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;
  #signAt = Number.NEGATIVE_INFINITY;
  #behindClose = 0;
  #pinged: Buffer | undefined;
  #isAnswering = false;

  /** Passes nothing on, and reads nothing, until the promise has settled. */
  hold(until: Promise<unknown>): void {
    const release = (): void => {
      this.#holds -= 1;
      this.#proceed();
    };
    this.#holds += 1;
    this.pause();
    void until.then(release, release);
  }

  get #bucket(): Bucket {
    this.#bucketAtPace ??= new Bucket(this.pace);
    return this.#bucketAtPace;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    if (event === "close") this.#forget();
    const frame = frameOf(event, given);
    if (frame === null) return this.#tell(event, given);
    if (this.readyState !== WebSocket.OPEN) {
      // After a close no frame is taken; a client that keeps sending is cut off.
      this.#behindClose += 1;
      if (this.#behindClose > this.pace.framesBurst) this.terminate();
      return false;
    }
    const isFirst = this.#waiting?.isEmpty !== false;
    if (isFirst && !this.isHeld && this.#bucket.take()) return this.#handOn(frame);
    (this.#waiting ??= new FrameQueue()).push(frame);
    if (isFirst && !this.isHeld) {
      this.pace.onPaused();
      this.pause();
      this.#proceedLater();
    }
    return true;
  }

  override close(code?: number, reason?: string | Buffer): void {
    // Answers that wait for the end of their tick are sent before it.
    if (this.readyState === WebSocket.OPEN) this.taker?.closing();
    this.#forget();
    super.close(code, reason);
    // Keep reading, for the answer to the close.
    this.resume();
  }

  override terminate(): void {
    this.#forget();
    super.terminate();
  }

  /** Passes on a portion of the waiting frames; resumes reading once none waits. */
  #proceed(): void {
    clearTimeout(this.#timer);
    if (this.isHeld) return;
    for (let portion = 0; portion < maxPortion; portion += 1) {
      if (this.#waiting?.isEmpty === false && !this.#bucket.take()) break;
      const next = this.#waiting?.shift();
      // Also if a frame that was passed on has closed it.
      if (next === undefined) return this.resume();
      this.#handOn(next);
      if (this.isHeld) return;
    }
    this.#proceedLater();
  }

  #proceedLater(): void {
    const now = monotonicMillis();
    if (now - this.#signAt > signMillis) {
      this.#signAt = now;
      const [event, ...given] = this.pace.signOfLife;
      this.#tell(event, given);
    }
    const { framesPerSecond, framesBurst } = this.pace;
    // A small bucket refills sooner.
    const millis = Math.min(portionMillis, (framesBurst / framesPerSecond) * 500);
    this.#timer = startTimer(() => this.#proceed(), this.#bucket.isEmpty ? millis : 0);
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#waiting?.clear();
  }

  /** Tells of an event at once, whatever waits. */
  #tell(event: string | symbol, given: readonly unknown[]): boolean {
    // The close follows, which says as much.
    if (event === "error" && this.taker !== undefined) return true;
    if (event === "pong") this.taker?.pong();
    if (event === "close") this.taker?.close();
    // The server of WebSockets listens as well.
    return super.emit(event, ...given);
  }

  #handOn({ kind, data }: Frame): boolean {
    if (kind === "ping") {
      this.#pinged = data;
      this.#answerPing();
      return super.emit("ping", data);
    }
    const isBinary = kind === "binary";
    if (this.taker === undefined) return super.emit("message", data, isBinary);
    this.taker.message(data, isBinary);
    return true;
  }

  /**
   * One pong is under way at a time: it may answer only the last of many pings (RFC 6455 §5.5.3).
   */
  #answerPing(): void {
    const data = this.#pinged;
    if (data === undefined || this.#isAnswering) return;
    this.#pinged = undefined;
    this.#isAnswering = true;
    this.pong(data, false, () => {
      this.#isAnswering = false;
      this.#answerPing();
    });
  }
}

/** A frame that an event of ws brings; null if it is another event. */
function frameOf(event: string | symbol, [data, isBinary]: readonly unknown[]): Frame | null {
  if (!(data instanceof Buffer)) return null;
  if (event === "ping") return { kind: "ping", data };
  return event === "message" ? { kind: isBinary === true ? "binary" : "text", data } : null;
}
