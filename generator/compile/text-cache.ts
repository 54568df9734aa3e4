// Texts that take long to make, by a key of their input.
export interface TextCache {
  /** The text of a key. Calls `make` if it isn't cached; a rejection of `make` is passed on. */
  get(key: string, make: () => Promise<string>): Promise<string>;
}
