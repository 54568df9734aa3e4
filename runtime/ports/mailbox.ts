// The port of mailboxes, which keep durable signals from the transaction that stages them until
// devices acknowledge them (decisions.md §2; architecture.md "Realtime").
import { storeKey } from "./store-key.js";

/** A durable signal at its position in a mailbox. */
export interface MailboxEntry {
  /** Counts from 1 in each mailbox, without gaps. */
  readonly position: number;
  /** UUIDv7, the same at every delivery. */
  readonly eventId: string;
  readonly name: string;
  /** JSON text, as it was kept. */
  readonly data: string;
  /**
   * The shape in which it was kept (operations/kept-values.ts); null if an earlier version of
   * opwright has kept it.
   */
  readonly shape: string | null;
  /** Where what has staged it was in a trace, as W3C `traceparent`; null if it was in none. */
  readonly traceparent: string | null;
}

/** An entry and the mailbox that it was put into. */
export interface NumberedEntry extends MailboxEntry {
  readonly tenant: string;
  readonly principalId: string;
}

/** What one transaction has numbered. */
export interface Numbered {
  readonly entries: readonly NumberedEntry[];
  /** Shards that may have more. */
  readonly unfinished: readonly number[];
  /** Whether other transactions are numbering some of the shards. */
  readonly isBusy: boolean;
}

/** How far a mailbox and one of its devices are. */
export interface MailboxState {
  /** The position of the newest entry; 0 if there has never been one. */
  readonly head: number;
  /** Entries up to this position have been removed. */
  readonly floor: number;
  /** The position up to which the device has acknowledged; null if it never has. */
  readonly cursor: number | null;
}

/** A device that has acknowledged signals of a mailbox. */
export interface MailboxDevice {
  /** Null for all connections without a device, which share a cursor. */
  readonly device: string | null;
  /** The position up to which it has acknowledged. */
  readonly position: number;
  /** When it last has, in epoch milliseconds. */
  readonly acknowledgedAt: number;
}

/** Whose mailbox it is: a principal has one in each tenant. */
export interface MailboxOwner {
  readonly tenant: string;
  readonly principalId: string;
}

/** The mailbox of a caller in the tenant of an invocation. */
export function mailboxOf(
  { tenant }: { readonly tenant: string },
  { principalId }: { readonly principalId: string },
): MailboxOwner {
  return { tenant, principalId };
}

/**
 * Mailboxes are divided into so many shards. Signals of different shards get their positions
 * independently, in parallel.
 */
export const shards = 16;

/** The shard of all mailboxes of a principal. `principalId` is a UUID. */
export function shardOf(principalId: string): number {
  return Number.parseInt(principalId.slice(-1), 16) % shards;
}

/** The key of the store below. */
export const mailboxStore = storeKey<MailboxStore>("mailbox");

/** Mailboxes within one transaction. Times are epoch milliseconds. */
export interface MailboxStore {
  /**
   * Stages a signal for the mailboxes of these principals, where it gets its positions later
   * (`number`). Calls that don't wait for each other are written together. Throws
   * `core.configuration` if a principal's id is not a UUID.
   */
  stage(
    tenant: string,
    signal: Omit<MailboxEntry, "position">,
    principalIds: readonly string[],
    now: number,
  ): Promise<void>;
  /** The shards that have staged signals. */
  stagedShards(): Promise<readonly number[]>;
  /**
   * How many milliseconds the oldest staged signal has waited for its positions at `now`; 0 if none
   * waits.
   */
  stagedLag(now: number): Promise<number>;
  /**
   * Gives about `limit` staged signals of these shards, the oldest of each, the next positions of
   * their mailboxes. Leaves out shards that another transaction is numbering. Call it after the
   * transactions that staged the signals have committed, at the beginning of a transaction.
   */
  number(shards: readonly number[], limit: number): Promise<Numbered>;
  /** Up to `limit` entries after a position, in order. */
  read(owner: MailboxOwner, after: number, limit: number): Promise<readonly MailboxEntry[]>;
  /** The newest positions of these mailboxes; those that have never had an entry are left out. */
  heads(
    owners: readonly MailboxOwner[],
  ): Promise<readonly (MailboxOwner & { readonly head: number })[]>;
  /**
   * How far a mailbox and a device are. `device` null is the cursor that all connections without a
   * device share.
   */
  state(owner: MailboxOwner, device: string | null): Promise<MailboxState>;
  /** The tenants in which a principal has a mailbox with entries. */
  placesOf(principalId: string): Promise<readonly string[]>;
  /** Removes the mailboxes of a principal, and what waits for them; returns how many. */
  removeOf(principalId: string): Promise<number>;
  /** The devices that have a cursor, those first that have acknowledged most recently. */
  devices(owner: MailboxOwner): Promise<readonly MailboxDevice[]>;
  /** Whether the mailbox has exactly this event at this position. */
  has(owner: MailboxOwner, position: number, eventId: string): Promise<boolean>;
  /**
   * Moves a cursor forward, never backward or beyond the head; returns its position. If the mailbox
   * then has more than `mostDevices` devices, those that were seen least recently lose their
   * cursors.
   */
  acknowledge(
    owner: MailboxOwner,
    device: string | null,
    position: number,
    now: number,
    mostDevices: number,
  ): Promise<number>;
  /**
   * Removes up to about `limit` entries: those older than `before`, those beyond the newest `most`
   * of a mailbox, and all that come before them. Skips mailboxes that are just getting new entries.
   * Returns how many were removed.
   */
  trim(before: number, most: number, limit: number): Promise<number>;
  /**
   * Removes up to `limit` signals that are older than `before`, in no mailbox and not staged;
   * returns how many.
   */
  pruneSignals(before: number, limit: number): Promise<number>;
  /**
   * Checks up to `limit` cursors; each has its turn about once in the time that signals are kept
   * (`now - before`). Removes those whose device was not seen since `before` and has missed removed
   * entries: it is told of the gap without a cursor as well. Returns how many were checked.
   */
  pruneCursors(before: number, now: number, limit: number): Promise<number>;
}
