// What a family keeps in the database is asked of a transaction by a key, so that the transaction knows no family.

/** The key of a store, which has the store's type. */
export interface StoreKey<Store> {
  readonly name: string;
  /** Never there: it only holds the type. */
  readonly store?: Store;
}

/** Makes the key of a store. */
export function storeKey<Store>(name: string): StoreKey<Store> {
  return { name };
}
