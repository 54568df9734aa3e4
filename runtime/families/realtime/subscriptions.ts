// The topics of one connection: what it hears, from when until when. A topic is heard as long as
// the caller may hear it (service.md "Connect handshake" rules 5 to 7).
import { fail } from "../../contract/errors.js";
import { maxTopics } from "../../contract/realtime.js";
import type { ExecutionContext } from "../../operations/context.js";
import { grantedTopics } from "./handshake.js";
import type { RealtimeSpec } from "./spec.js";

export interface Subscriptions {
  /** The topics that are heard now. */
  readonly topics: readonly string[];
  /**
   * Hears these topics as well; resolves with all that are heard then. All are granted, or nothing
   * changes: throws `realtime_topics_unauthorized`, `realtime_topics_limit`.
   */
  add(topics: readonly string[], context: ExecutionContext): Promise<readonly string[]>;
  /** Hears these topics no longer; returns those that are still heard. */
  remove(topics: readonly string[]): readonly string[];
  /** The topics of this moment, for `keep` once the authorizer has answered. */
  held(): HeldTopics;
  /**
   * Ends what was held and is not granted any more. What has been subscribed to again in the
   * meantime stays.
   */
  keep(held: HeldTopics, granted: ReadonlySet<string>): void;
  /** Hears nothing any more. */
  end(): void;
}

/** Topics, each with what ends it. */
export type HeldTopics = ReadonlyMap<string, () => void>;

export interface SubscriptionsOptions {
  readonly spec: RealtimeSpec;
  /** Hears a topic from now on; returns what ends that. */
  readonly hear: (topic: string) => () => void;
  /** These topics have ended, because the caller may not hear them any more. */
  readonly ended: (topics: readonly string[]) => void;
}

/** The topics of a connection, which begins with those that it was granted. */
export function subscriptions(
  { spec, hear, ended }: SubscriptionsOptions,
  granted: readonly string[],
): Subscriptions {
  const heard = new Map<string, () => void>();
  let isOver = false;
  const begin = (topics: readonly string[]): void => {
    if (!isOver) for (const topic of topics) if (!heard.has(topic)) heard.set(topic, hear(topic));
  };
  const stop = (topic: string): void => {
    const end = heard.get(topic);
    heard.delete(topic);
    end?.();
  };
  const checkCount = (topics: readonly string[]): void => {
    if (new Set([...heard.keys(), ...topics]).size > maxTopics)
      throw fail("realtime_topics_limit", { most: maxTopics });
  };
  begin(granted);
  return {
    get topics() {
      return [...heard.keys()];
    },

    async add(topics, context) {
      checkCount(topics);
      const may = await grantedTopics(spec, topics, context);
      if (!topics.every((topic) => may.has(topic))) throw fail("realtime_topics_unauthorized");
      checkCount(topics);
      begin(topics);
      return [...heard.keys()];
    },

    remove(topics) {
      for (const topic of topics) stop(topic);
      return [...heard.keys()];
    },

    held: () => new Map(heard),

    keep(held, may) {
      const gone = [...held].filter(([topic, end]) => !may.has(topic) && heard.get(topic) === end);
      for (const [topic] of gone) stop(topic);
      if (gone.length > 0) ended(gone.map(([topic]) => topic));
    },

    end() {
      isOver = true;
      for (const topic of heard.keys()) stop(topic);
    },
  };
}
