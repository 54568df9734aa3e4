// Events of a stream that comes in pieces (WHATWG HTML §9.2.6).

export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Takes a stream apart into events. Text is decoded already, without the byte order mark. */
export class EventStream {
  /** The reconnection delay that the service sent last, unless it was that of its greeting. */
  retryMillis: number | undefined;
  #rest = "";
  /** Whether the last piece ended in a CR, to which an LF of the next one belongs. */
  #endedInCr = false;
  #event = "";
  #data: string[] = [];
  #retries = 0;

  /** The events that are whole with this piece. */
  push(piece: string): StreamEvent[] {
    const more = this.#endedInCr && piece.startsWith("\n") ? piece.slice(1) : piece;
    if (piece !== "") this.#endedInCr = piece.endsWith("\r");
    const lines = (this.#rest + more).split(/\r\n?|\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): StreamEvent[] {
    if (line === "") return this.#dispatched();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    // Comments have no name; fields that nobody knows are passed over.
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "retry" && /^\d+$/.test(value) && (this.#retries += 1) > 1)
      this.retryMillis = Number(value);
    return [];
  }

  #dispatched(): StreamEvent[] {
    const event = { event: this.#event, data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    return isEmpty ? [] : [event];
  }
}
