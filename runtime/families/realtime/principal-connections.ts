// The connections of each principal: which are admitted, which make room, and which have been
// silent for too long (architecture.md "Work is bounded").
import { fail } from "../../contract/errors.js";
import type { RealtimeCounters } from "./limits.js";
import type { MailboxOwner } from "../../ports/mailbox.js";
import { monotonicMillis } from "../../ports/ambient.js";

/** A connection that takes one of its principal's places. */
export interface PrincipalConnection extends MailboxOwner {
  /** The device that the client named: it has one connection. */
  readonly device: string | null;
  readonly connection: {
    refuse(code: "realtime_device_replaced"): void;
    /** Null if the transport itself finds out whether the other side is there. */
    readonly reconnect: (() => void) | null;
  };
  /** Ends the connection. Its place is free at once, however long that takes. */
  end(): void;
}

export interface PrincipalConnectionsOptions {
  /** Connections of all principals. */
  readonly most: number;
  /**
   * How long a connection may go without a sign of life where its transport does not look for one.
   */
  readonly silentMillis: number;
  readonly counters: RealtimeCounters;
}

/** Connections of one principal. */
const mostOfOne = 20;
/**
 * A connection that was silent for so long makes room for a new one of its principal; our client
 * gives a sign every 30 s.
 */
const overdueMillis = 50_000;
const retryAfter = { headers: { "Retry-After": "5" } };

/**
 * How often other processes hear that a device is alive here, because it may have left a connection
 * there.
 */
const tellMillis = 20_000;

/** When a connection last gave a sign, and when other processes last heard of its device. */
interface Life {
  heardAt: number;
  toldAt: number;
}

/** The connections of one process. */
export class PrincipalConnections {
  readonly #options: PrincipalConnectionsOptions;
  readonly #byOwner = new Map<string, Map<PrincipalConnection, Life>>();

  constructor(options: PrincipalConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Admits a connection, and ends an earlier one of its device. Throws
   * `realtime_connections_limit`, `core.unavailable`.
   */
  enter(one: PrincipalConnection): void {
    const { most, counters } = this.#options;
    for (const other of this.#of(one).keys()) if (isSameDevice(one, other)) this.#replace(other);
    if (counters.connections >= most) {
      counters.turnedAway += 1;
      throw fail("core.unavailable", {}, retryAfter);
    }
    this.#makeRoom(one);
    const key = keyOf(one);
    const own = this.#byOwner.get(key) ?? new Map<PrincipalConnection, Life>();
    this.#byOwner.set(key, own.set(one, { heardAt: monotonicMillis(), toldAt: -Infinity }));
    counters.connections += 1;
  }

  /** Gives up the place of a connection, if it has one. */
  leave(one: PrincipalConnection): void {
    const key = keyOf(one);
    const own = this.#byOwner.get(key);
    if (own?.delete(one) !== true) return;
    this.#options.counters.connections -= 1;
    if (own.size === 0) this.#byOwner.delete(key);
  }

  /** A device gave a sign of life. */
  hear(owner: MailboxOwner, device: string): void {
    const life = this.#lifeOf(owner, device);
    if (life !== undefined) life.heardAt = monotonicMillis();
  }

  /** A device gave a sign of life here; says whether other processes must be told. */
  sign(owner: MailboxOwner, device: string): boolean {
    const life = this.#lifeOf(owner, device);
    if (life === undefined) return true;
    life.heardAt = monotonicMillis();
    if (life.heardAt - life.toldAt < tellMillis) return false;
    life.toldAt = life.heardAt;
    return true;
  }

  /**
   * Ends connections that were silent for too long; a client that is still there reconnects and
   * continues.
   */
  endSilent(): void {
    const before = monotonicMillis() - this.#options.silentMillis;
    for (const own of this.#byOwner.values())
      for (const [one, { heardAt }] of own) if (heardAt < before) this.#reconnect(one);
  }

  #of(owner: MailboxOwner): ReadonlyMap<PrincipalConnection, Life> {
    return this.#byOwner.get(keyOf(owner)) ?? new Map();
  }

  #lifeOf(owner: MailboxOwner, device: string): Life | undefined {
    return [...this.#of(owner)].find(([one]) => one.device === device)?.[1];
  }

  #replace(one: PrincipalConnection): void {
    this.#options.counters.replaced += 1;
    one.end();
    one.connection.refuse("realtime_device_replaced");
  }

  #reconnect(one: PrincipalConnection): void {
    const { connection } = one;
    if (connection.reconnect === null) return;
    this.#options.counters.silent += 1;
    one.end();
    connection.reconnect();
  }

  /**
   * The newcomer is certainly alive; the connection that has been silent for longest may not be, so
   * it loses its place. If its client is alive after all, it reconnects and takes the place of
   * another: so more than twenty take turns.
   */
  #makeRoom(owner: MailboxOwner): void {
    const own = this.#of(owner);
    if (own.size < mostOfOne) return;
    const before = monotonicMillis() - overdueMillis;
    const [silent] = [...own]
      .filter(([{ connection }, { heardAt }]) => connection.reconnect !== null && heardAt < before)
      .sort(([, one], [, other]) => one.heardAt - other.heardAt);
    if (silent !== undefined) return this.#reconnect(silent[0]);
    this.#options.counters.turnedAway += 1;
    throw fail("realtime_connections_limit", {}, retryAfter);
  }
}

function keyOf({ tenant, principalId }: MailboxOwner): string {
  return `${tenant}\0${principalId}`;
}

function isSameDevice({ device }: PrincipalConnection, other: PrincipalConnection): boolean {
  return device !== null && other.device === device;
}
