// The topics of one connection: what it hears, from when until when. A topic is heard as long as
// the caller may hear it (service.md "Connect handshake" rules 5 to 7).
import { fail } from "../../contract/errors.js";
import { maxTopics } from "../../contract/realtime.js";
import type { ExecutionContext } from "../../operations/context.js";
import { grantedTopics } from "./handshake.js";
import type { RealtimeSpec } from "./spec.js";

/** What hears topics for a connection. */
export interface TopicEar {
  /** Hears a topic from now on. */
  hear(topic: string): void;
  /** Hears a topic no longer. */
  unhear(topic: string): void;
  /** These topics have ended, because the caller may not hear them any more. */
  ended(topics: readonly string[]): void;
}

/** Topics at a moment, each with the number of its subscription. */
export type HeldTopics = ReadonlyMap<string, number>;

/** The topics of a connection, which begins with those that it was granted. */
export class Subscriptions {
  readonly #spec: RealtimeSpec;
  readonly #ear: TopicEar;
  readonly #heard = new Map<string, number>();
  #count = 0;
  #isOver = false;

  constructor(spec: RealtimeSpec, ear: TopicEar) {
    this.#spec = spec;
    this.#ear = ear;
  }

  /** The topics that are heard now. */
  get topics(): readonly string[] {
    return [...this.#heard.keys()];
  }

  /** Hears topics that were granted. */
  begin(granted: readonly string[]): void {
    if (this.#isOver) return;
    for (const topic of granted) {
      if (this.#heard.has(topic)) continue;
      this.#heard.set(topic, (this.#count += 1));
      this.#ear.hear(topic);
    }
  }

  /**
   * Hears these topics as well; resolves with all that are heard then. All are granted, or nothing
   * changes: throws `realtime_topics_unauthorized`, `realtime_topics_limit`.
   */
  async add(topics: readonly string[], context: ExecutionContext): Promise<readonly string[]> {
    this.#checkCount(topics);
    const may = await grantedTopics(this.#spec, topics, context);
    if (!topics.every((topic) => may.has(topic))) throw fail("realtime_topics_unauthorized");
    this.#checkCount(topics);
    this.begin(topics);
    return this.topics;
  }

  /** Hears these topics no longer; returns those that are still heard. */
  remove(topics: readonly string[]): readonly string[] {
    for (const topic of topics) this.#stop(topic);
    return this.topics;
  }

  /** The topics of this moment, for `keep` once the authorizer has answered. */
  held(): HeldTopics {
    return new Map(this.#heard);
  }

  /**
   * Ends what was held and is not granted any more. What has been subscribed to again in the
   * meantime stays.
   */
  keep(held: HeldTopics, granted: ReadonlySet<string>): void {
    const gone: string[] = [];
    for (const [topic, number] of held)
      if (!granted.has(topic) && this.#heard.get(topic) === number) gone.push(topic);
    for (const topic of gone) this.#stop(topic);
    if (gone.length > 0) this.#ear.ended(gone);
  }

  /** Hears nothing any more. */
  end(): void {
    this.#isOver = true;
    for (const topic of this.#heard.keys()) this.#stop(topic);
  }

  #stop(topic: string): void {
    if (this.#heard.delete(topic)) this.#ear.unhear(topic);
  }

  #checkCount(topics: readonly string[]): void {
    if (new Set([...this.#heard.keys(), ...topics]).size > maxTopics)
      throw fail("realtime_topics_limit", { most: maxTopics });
  }
}
