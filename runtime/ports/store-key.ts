// Keys by which a transaction is asked for the stores of families, so that it needn't know any
// family.

/** The key of a store; its type parameter is the type of the store. */
export interface StoreKey<Store> {
  readonly name: string;
  /** Never set; it only carries the type. */
  readonly store?: Store;
}

/**
 * Makes the key of a store. Stores are found by this very object; the name is only for error
 * messages.
 */
export function storeKey<Store>(name: string): StoreKey<Store> {
  return { name };
}
