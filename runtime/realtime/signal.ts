// A signal as it is sent: its payload is JSON once, and each transport's frame is made once and shared (architecture.md "Realtime").
import type { MailboxEntry } from "./port.js";
import { printEventId } from "./event-id.js";
import { textFrame } from "./web-socket-frame.js";

/** An event as Socket.IO's protocol 5 has it, and the whole WebSocket frame in which Engine.IO's protocol 4 carries it. */
export interface SocketIoPacket {
  readonly text: string;
  readonly frame: readonly Buffer[];
}

/** One signal for any number of connections. */
export class Signal {
  readonly name: string;
  /** Null for what is not kept. */
  readonly position: number | null;
  readonly #id: string | null;
  /** JSON text. */
  readonly data: string;
  #webSocketFrame: Buffer | undefined;
  #socketIo: SocketIoPacket | undefined;
  #sse: string | undefined;

  constructor(name: string, data: string, entry: MailboxEntry | null) {
    this.name = name;
    this.position = entry?.position ?? null;
    this.#id = entry === null ? null : printEventId(entry);
    this.data = data;
  }

  static ofEntry(entry: MailboxEntry): Signal {
    return new Signal(entry.name, entry.data, entry);
  }

  /** `{event, id, data}` (service.md "Delivery envelope"). */
  get json(): string {
    return `{"event":${JSON.stringify(this.name)},${this.#envelope()}}`;
  }

  /** The bytes of a WebSocket frame with `json`. */
  get webSocketFrame(): Buffer {
    this.#webSocketFrame ??= textFrame(this.json);
    return this.#webSocketFrame;
  }

  /** The event of Socket.IO in its default namespace, whose argument is `{id, data}`. */
  get socketIoPacket(): SocketIoPacket {
    if (this.#socketIo === undefined) {
      const text = `2[${JSON.stringify(this.name)},{${this.#envelope()}}]`;
      this.#socketIo = { text, frame: [textFrame(`4${text}`)] };
    }
    return this.#socketIo;
  }

  /** `event:`, `id:` of what is kept, `data:`; the names of events and ids have no line breaks, nor has JSON. */
  get sseFrame(): string {
    const id = this.#id === null ? "" : `id: ${this.#id}\n`;
    this.#sse ??= `event: ${this.name}\n${id}data: {${this.#envelope()}}\n\n`;
    return this.#sse;
  }

  #envelope(): string {
    return `"id":${this.#id === null ? "null" : `"${this.#id}"`},"data":${this.data}`;
  }
}
