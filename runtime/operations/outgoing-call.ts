// One call of somebody else's server: bounded in time and bytes, without redirects, settled
// whatever it is answered with.
import { request as requestHttp } from "node:http";
import { request as requestHttps, type RequestOptions } from "node:https";
import type { Clock } from "../ports/clock.js";
import { Lifetime } from "../ports/lifetime.js";
import { tracePart, type TraceSpan } from "../ports/tracer.js";

/** Milliseconds for the whole call, from the lookup of its name on. */
const patienceMillis = 10_000;
/** Bytes that are read of an answer, of which only the status counts. */
const mostBytes = 64 * 1024;
/** Interim answers (RFC 9110 §15.2) before the final one. */
const mostInterim = 16;

export interface OutgoingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Looks up the name; that of Node.js where left out. */
  readonly lookup?: RequestOptions["lookup"];
  readonly clock: Clock;
  /** Ends the call early. */
  readonly signal?: AbortSignal;
  /** What it is a part of in a trace, if anybody records that. */
  readonly trace?: TraceSpan | null;
  /** W3C `traceparent` that is sent where the call has no span of its own. */
  readonly traceparent?: string | undefined;
}

/**
 * POSTs a body and returns the status of the answer, 101 among them. Rejects if there is none in
 * time. Whatever the other side does, it settles within 10 s and holds no socket afterwards. Traces
 * don't say whom it calls: a caller may have named the address.
 */
export function post({ trace, traceparent, ...call }: OutgoingCall): Promise<number> {
  const work = async (span: TraceSpan | null): Promise<number> => {
    const ask = () => send(call, span?.traceparent ?? traceparent);
    const status = await (span === null ? ask() : span.within(ask));
    span?.note({ "http.response.status_code": status });
    if (status >= 400) span?.fail(String(status));
    return status;
  };
  return tracePart(trace, "POST", "client", work, { "http.request.method": "POST" });
}

function send(
  { url, headers, body, lookup, clock, signal }: Omit<OutgoingCall, "trace" | "traceparent">,
  traceparent: string | undefined,
): Promise<number> {
  const request = new URL(url).protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) throw reasonOf(signal);
    const bytes = Buffer.from(body);
    const asking = request(url, {
      method: "POST",
      headers: {
        ...headers,
        ...(traceparent === undefined ? {} : { traceparent }),
        "content-length": bytes.length,
        "user-agent": "opwright-webhooks",
      },
      // A connection that stays open would outlive the check of its address.
      agent: false,
      ...(lookup === undefined ? {} : { lookup }),
    });
    let status: number | undefined;
    // The status counts and the rest changes nothing, but the call is under way until the answer
    // has ended.
    const settle = (why: Error): void => {
      forgetTime();
      signal?.removeEventListener("abort", stop);
      if (status === undefined) reject(why);
      else resolve(status);
      asking.destroy();
    };
    // Nothing that the request emits is waited for: not all of its ends are events.
    const forgetTime = Lifetime.within(patienceMillis, clock).onOver(() =>
      settle(new Error(`no answer within ${patienceMillis / 1000} s`)),
    );
    const stop = (): void => settle(reasonOf(signal));
    signal?.addEventListener("abort", stop);
    let interim = 0;
    asking.on("information", () => {
      interim += 1;
      if (interim > mostInterim) settle(new Error(`more than ${mostInterim} interim answers`));
    });
    asking.on("upgrade", ({ statusCode }, socket) => {
      status = statusCode;
      socket.destroy();
      settle(noAnswer());
    });
    asking.on("response", (response) => {
      status = response.statusCode;
      let read = 0;
      response.on("data", (chunk: Buffer) => {
        read += chunk.length;
        if (read > mostBytes) settle(noAnswer());
      });
      response.on("error", () => settle(noAnswer()));
      response.on("close", () => settle(noAnswer()));
    });
    asking.on("error", settle);
    asking.on("close", () => settle(noAnswer()));
    asking.end(bytes);
  });
}

function noAnswer(): Error {
  return new Error("the connection ended without an answer");
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("the call was ended");
}
