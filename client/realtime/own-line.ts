// A tab's own line beside the shared one, for topics that don't fit there. It carries ephemeral
// signals; durable ones come over the shared line.
import { ApiError } from "../core.js";
import { onAbort } from "../signals.js";
import { HoldBack } from "./hold-back.js";
import type { Heard } from "./place.js";
import type { Ending, Line, Receiver } from "./port.js";
import { isSame, withoutEnded } from "./topics.js";

/**
 * How long it is heard on once the shared line hears its topics: longer than that one's signals
 * wait for its own.
 */
const leaveMillis = 1_200;

export interface OwnLineOptions {
  readonly topics: readonly string[];
  /** Whether some of them were heard over the shared line until now. */
  readonly isLater: boolean;
  /** Aborts when the tab leaves its line. */
  readonly leaving: AbortSignal;
  /** Opens it; null if that cannot be for now. */
  open(receiver: Receiver): Promise<Line | null>;
  signal: Receiver["signal"];
  /** It has ended, or was refused. */
  ended(ending: Ending): void;
}

export class OwnLine {
  /** Resolves once it has its topics. Rejects if it ends before. */
  readonly opened: Promise<void>;
  readonly #options: OwnLineOptions;
  readonly #forget: () => void;
  readonly #signals: HoldBack;
  #topics: readonly string[];
  /** Its topics and the previous ones, whose last signals may still be on their way. */
  #asked: ReadonlySet<string>;
  #line: Line | undefined;
  #isOpen = false;
  #isLeaving = false;
  #isOver = false;
  #drained: ReturnType<typeof setTimeout> | undefined;
  #settle: { resolve(): void; reject(error: ApiError): void } | undefined;

  constructor(options: OwnLineOptions) {
    this.#options = options;
    this.#topics = options.topics;
    this.#asked = new Set(options.topics);
    this.#signals = new HoldBack((signal) => options.signal(...signal));
    // Over WebSocket, signals may come before the line is told to be open.
    if (options.isLater) this.#signals.begin();
    this.opened = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.opened.catch(() => undefined);
    this.#forget = onAbort(options.leaving, () => this.close());
    void this.#begin();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Whether all that is not kept and concerns the tab is told over this line, and none of it later
   * than over another.
   */
  get isInCharge(): boolean {
    return this.#isOpen && !this.#signals.isHolding;
  }

  /**
   * Whether this line has signals without an id that another line has, too: presence of its topics,
   * and their ends.
   */
  tellsInstead([, , data, signalId]: Heard): boolean {
    if (!this.#isOpen || signalId !== undefined) return false;
    const { topic, topics } = (data ?? {}) as {
      readonly topic?: unknown;
      readonly topics?: unknown;
    };
    const named = Array.isArray(topics) ? topics : [topic];
    return named.length > 0 && named.every((one) => this.#asked.has(one as string));
  }

  /** Sets the topics. Rejects if it can't have them. */
  async setTopics(topics: readonly string[]): Promise<void> {
    await this.opened;
    if (this.#line?.setTopics === undefined)
      throw new ApiError("client.network", "the connection can't change what it hears");
    const before = this.#topics;
    if (isSame(topics, before)) return;
    this.#asked = new Set([...before, ...topics]);
    await this.#line.setTopics(topics, before);
    this.#topics = topics;
  }

  async reauthenticate(token: string): Promise<boolean> {
    return (await this.#line?.reauthenticate(token)) ?? true;
  }

  probe(): void {
    this.#line?.probe?.();
  }

  /** The shared line hears its topics. */
  leaveSoon(): void {
    this.#isLeaving = true;
    this.#drained = setTimeout(() => this.close(), leaveMillis);
  }

  close(): void {
    if (this.#end({})) this.#line?.close();
  }

  async #begin(): Promise<void> {
    try {
      const line = await this.#options.open({
        opened: () => {
          this.#isOpen = true;
          this.#signals.drain();
          this.#settle?.resolve();
        },
        signal: (...signal) => this.#take(signal),
        ended: (ending) => this.#end(ending) && !this.#isLeaving && this.#options.ended(ending),
      });
      this.#line = line ?? undefined;
      if (this.#isOver) line?.close();
      else if (line === null && this.#end({})) this.#options.ended({});
    } catch (error) {
      const ending = { detail: String(error), isFinal: true };
      if (this.#end(ending)) this.#options.ended(ending);
    }
  }

  #take(signal: Heard): void {
    const [name, id, data, signalId] = signal;
    if (this.#isOver || id !== null) return;
    // The shared line reports losses of the caller's mailbox.
    const isLoss = name === "realtime.gap";
    if (name === "realtime.unsubscribed") this.#topics = withoutEnded(this.#topics, data);
    if (isLoss && (data as { readonly topics?: unknown }).topics === undefined) return;
    // The shared line has these too by now, and nobody could recognize the duplicate.
    if (this.#isLeaving && signalId === undefined && !isLoss) return;
    this.#signals.take(signal);
  }

  /** Ends it; false if it has ended already. */
  #end({ code = "client.network", detail = "the connection ended" }: Ending): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#isOpen = false;
    clearTimeout(this.#drained);
    this.#signals.stop();
    this.#forget();
    this.#settle?.reject(new ApiError(code, detail));
    return true;
  }
}
