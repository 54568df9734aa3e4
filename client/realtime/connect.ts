// A lasting realtime connection: it reconnects, resumes where it was, and renews its token
// (service.md "Realtime wire protocol").
import { callerOf, heldBy } from "../caller.js";
import { ApiError, callOf, refreshTokens } from "../core.js";
import type { Client, Held } from "../core.js";
import { CommandQueue } from "./commands.js";
import type { CommandType } from "./commands.js";
import { reportErrors } from "./report-errors.js";
import { Inbox, type Handle } from "./inbox.js";
import type { Live, LiveOptions, LiveStatus, RealtimeSpec } from "./live.js";
import { leastPauseMillis, pauseMillis } from "./pause.js";
import { Memory } from "./memory.js";
import { watchPage } from "./page.js";
import { deviceReplaced, ofTopics, type Ending, type Line } from "./port.js";
import { hasEnded, millisToRenewal } from "./renewal.js";
import { Topics } from "./topics.js";

export type { Client } from "../core.js";
export type { CommandCode, CommandType } from "./commands.js";
export type { SignalOf } from "./lane.js";
export type { Live, LiveOptions, LiveStatus, RealtimeSpec } from "./live.js";

/** After a connection that lasted this long, pauses begin anew. */
const stableMillis = 10_000;
/** A delay that the service asks for is kept up to this: it may be there long before. */
const mostAfterMillis = 60 * 60_000;
/** How often a silent connection checks its caller. */
const callerMillis = 1_000;

/**
 * Opens a connection, which lasts until it is closed. Throws nothing: `onStatus` and `opened` tell.
 */
export function connectRealtime<
  Events,
  Commands extends { readonly [Name in keyof Commands]: CommandType },
>(client: Client, spec: RealtimeSpec, options: LiveOptions): Live<Events, Commands> {
  const connection = new Connection(client, spec, options);
  return {
    get status() {
      return connection.status;
    },
    on: (name, handle) =>
      connection.listen((signal) =>
        // Names and payloads go together by the service's declaration.
        signal.name === name ? handle(signal.data as Events[typeof name], signal.id) : undefined,
      ),
    listen: (handle) => connection.listen(handle as unknown as Handle),
    command: (name, payload, given = {}) =>
      callOf(
        connection.commands.enqueue(
          { name, payload, repeats: spec.commands[name]?.repeats },
          given,
        ) as Promise<Commands[typeof name]["output"]>,
      ),
    setTopics: (topics) => connection.setTopics(topics),
    opened: () => connection.opened(),
    close: () => connection.close(null),
  };
}

class Connection {
  status: LiveStatus = "connecting";
  readonly commands: CommandQueue;
  readonly #client: Client;
  readonly #spec: RealtimeSpec;
  readonly #options: LiveOptions;
  readonly #memory: Memory;
  readonly #handlers = new Set<Handle>();
  readonly #waiting = new Set<{ resolve: () => void; reject: (error: ApiError) => void }>();
  readonly #topics: Topics;
  #inbox: Inbox | undefined;
  #owner: string | null = null;
  #line: Line | undefined;
  /** Counts lines: signals of an earlier one are ignored. */
  #generation = 0;
  #failures = 0;
  #openedAt: number | null = null;
  #isRefreshed = false;
  #used: Held = { tokens: null, caller: null };
  #pause: ReturnType<typeof setTimeout> | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #closed: ApiError | undefined;
  readonly #leavePage: () => void;
  readonly #watch: ReturnType<typeof setInterval>;

