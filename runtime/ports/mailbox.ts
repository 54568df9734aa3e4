// The port of mailboxes: durable signals between the transaction that stages them and the devices that acknowledge them
import { storeKey } from "./store-key.js";
// (decisions.md §2, architecture.md "Realtime").

/** A durable signal that has its place in a mailbox. */
export interface MailboxEntry {
  /** Contiguous in the mailbox, from 1. */
  readonly position: number;
  /** UUIDv7, the same at every delivery. */
  readonly eventId: string;
  readonly name: string;
  /** JSON text, exactly as it is sent. */
  readonly data: string;
}

/** An entry with the mailbox that it has been put into. */
export interface NumberedEntry extends MailboxEntry {
  readonly tenant: string;
  readonly principalId: string;
}

/** Where a mailbox and one of its devices are. */
export interface MailboxState {
  /** The position of the newest entry, 0 where there has been none. */
  readonly head: number;
  /** Entries up to here are gone. */
  readonly floor: number;
  /** The position that the device has acknowledged, or null where it never did. */
  readonly cursor: number | null;
}

/** Whose mailbox. */
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

/** Mailboxes are in so many shards, which are numbered beside each other. */
export const shards = 16;

/** The shard of all mailboxes of a principal. */
export function shardOf(principalId: string): number {
  return Number.parseInt(principalId.slice(-1), 16) % shards;
}

/** The key of the store below. */
export const mailboxStore = storeKey<MailboxStore>("mailbox");

/** Mailboxes within one transaction. */
export interface MailboxStore {
  /**
   * Puts a signal, without a place yet, into the mailboxes of these principals. Signals that are staged in one
   * moment, without waiting for each other, are written together. Throws `core.configuration` for a principal that is no UUID.
   */
  stage(
    tenant: string,
    signal: { readonly eventId: string; readonly name: string; readonly data: string },
    principalIds: readonly string[],
    now: number,
  ): Promise<void>;
  /** The shards that something staged waits in. */
  stagedShards(): Promise<readonly number[]>;
  /** Milliseconds that the oldest staged signal has waited for its places at `now`; 0 where none waits. */
  stagedLag(now: number): Promise<number>;
  /**
   * Gives up to `limit` staged signals of a shard, oldest first, their places: the next ones of their mailboxes. To be
   * called by one transaction at a time for each shard, after the ones that staged have committed.
   */
  number(shard: number, limit: number): Promise<readonly NumberedEntry[]>;
  /** Up to `limit` entries behind a position, in order. */
  read(owner: MailboxOwner, after: number, limit: number): Promise<readonly MailboxEntry[]>;
  /** How far these mailboxes are; those that have never had an entry are left out. */
  heads(
    owners: readonly MailboxOwner[],
  ): Promise<readonly (MailboxOwner & { readonly head: number })[]>;
  /** `device` null is the cursor that all connections without a device share. */
  state(owner: MailboxOwner, device: string | null): Promise<MailboxState>;
  /** Whether the mailbox has this very entry. */
  has(owner: MailboxOwner, position: number, eventId: string): Promise<boolean>;
  /**
   * Moves a cursor forward, never backward nor beyond the head; returns where it is. Beyond `mostDevices` cursors of a
   * mailbox the device that was not seen for longest loses its own.
   */
  acknowledge(
    owner: MailboxOwner,
    device: string | null,
    position: number,
    now: number,
    mostDevices: number,
  ): Promise<number>;
  /**
   * Removes up to about `limit` of the entries that are older than `before` and those that a mailbox has beyond `most`, each
   * with all that come before it. Returns how many; 0 once there are none.
   */
  trim(before: number, most: number, limit: number): Promise<number>;
  /** Removes up to `limit` signals that are older than `before` and that no mailbox has; returns how many. */
  pruneSignals(before: number, limit: number): Promise<number>;
  /**
   * Looks at up to `limit` cursors that were not looked at for as long as signals are kept, and removes those of devices that
   * were not seen since `before` and lack what is gone: they will be told of a gap without them as well. Returns how many it
   * has looked at.
   */
  pruneCursors(before: number, now: number, limit: number): Promise<number>;
}
