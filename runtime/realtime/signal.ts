// A signal as it is sent: its payload is JSON once, and each transport's frame is made once and shared (architecture.md "Realtime").
import type { MailboxEntry } from "./port.js";
import { printEventId } from "./event-id.js";

/** One signal for any number of connections. */
export class Signal {
  readonly name: string;
  /** Null for what is not kept. */
  readonly position: number | null;
  readonly #id: string | null;
  /** JSON text. */
  readonly data: string;
  #webSocket: string | undefined;
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
  get webSocketFrame(): string {
    this.#webSocket ??= `{"event":${JSON.stringify(this.name)},${this.#envelope()}}`;
    return this.#webSocket;
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
