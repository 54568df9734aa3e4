// A signal as transports send it: the bytes for each transport are made once, for all its
// connections (architecture.md "Realtime").
import type { MailboxEntry } from "./mailbox.js";
import { readTraceparent } from "../contract/traceparent.js";
import { printEventId } from "./event-id.js";
import { httpChunk, textFrame } from "./shared-frames.js";

/**
 * One signal for any number of connections. The bytes of a frame are made when they are first
 * needed.
 */
export class Signal {
  readonly name: string;
  /** Its position in the mailbox; null for an ephemeral signal. */
  readonly position: number | null;
  readonly #id: string | null;
  /**
   * Tells an ephemeral signal from all others, on every process and connection; null if it isn't
   * told apart.
   */
  readonly signalId: string | null;
  /** The payload as JSON text. */
  readonly data: string;
  /** Where what has sent it was in a trace, as W3C `traceparent`; null if nobody records that. */
  readonly traceparent: string | null;
  #webSocketFrame: Buffer | undefined;
  #socketIoFrame: Buffer | undefined;
  #sseChunk: Buffer | undefined;

  /** `data` is JSON text; `entry` is null for an ephemeral signal. */
  constructor(
    name: string,
    data: string,
    entry: MailboxEntry | null,
    signalId: string | null = null,
    traceparent: string | null = entry?.traceparent ?? null,
  ) {
    this.name = name;
    this.signalId = signalId;
    this.position = entry?.position ?? null;
    this.#id = entry === null ? null : printEventId(entry);
    this.data = data;
    this.traceparent = recordedTrace(traceparent);
  }

  static ofEntry(entry: MailboxEntry): Signal {
    return new Signal(entry.name, entry.data, entry);
  }

  /** `{event, id, data}` as JSON text (service.md "Delivery envelope"). */
  get json(): string {
    return `{"event":${JSON.stringify(this.name)},${this.#envelope()}}`;
  }

  /** The bytes of a WebSocket frame with `json`. */
  get webSocketFrame(): Buffer {
    this.#webSocketFrame ??= textFrame(this.json);
    return this.#webSocketFrame;
  }

  /**
   * The bytes of a WebSocket frame with an event of Socket.IO's default namespace, whose argument
   * is `{id, data}` (Engine.IO protocol 4, Socket.IO protocol 5).
   */
  get socketIoFrame(): Buffer {
    this.#socketIoFrame ??= textFrame(`42[${JSON.stringify(this.name)},{${this.#envelope()}}]`);
    return this.#socketIoFrame;
  }

  /**
   * An event of an SSE stream; only durable signals have an `id:`. Names, ids and JSON have no line
   * breaks to escape.
   */
  get sse(): string {
    const id = this.#id === null ? "" : `id: ${this.#id}\n`;
    return `event: ${this.name}\n${id}data: {${this.#envelope()}}\n\n`;
  }

  /** The bytes of an HTTP chunk with `sse` (RFC 9112 §7.1). */
  get sseChunk(): Buffer {
    this.#sseChunk ??= httpChunk(this.sse);
    return this.#sseChunk;
  }

  #envelope(): string {
    const told = this.signalId === null ? "" : `,"signal_id":"${this.signalId}"`;
    const traced = this.traceparent === null ? "" : `,"traceparent":"${this.traceparent}"`;
    return `"id":${this.#id === null ? "null" : `"${this.#id}"`},"data":${this.data}${told}${traced}`;
  }
}

/** A trace that somebody may have recorded (W3C Trace Context §3.2.2.5.1); null for any other. */
function recordedTrace(traceparent: string | null): string | null {
  const known = readTraceparent(traceparent) ?? "";
  return (Number.parseInt(known.slice(-2), 16) & 1) === 1 ? known : null;
}
