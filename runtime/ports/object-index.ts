// The port of the index of objects, from which lists are read without asking the engine. The engine
// is the truth. Before a change begins there, the index gets a note; after it, the result, which
// removes the note. If a process dies in between, the note is left, and says that the object has to
// be checked.
import type { PageWindow } from "./documents.js";
import type { ObjectDescription, ObjectTags } from "./object-head.js";
import type { CountedPage } from "./pages.js";
import { storeKey } from "./store-key.js";

/** An object as it is listed. */
export interface IndexedObject extends ObjectDescription {
  /** The key in the engine. */
  readonly key: string;
  /** Bytes of the content. */
  readonly contentSize: number;
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** What the engine has under a key; null if there is no object. */
export interface FoundObject {
  readonly key: string;
  readonly object: IndexedObject | null;
}

/**
 * Which objects are listed: those whose keys begin with `prefix` and that meet the other
 * conditions.
 */
export interface ObjectFilter {
  readonly prefix: string;
  /** `image/png`, or `image/*`; null for any. */
  readonly contentType: string | null;
  /** An object must have all of them. */
  readonly tags: ObjectTags;
}

/** A note: a key that has to be checked. Times are milliseconds since 1970. */
export interface ExpectedChange {
  readonly key: string;
  readonly id: string;
  readonly begunAt: number;
  /** No more changes are expected after this time. */
  readonly until: number;
}

/** The key of the store below. */
export const objectIndex = storeKey<ObjectIndex>("objects");

/** The index within one transaction. */
export interface ObjectIndex {
  /**
   * Notes that a change with this unique `id` is about to change keys. Until it settles, they are
   * checked from `dueAt` on.
   */
  begin(
    id: string,
    keys: readonly string[],
    times: { readonly now: number; readonly dueAt: number },
  ): Promise<void>;
  /**
   * Writes down what a change has made of its keys, and removes its notes. Returns the keys for
   * which another change has begun meanwhile: nobody knows which of the two came last, so their
   * entries and notes stay as they are.
   */
  settle(id: string, found: readonly FoundObject[]): Promise<readonly string[]>;
  /**
   * Notes that somebody may change a key past the service until `until`: it is checked at `dueAt`,
   * and then again and again.
   */
  expect(
    key: string,
    times: { readonly now: number; readonly dueAt: number; readonly until: number },
  ): Promise<void>;
  /**
   * Whether somebody may have put this version there past the service (`expect`), and nobody has
   * looked at it yet.
   */
  isUnseen(key: string, etag: string): Promise<boolean>;
  /** Up to `limit` notes that are due, those due longest first. */
  due(now: number, limit: number): Promise<readonly ExpectedChange[]>;
  /** Makes a note due at `dueAt`. */
  postpone(change: Pick<ExpectedChange, "key" | "id">, dueAt: number): Promise<void>;
  /** Removes a note, unless it has been extended beyond `until` meanwhile. */
  forget(change: Pick<ExpectedChange, "key" | "id" | "until">): Promise<void>;
  /** Objects in the order of their keys' UTF-8 bytes, from after the key `after`. */
  select(
    filter: ObjectFilter,
    window: PageWindow & { readonly after: string | null },
  ): Promise<readonly IndexedObject[]>;
  /** Objects in the same order, and how many pass, counted no further than `upTo`. */
  countedPage(
    filter: ObjectFilter,
    window: PageWindow,
    upTo: number,
  ): Promise<CountedPage<IndexedObject>>;
  /**
   * Up to `limit` indexed keys with their etags, after the key `after`, up to and including `last`.
   */
  known(
    after: string,
    last: string,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly etag: string }[]>;
}
