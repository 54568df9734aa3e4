// The stores of a SQL transaction: those of the kernel, and those of families by key. Each is made
// when it is first asked for.
import type { Transaction } from "../../ports/database.js";
import type { StoreKey } from "../../ports/store-key.js";
import { sqlIdempotencyStore } from "./idempotency-store.js";
import { sqlLeaseStore } from "./lease-store.js";
import { sqlRateStore } from "./rate-store.js";
import type { SqlSession } from "./session.js";

/** Functions that make stores over a session, by the keys of the stores. */
export type SqlStores = ReadonlyMap<StoreKey<unknown>, (session: SqlSession) => unknown>;

/** An entry of `SqlStores`. Its types make sure that a key gets a store of the key's own type. */
export function sqlStore<Store>(
  key: StoreKey<Store>,
  open: (session: SqlSession) => Store,
): readonly [StoreKey<unknown>, (session: SqlSession) => unknown] {
  return [key, open];
}

/**
 * A transaction over a session. Without `attempt`, nested work just runs, which suits sessions that
 * only read.
 */
export class SqlTransaction implements Transaction {
  readonly #session: SqlSession;
  readonly #stores: SqlStores;
  readonly attempt: Transaction["attempt"];
  readonly #opened = new Map<StoreKey<unknown>, unknown>();
  #idempotency: Transaction["idempotency"] | undefined;
  #leases: Transaction["leases"] | undefined;
  #rates: Transaction["rates"] | undefined;

  constructor(
    session: SqlSession,
    stores: SqlStores,
    attempt: Transaction["attempt"] = (work) => work(),
  ) {
    this.#session = session;
    this.#stores = stores;
    this.attempt = attempt;
  }

  of<Store>(key: StoreKey<Store>): Store {
    let store = this.#opened.get(key);
    if (store === undefined) {
      const open = this.#stores.get(key);
      if (open === undefined) throw new Error(`no store of SQL for ${key.name}`);
      store = open(this.#session);
      this.#opened.set(key, store);
    }
    // `sqlStore` ties each key to a store of its type.
    return store as Store;
  }

  get idempotency(): Transaction["idempotency"] {
    return (this.#idempotency ??= sqlIdempotencyStore(this.#session));
  }

  get leases(): Transaction["leases"] {
    return (this.#leases ??= sqlLeaseStore(this.#session));
  }

  get rates(): Transaction["rates"] {
    return (this.#rates ??= sqlRateStore(this.#session));
  }
}
