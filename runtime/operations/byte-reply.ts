// An answer that is bytes: a status and headers of its own, and a stream that is sent as it comes.
import type { Readable } from "node:stream";

/**
 * Whoever receives the reply sends or destroys `body`; null is no body. `Content-Length` is among
 * the headers where it is known.
 */
export class ByteReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | null;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: Readable | null) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