  constructor(client: Client, spec: RealtimeSpec, options: LiveOptions) {
    this.#client = client;
    this.#spec = spec;
    this.#options = options;
    this.#topics = new Topics(options.topics ?? []);
    this.commands = new CommandQueue(client, () => this.#leavesCaller());
    this.#memory = new Memory({
      place: `${client.baseUrl}${spec.path}`,
      deviceId: options.deviceId,
      store: options.store,
      isShared: options.transport.isShared === true,
    });
    this.#leavePage = watchPage({
      // An earlier line leads nowhere.
      online: () => ["open", "waiting"].includes(this.status) && this.#redial(),
      hidden: () => {
        this.#inbox?.acknowledge();
        this.#leaveLine();
      },
      restored: () => this.#redial(),
      visible: () => (this.status === "waiting" ? this.#redial() : this.#line?.probe?.()),
    });
    this.#watch = setInterval(() => this.#leavesCaller(), callerMillis);
    this.#redial();
  }

  listen(handle: Handle): () => void {
    const own: Handle = (signal) => (this.#leavesCaller() ? undefined : handle(signal));
    this.#handlers.add(own);
    this.#inbox?.run();
    return () => void this.#handlers.delete(own);
  }

  opened(): Promise<void> {
    if (this.status === "open") return Promise.resolve();
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => this.#waiting.add({ resolve, reject }));
  }

  setTopics(topics: readonly string[]): Promise<void> {
    const heard = this.#topics.want(topics);
    if (this.#closed !== undefined) this.#topics.close(this.#closed);
    // A line that is being made hears them before it is open; the pause before another one is kept.
    else if (!this.#leavesCaller() && this.status === "open") void this.#hearTopics();
    return heard;
  }

  /** Sets the wanted topics on the line; false if it was or has to be replaced. */
  async #hearTopics(): Promise<boolean> {
    const generation = this.#generation;
    const isCurrent = (): boolean => generation === this.#generation;
    const line = this.#line;
    try {
      // Another line is for whoever has signed in since, or tells why this one can't.
      const isSame = (await this.#held())?.caller === this.#used.caller;
      if (line !== undefined && isSame) await this.#topics.change(line, isCurrent);
      else if (isCurrent()) this.#redial();
    } catch (error) {
      const refusal = error as ApiError;
      if (!isCurrent()) return false;
      if (ofTopics.includes(refusal.code)) this.close(refusal);
      else this.#redial();
    }
    return isCurrent();
  }

  close(error: ApiError | null): void {
    if (this.#closed !== undefined) return;
    this.#closed = error ?? new ApiError("client.closed", "the connection was closed");
    this.#inbox?.stop();
    this.#leaveLine();
    this.#leavePage();
    clearInterval(this.#watch);
    this.commands.close(this.#closed);
    this.#topics.close(this.#closed);
    for (const { reject } of this.#waiting) reject(this.#closed);
    this.#waiting.clear();
    this.#tell("closed", error);
  }

  #redial(): void {
    if (this.#closed !== undefined) return;
    this.#leaveLine();
    void this.#dial();
  }

  async #dial(): Promise<void> {
    const generation = this.#generation;
    const isCurrent = (): boolean => generation === this.#generation;
    this.#tell("connecting");
    let held = await this.#held();
    if (held?.tokens != null && hasEnded(held.tokens.access_token)) {
      await refreshTokens(this.#client, held).catch(() => false);
      held = await this.#held();
    }
    if (!isCurrent()) return;
    if (held === undefined) return this.#waitAndDial();
    this.#used = held;
    const inbox = this.#inboxOf(held.caller);
    try {
      this.#line = this.#options.transport.open(
        {
          client: this.#client,
          path: this.#spec.path,
          commands: this.#spec.commands,
          token: held.tokens?.access_token ?? null,
          caller: held.caller,
          deviceId: this.#memory.deviceId,
          topics: this.#topics.forLine(),
          lastEventId: inbox.lastId,
          from: this.#options.from,
          begun: (id) => {
            inbox.begin(id);
            this.#memory.begin(held.caller, id);
          },
        },
        {
          opened: () => isCurrent() && !this.#leavesCaller() && void this.#opened(),
          signal: (name, id, data, signalId, traceparent) => {
            if (!isCurrent() || this.#leavesCaller()) return;
            if (name === "realtime.unsubscribed") this.#topics.lost(data);
            inbox.take({ name, id, data, traceparent }, signalId);
          },
          ended: (ending) => isCurrent() && void this.#ended(ending),
        },
      );
    } catch (cause) {
      this.close(new ApiError("client.closed", String(cause), { cause }));
    }
  }

  /** The stored state; undefined if the application's store fails. */
  async #held(): Promise<Held | undefined> {
    try {
      return await heldBy(this.#client);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  async #opened(): Promise<void> {
    this.#openedAt = Date.now();
    this.#isRefreshed = false;
    this.commands.use(this.#line);
    this.#renewLater();
    this.#topics.opened();
    // Topics set while it was opening.
    while (!this.#topics.isHeard) if (!(await this.#hearTopics())) return;
    for (const { resolve } of this.#waiting) resolve();
    this.#waiting.clear();
    this.#tell("open");
  }

  /**
   * Comes back, at once with new tokens where those were not good any more, later otherwise, or
   * not.
   */
  async #ended({ code, detail, isFinal, afterMillis }: Ending): Promise<void> {
    if (this.#leavesCaller()) return;
    this.#leaveLine();
    const error = new ApiError(code ?? "client.network", detail ?? "the connection ended");
    if (code === deviceReplaced && this.#options.deviceId === undefined) {
      if (this.#options.transport.isShared !== true) this.#memory.takeNewDevice(this.#owner);
      return this.#waitAndDial(afterMillis);
    }
    if (code !== "core.authentication")
      return isFinal === true ? this.close(error) : this.#waitAndDial(afterMillis);
    const generation = this.#generation;
    const used = this.#used;
    if (used.tokens === null || this.#isRefreshed) return this.close(error);
    this.#isRefreshed = true;
    const isRenewed = await refreshTokens(this.#client, used).catch(() => false);
    const kept = isRenewed ? used : await this.#held();
    if (generation !== this.#generation) return;
    if (isRenewed) return this.#redial();
    // There is nothing to renew it with, or the service has refused that.
    if (kept !== undefined && kept.tokens?.refresh_token == null) return this.close(error);
    this.#isRefreshed = false;
    this.#waitAndDial(afterMillis);
  }

  #waitAndDial(afterMillis = 0): void {
    if (this.#closed !== undefined) return;
    if (this.#openedAt !== null && Date.now() - this.#openedAt > stableMillis) this.#failures = 0;
    this.#openedAt = null;
    // The service's own delay replaces the shortest pause.
    const asked = Math.min(afterMillis, mostAfterMillis) - leastPauseMillis;
    const millis = pauseMillis(this.#failures) + Math.max(0, asked);
    this.#failures += 1;
    this.#pause = setTimeout(() => this.#redial(), millis);
    this.#tell("waiting");
  }

  /** Nothing of the line is heard any more. */
  #leaveLine(): void {
    this.#generation += 1;
    clearTimeout(this.#pause);
    clearTimeout(this.#renewal);
    this.commands.use(undefined);
    this.#line?.close();
    this.#line = undefined;
  }

  /** New tokens before those in use expire; the line goes on with them, or is made anew. */
  #renewLater(): void {
    clearTimeout(this.#renewal);
    const used = this.#used;
    const millis = used.tokens === null ? null : millisToRenewal(used.tokens.access_token);
    if (millis === null) return;
    this.#renewal = setTimeout(() => void this.#renew(used), millis);
  }

  async #renew(used: Held): Promise<void> {
    const generation = this.#generation;
    const isRenewed = await refreshTokens(this.#client, used).catch(() => false);
    const held = await this.#held();
    if (generation !== this.#generation) return;
    // Where there are none to be had, the service ends the line in its time.
    if (held?.tokens == null || !isRenewed) return;
    // A line has one caller.
    if (held.caller !== this.#owner) return this.#redial();
    this.#used = held;
    const goesOn = await this.#line?.reauthenticate(held.tokens.access_token).catch(() => false);
    if (generation !== this.#generation) return;
    if (goesOn === true) this.#renewLater();
    else this.#redial();
  }

  /**
   * Whether somebody else is signed in than the connection was made for. Then it is left, before
   * anything of theirs is heard or asked for over it, and made anew.
   */
  #leavesCaller(): boolean {
    if (this.#inbox === undefined || this.#isOwner()) return false;
    this.#inbox.stop();
    this.#inbox = undefined;
    this.#redial();
    return true;
  }

  #isOwner(): boolean {
    try {
      return callerOf(this.#client) === this.#owner;
    } catch {
      // Whoever makes the connection anew is told.
      return false;
    }
  }

  /** The inbox of whoever is signed in: another caller's signals are others. */
  #inboxOf(owner: string | null): Inbox {
    this.commands.isOf(owner);
    if (this.#inbox !== undefined && owner === this.#owner) return this.#inbox;
    this.#inbox?.stop();
    this.#owner = owner;
    this.#inbox = new Inbox({
      handlers: this.#handlers,
      lastId: this.#memory.lastOf(owner),
      keep: (id) => this.#memory.keepLast(owner, id, this.#line?.isFollowing !== true),
      acknowledge: (id) => this.#line?.acknowledge(id),
      failed: (error) => this.#failed(error),
      again: () => this.#redial(),
    });
    return this.#inbox;
  }

  #failed(error: unknown): void {
    if (this.#options.onError === undefined) console.error(error);
    else reportErrors(() => this.#options.onError?.(error));
  }

  #tell(status: LiveStatus, error: ApiError | null = null): void {
    const isNew = status !== this.status || status === "open";
    this.status = status;
    if (isNew) reportErrors(() => this.#options.onStatus?.(status, error));
  }
}
