// The port of the outbox, which keeps integration events from the transaction that stages them to
// their delivery (service.md "Integration events (outbox)").
import { storeKey } from "./store-key.js";

/** An event as it is stored. Times are epoch milliseconds. */
export interface OutboxEvent {
  /** UUIDv7; the same for every attempt, so that a consumer can drop repetitions. */
  readonly id: string;
  readonly name: string;
  /** JSON text, sealed: encrypted, and bound to the id. */
  readonly payload: string;
  /**
   * The shape in which it was kept (operations/kept-values.ts); null if an earlier version of
   * opwright has kept it.
   */
  readonly shape: string | null;
  /** Where what has staged it was in a trace, as W3C `traceparent`; null if it was in none. */
  readonly traceparent: string | null;
  readonly tenant: string;
  readonly createdAt: number;
}

/** An event that a relay, which delivers events, has to itself until its lease ends. */
export interface ClaimedEvent extends OutboxEvent {
  /** The number of this attempt, counted from 1. */
  readonly attempt: number;
}

/** One attempt of an event. */
export type EventAttempt = Pick<ClaimedEvent, "id" | "attempt">;

/** How far delivery is behind. Events are counted up to 10 000. */
export interface OutboxState {
  /** Events that are still to be delivered. */
  readonly pending: number;
  /** Age of the oldest of them in milliseconds; 0 if there is none. */
  readonly lagMillis: number;
  /** Events that were given up. */
  readonly dead: number;
}

/** An event that was given up. Its payload stays sealed. */
export interface DeadEvent extends Pick<OutboxEvent, "id" | "name" | "tenant" | "createdAt"> {
  readonly deadAt: number;
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

/** Which due events a relay claims. */
export interface OutboxWindow {
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  /**
   * Whether it claims those whose last attempt ended with its process; the others where left out.
   */
  readonly areSuspect?: boolean;
}

/** The key of the store below. */
export const outboxStore = storeKey<OutboxStore>("outbox");

/** The outbox within one transaction. */
export interface OutboxStore {
  /** Adds an event, which is due at once. */
  add(event: OutboxEvent): Promise<void>;
  /** Whether an event with one of these names is due. */
  hasDue(names: readonly string[], now: number): Promise<boolean>;
  /**
   * Claims due events of these names until `leaseUntil`, oldest first, except those that another
   * relay has. The attempt of each is counted before it begins, and noted as one that ended with
   * the process until its outcome is known.
   */
  claim(names: readonly string[], window: OutboxWindow): Promise<readonly ClaimedEvent[]>;
  /**
   * Gives a claimed event up whose attempts before this claim all ended with their process, and
   * takes the claim back.
   */
  giveUp(id: string, now: number): Promise<void>;
  /**
   * Makes a claimed event due again at once, as if it had not been claimed. Nothing happens if a
   * later attempt has begun.
   */
  release(attempt: EventAttempt, now: number): Promise<void>;
  /** Removes an event that was delivered, by whichever attempt; returns whether it was there. */
  remove(id: string): Promise<boolean>;
  /**
   * Notes why an event was not delivered. It is due again at `dueAt`, or given up if that is null.
   * Returns false, and changes nothing, if a later attempt has begun, or the event is delivered or
   * given up.
   */
  fail(attempt: EventAttempt, dueAt: number | null, now: number, reason: string): Promise<boolean>;
  /** Up to `limit` given-up events, of one name or all, the newest first. */
  listDead(name: string | null, limit: number): Promise<readonly DeadEvent[]>;
  /**
   * Makes up to `limit` given-up events due again, of one name or all, with attempts counted
   * afresh; returns how many.
   */
  redrive(name: string | null, now: number, limit: number): Promise<number>;
  /** Up to `limit` events that were given up, in the order of their ids, after an id. */
  walkDead(
    after: string | null,
    limit: number,
  ): Promise<readonly Pick<OutboxEvent, "id" | "payload">[]>;
  /** Removes up to `limit` events that were given up before `before`; returns how many. */
  prune(before: number, limit: number): Promise<number>;
  state(now: number): Promise<OutboxState>;
}
