// One request and its answer, from arrival to the end: what is known of it, and what to do when it
// has ended.
import type { IncomingMessage, ServerResponse } from "node:http";
import { usualEnvelope, type PrintError } from "../operations/error-envelope.js";
import { monotonicMillis } from "../ports/ambient.js";
import type { OuterSpan } from "../ports/tracer.js";

/** How a service answers. */
export interface AnswerStyle {
  /** Header fields that say who is calling, as the service declares them. */
  readonly callerFields: readonly string[];
  /** The `WWW-Authenticate` of a 401 that has none of its own. */
  readonly challenge: string;
  /**
   * Bytes of JSON from which on an answer is compressed, where its caller takes that; null for
   * none.
   */
  readonly compressBytes: number | null;
  /** The bodies of errors. */
  readonly printError: PrintError;
  /** The page that a browser shows for an error in place of its body; null for none. */
  readonly errorPage: PrintError | null;
}

const plain: AnswerStyle = {
  callerFields: [],
  challenge: "Bearer",
  compressBytes: null,
  printError: usualEnvelope,
  errorPage: null,
};

/**
 * What becomes known of a request while it is answered. It listens once for the answer's end and
 * tells everybody who waits.
 */
export class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly startedAt = monotonicMillis();
  /** When it ended; NaN before. */
  endedAt = Number.NaN;
  /** The operation's id; null where something else answered. */
  operation: string | null = null;
  requestId: string | null = null;
  /** The span that another library had begun for it when it arrived. */
  outer: OuterSpan | null = null;
  /** Where it is in a trace, as W3C `traceparent`. */
  traceparent: string | undefined;
  /** The code of an error. */
  code: string | null = null;
  caller: string | null = null;
  tenant: string | null = null;
  style = plain;
  #ends: ((exchange: Exchange) => void)[] = [];

  private constructor(req: IncomingMessage, res: ServerResponse) {
    this.req = req;
    this.res = res;
  }

  /** The exchange of an answer, created on first use. */
  static of(req: IncomingMessage, res: Answering): Exchange {
    const known = res[key];
    if (known !== undefined) return known;
    const exchange = new Exchange(req, res);
    res[key] = exchange;
    res.on("close", endExchange);
    return exchange;
  }

  /** The exchange of an answer, or undefined if none was created. */
  static known(res: Answering): Exchange | undefined {
    return res[key];
  }

  /** Whether the connection ended before the whole answer had gone out. */
  get isAborted(): boolean {
    return !this.res.writableFinished;
  }

  /** Whether nobody waits for the answer any more. */
  isGone(): boolean {
    return this.res.destroyed;
  }

  /** Calls `listener` when the connection ends before the whole answer has gone out. */
  onGone(listener: () => void): void {
    this.whenEnded(({ isAborted }) => {
      if (isAborted) listener();
    });
  }

  /**
   * Calls `listener` when the answer has gone out or its connection has ended, in the order of
   * these calls.
   */
  whenEnded(listener: (exchange: Exchange) => void): void {
    this.#ends.push(listener);
  }

  end(): void {
    this.endedAt = monotonicMillis();
    const ends = this.#ends;
    this.#ends = [];
    for (const listener of ends) listener(this);
  }
}

const key = Symbol("exchange");

type Answering = ServerResponse & { [key]?: Exchange };

function endExchange(this: Answering): void {
  this[key]?.end();
}
