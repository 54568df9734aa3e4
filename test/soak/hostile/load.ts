// The load beside the hostile author: callers of all that it has written, in a process of their own, who know what they are owed.
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { newClient, type Client, type Outcome } from "../../faults/client.js";
import { deliveries, noMails, mistakes, topics } from "./author.js";
import { hostileBodies } from "./bodies.js";
import { program } from "./program.js";

/** What became of the requests of a kind. */
export interface KindReport {
  readonly kind: string;
  /** How many, by status; 0 is no answer. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMillis: number;
}

export interface LoadReport {
  readonly kinds: readonly KindReport[];
  /** Answers that are not what is owed; the first of them. */
  readonly unexpected: readonly string[];
  readonly unexpectedCount: number;
  /** Keys of notes whose creation was acknowledged, and of those whose was refused. */
  readonly acknowledged: readonly string[];
  readonly refused: readonly string[];
  /** Numbers of the events that were acknowledged, and of those among them that can be delivered. */
  readonly noted: readonly number[];
  readonly mailed: readonly number[];
  readonly sent: readonly number[];
  /** How many events nobody can deliver. */
  readonly doomed: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
}

interface Owed {
  readonly kind: string;
  readonly status: number;
}

const maxSamples = 40;

class Books {
  readonly #kinds = new Map<string, { statuses: Record<string, number>; slowest: number }>();
  readonly unexpected: string[] = [];
  unexpectedCount = 0;
  readonly acknowledged: string[] = [];
  readonly refused: string[] = [];
  readonly noted: number[] = [];
  readonly mailed: number[] = [];
  readonly sent: number[] = [];
  doomed = 0;

  note({ kind, status: owed }: Owed, outcome: Pick<Outcome, "status" | "fault" | "millis">): void {
    const { status, fault, millis } = outcome;
    const of = this.#kinds.get(kind) ?? { statuses: {}, slowest: 0 };
    of.statuses[status] = (of.statuses[status] ?? 0) + 1;
    of.slowest = Math.max(of.slowest, millis);
    this.#kinds.set(kind, of);
    if (status === owed) return;
    this.unexpectedCount += 1;
    if (this.unexpected.length < maxSamples)
      this.unexpected.push(`${kind}: ${status} ${fault}, owed ${owed}`);
  }

  keyed(key: string, { status }: Outcome): void {
    if (status >= 200 && status < 300) this.acknowledged.push(key);
    // Without an answer nobody knows.
    else if (status !== 0) this.refused.push(key);
  }

  report(): LoadReport {
    const { unexpected, unexpectedCount, acknowledged, refused, noted, mailed, sent, doomed } =
      this;
    const kinds = [...this.#kinds].map(([kind, { statuses, slowest }]) => ({
      kind,
      statuses,
      slowestMillis: slowest,
    }));
    const events = { noted, mailed, sent, doomed };
    return { kinds, unexpected, unexpectedCount, acknowledged, refused, ...events };
  }
}

type Work = () => Promise<void>;

/** One after the other, round and round. */
function inTurn<T>(all: readonly T[]): () => T {
  let at = -1;
  return () => {
    at = (at + 1) % all.length;
    return all[at] as T;
  };
}

function worksOf({ url, token }: LoadOptions, client: Client, books: Books) {
  let number = 0;
  const mistake = inTurn(Object.entries(mistakes));
  const author: Work = async () => {
    const [name, { status }] = mistake();
    const n = (number += 1);
    const key = `${name}-${n}`;
    const outcome = await client.call("POST", `/code/${name}`, { body: { key, n } });
    books.keyed(key, outcome);
    books.note({ kind: name, status }, outcome);
  };
  const write: Work = async () => {
    const key = `good-${(number += 1)}`;
    const outcome = await client.call("POST", "/notes", { body: { key, text: "good" } });
    books.keyed(key, outcome);
    books.note({ kind: "good_write", status: 201 }, outcome);
  };
  const event: Work = async () => {
    const n = (number += 1);
    const key = `event-${n}`;
    const outcome = await client.call("POST", "/good/note", { body: { key, n } });
    books.keyed(key, outcome);
    if (outcome.status === 204) books.noted.push(n);
    books.note({ kind: "good_event", status: 204 }, outcome);
  };
  const how = inTurn(Object.entries(deliveries));
  const deliver: Work = async () => {
    const [name, [, isDelivered]] = how();
    for (const [path, numbers] of [
      ["mail", books.mailed],
      ["send", books.sent],
    ] as const) {
      const n = (number += 1);
      const outcome = await client.call("POST", `/good/${path}`, { body: { n, how: name } });
      books.note({ kind: `good_${path}`, status: 204 }, outcome);
      if (outcome.status !== 204) continue;
      // It returns before it has noted anything.
      if (path === "send" && noMails.includes(name)) continue;
      if (isDelivered) numbers.push(n);
      else books.doomed += 1;
    }
  };
  const read: Work = async () => {
    const outcome = await client.call("POST", "/notes/list_cursor", { body: { size: 50 } });
    books.note({ kind: "good_read", status: 200 }, outcome);
  };
  const body = inTurn(hostileBodies);
  const sendBody: Work = async () => {
    const { kind, path, bytes, status } = body();
    const outcome = await client.call("POST", path, {
      body: bytes,
      headers: { "content-type": "application/json" },
    });
    books.note({ kind, status }, outcome);
  };
  const topic = inTurn(Object.entries(topics));
  const listen: Work = async () => {
    const [name, [, status]] = topic();
    const asked = `device_id=${name}&topics=${name}:${(number += 1)}`;
    const outcome = await opened(`${url}/realtime/sse?${asked}`, token);
    books.note({ kind: `topic_${name}`, status }, outcome);
  };
  return { author, write, event, deliver, read, sendBody, listen };
}

/** Opens a stream of events, and leaves it after a while; its outcome is that of its head. */
async function opened(
  url: string,
  token: string,
): Promise<Pick<Outcome, "status" | "fault" | "millis">> {
  const began = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve) => {
    const millis = (): number => performance.now() - began;
    const request = get(url, { headers, agent: false }, (response) => {
      response.on("error", () => undefined).resume();
      // Longer than the service waits before it asks the authorizer again.
      setTimeout(() => request.destroy(), 4_000);
      resolve({ status: response.statusCode ?? 0, fault: "", millis: millis() });
    });
    // As patient as other clients.
    request.setTimeout(30_000, () => request.destroy(new Error("no answer")));
    request.on("error", ({ message }) => resolve({ status: 0, fault: message, millis: millis() }));
  });
}

program<LoadOptions>(async (options) => {
  const client = newClient(options.url, { sockets: 64 });
  const books = new Books();
  const { author, write, event, deliver, read, sendBody, listen } = worksOf(options, client, books);
  const ended = new AbortController();
  const repeat = async (work: Work, pauseMillis: number): Promise<void> => {
    while (!ended.signal.aborted) {
      await work();
      await sleep(pauseMillis);
    }
  };
  const running = [
    ...Array.from({ length: 3 }, () => repeat(author, 30)),
    ...Array.from({ length: 2 }, () => repeat(write, 60)),
    repeat(read, 100),
    repeat(event, 500),
    repeat(deliver, 300),
    repeat(sendBody, 250),
    repeat(listen, 400),
  ];
  return {
    begun: null,
    async end(): Promise<LoadReport> {
      ended.abort();
      await Promise.all(running);
      return books.report();
    },
  };
});
