// The port of the outbox: integration events between the transaction that stages them and their destination
import { storeKey } from "./store-key.js";
// (service.md "Integration events (outbox)").

/** An event as it is kept. Times are epoch milliseconds. */
export interface OutboxEvent {
  /** UUIDv7; the same for every attempt, so that a consumer can drop repetitions. */
  readonly id: string;
  readonly name: string;
  /** JSON text, sealed. */
  readonly payload: string;
  readonly tenant: string;
  readonly createdAt: number;
}

/** An event that a relay holds until its lease ends. */
export interface ClaimedEvent extends OutboxEvent {
  /** Counted from 1. */
  readonly attempt: number;
}

/** How far the relay is behind. Events are counted up to 10 000. */
export interface OutboxState {
  /** Events to be delivered. */
  readonly pending: number;
  /** Age of the oldest of them in milliseconds, 0 where there is none. */
  readonly lagMillis: number;
  /** Events that were given up. */
  readonly dead: number;
}

/** The key of the store below. */
export const outboxStore = storeKey<OutboxStore>("outbox");

/** The outbox within one transaction. */
export interface OutboxStore {
  add(event: OutboxEvent): Promise<void>;
  /** Whether an event of one of the names waits to be claimed. */
  hasDue(names: readonly string[], now: number): Promise<boolean>;
  /** Takes up to `limit` due events of these names until `leaseUntil`; what another relay holds is left to it. Oldest first. */
  claim(
    names: readonly string[],
    window: { readonly now: number; readonly leaseUntil: number; readonly limit: number },
  ): Promise<readonly ClaimedEvent[]>;
  /** Delivered: nothing of it is kept. */
  remove(id: string): Promise<void>;
  /** Not delivered: due again at `dueAt`, or given up where that is null. */
  fail(id: string, dueAt: number | null, now: number, reason: string): Promise<void>;
  /** Makes up to `limit` given-up events due again, those of one name or all; returns how many. */
  redrive(name: string | null, now: number, limit: number): Promise<number>;
  /** Removes up to `limit` events that were given up before `before`; returns how many. */
  prune(before: number, limit: number): Promise<number>;
  state(now: number): Promise<OutboxState>;
}
