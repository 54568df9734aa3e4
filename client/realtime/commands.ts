// Commands that wait for a line, and that are sent again where one breaks and that is safe.
import { anotherCaller, callerOf } from "../caller.js";
import { ApiError, randomKey, type Client, type Operation } from "../core.js";
import { onAbort, timerMillis } from "../signals.js";
import type { Line } from "./port.js";

export interface CommandOptions {
  readonly signal?: AbortSignal;
  /** How long an answer may take once the command was first sent, in milliseconds. */
  readonly timeoutMillis?: number;
  readonly idempotencyKey?: string;
}

/**
 * Codes of commands over WebSocket and Socket.IO that are none of an operation's (service.md
 * "Realtime wire protocol").
 */
export type CommandCode =
  | "realtime_command_unknown"
  | "realtime_commands_limit"
  | "realtime_invalid_payload";

/** The input and answer of a command, from generated code. */
export interface CommandType {
  readonly input: unknown;
  readonly output: unknown;
  readonly code: string;
}

/** What runs at once on one connection of the service. */
const maxInFlight = 16;
const maxWaiting = 1_000;
/** Refusals of commands that were not run. */
const notRun = ["realtime_commands_limit", "service_draining"];

/** One command until it has its answer, its error, or nobody who wants either. */
class Waiting {
  /** Its place among all that were asked for. */
  readonly serial: number;
  readonly name: string;
  readonly payload: unknown;
  readonly idempotencyKey: string | null;
  readonly isRepeatable: boolean;
  /** Who asked: it goes in nobody else's name. */
  readonly caller: string | null;
  readonly millis: number;
  failures = 0;
  readonly #over = new AbortController();
  readonly #resolve: (data: unknown) => void;
  readonly #reject: (error: ApiError) => void;
  #forget: () => void = () => undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    serial: number,
    { name, payload, repeats }: Asked,
    options: CommandOptions,
    client: Client,
    [resolve, reject]: readonly [(data: unknown) => void, (error: ApiError) => void],
  ) {
    this.serial = serial;
    this.name = name;
    this.payload = payload;
    // Made here, so that every try has the same one.
    this.idempotencyKey = repeats === "keyed" ? (options.idempotencyKey ?? randomKey()) : null;
    this.isRepeatable = repeats !== undefined;
    this.caller = callerOf(client);
    this.millis = options.timeoutMillis ?? client.timeoutMillis ?? 30_000;
    this.#resolve = resolve;
    this.#reject = reject;
    const leave = (): void => this.fail(new ApiError("client.aborted", "the command was given up"));
    this.#forget = onAbort(options.signal, leave);
  }

  /** Aborts once there is nothing to be answered any more. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** The time for an answer begins with the first try. */
  began(): void {
    this.#timer ??= setTimeout(
      () => this.fail(new ApiError("client.timeout", `no answer in ${this.millis} ms`)),
      timerMillis(this.millis),
    );
  }

  answer(data: unknown): void {
    this.#resolve(data);
    this.#end();
  }

  fail(error: ApiError): void {
    this.#reject(error);
    this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#forget();
    this.#over.abort();
  }
}

interface Asked {
  readonly name: string;
  readonly payload: unknown;
  readonly repeats: Operation["repeats"];
}

export class CommandQueue {
  /** In the order in which they were asked for. */
  readonly #waiting: Waiting[] = [];
  /** These, and those on their way. */
  readonly #all = new Set<Waiting>();
  #serial = 0;
  readonly #client: Client;
  readonly #meetCaller: () => void;
  #line: Line | undefined;
  #inFlight = 0;
  #closed: ApiError | undefined;

  /** `meetCaller` leaves a line that is not of whoever asks. */
  constructor(client: Client, meetCaller: () => void) {
    this.#client = client;
    this.#meetCaller = meetCaller;
  }

  /** Sends a command as soon as there is a line. */
  enqueue(asked: Asked, options: CommandOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed);
      if (this.#waiting.length >= maxWaiting)
        return reject(new ApiError("client.too_large", `${maxWaiting} commands wait already`));
      this.#meetCaller();
      const callbacks = [resolve, reject] as const;
      const one = new Waiting((this.#serial += 1), asked, options, this.#client, callbacks);
      if (one.isOver) return;
      this.#waiting.push(one);
      this.#all.add(one);
      // A cancelled command makes room at once.
      one.signal.addEventListener("abort", () => {
        this.#all.delete(one);
        const at = this.#waiting.indexOf(one);
        if (at >= 0) this.#waiting.splice(at, 1);
      });
      this.#send();
    });
  }

  /** Commands go over this line from now on; undefined lets them wait. */
  use(line: Line | undefined): void {
    this.#line = line;
    this.#send();
  }

  /** Lines are that caller's from now on: commands of others are no longer sent. */
  isOf(caller: string | null): void {
    for (const one of this.#all) if (one.caller !== caller) one.fail(anotherCaller());
  }

  /** Nothing is sent any more. */
  close(error: ApiError): void {
    this.#closed = error;
    this.#line = undefined;
    for (const one of this.#all) one.fail(error);
  }

  #send(): void {
    while (this.#line !== undefined && this.#inFlight < maxInFlight) {
      const one = this.#waiting.shift();
      if (one === undefined) return;
      if (one.caller !== callerOf(this.#client)) one.fail(anotherCaller());
      if (!one.isOver) void this.#run(one, this.#line);
    }
  }

  async #run(one: Waiting, line: Line): Promise<void> {
    this.#inFlight += 1;
    one.began();
    try {
      one.answer(await line.command(one));
    } catch (cause) {
      // A payload that no line can carry is no error of the service.
      const error =
        cause instanceof ApiError
          ? cause
          : new ApiError("client.invalid", String(cause), { cause });
      await this.#failed(one, error, line);
    } finally {
      this.#inFlight -= 1;
      this.#send();
    }
  }

  /** Puts a command back where another try is safe and may end otherwise. */
  async #failed(one: Waiting, error: ApiError, line: Line): Promise<void> {
    const wasRun = !notRun.includes(error.code);
    const isPassing = ["client.network", "idempotency_in_flight"].includes(error.code);
    if (one.isOver) return;
    if (wasRun && !(one.isRepeatable && isPassing)) return one.fail(error);
    // A line that has ended lets it wait for the next one; one that goes on is asked again after a
    // while.
    if (this.#line === line || error.code !== "client.network") {
      one.failures += 1;
      const most = Math.min(5_000, 200 * 2 ** one.failures);
      await new Promise((resolve) => setTimeout(resolve, 100 + most * Math.random()));
    }
    if (one.isOver) return;
    const behind = this.#waiting.findIndex(({ serial }) => serial > one.serial);
    this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, one);
  }
}
