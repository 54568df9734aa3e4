// The port of the index of objects: what lists know of each object without asking its engine. The engine is the truth: a change
// is noted before it begins there, and what has become of the object is put down behind it, so that whatever dies in between
// leaves a note, by which the object is looked at again.
import type { ObjectDescription, ObjectTags } from "./object-head.js";
import { storeKey } from "./store-key.js";

/** An object as it is listed. */
export interface IndexedObject extends ObjectDescription {
  /** As its engine has it. */
  readonly key: string;
  /** Bytes of the content. */
  readonly contentSize: number;
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** What has become of a key; null where it has no object. */
export interface FoundObject {
  readonly key: string;
  readonly object: IndexedObject | null;
}

/** Which objects are listed: those whose keys begin with `prefix`, and that pass what else is asked. */
export interface ObjectFilter {
  readonly prefix: string;
  /** `image/png`, or `image/*`; null for any. */
  readonly contentType: string | null;
  /** All of them. */
  readonly tags: ObjectTags;
}

/** A key to be looked at. Times are milliseconds since 1970. */
export interface ExpectedChange {
  readonly key: string;
  readonly id: string;
  readonly begunAt: number;
  /** Nothing is expected after this. */
  readonly until: number;
}

/** The key of the store below. */
export const objectIndex = storeKey<ObjectIndex>("objects");

/** The index within one transaction. */
export interface ObjectIndex {
  /** Notes that keys are about to change, by a change whose `id` is its own; they are looked at from `dueAt` on. */
  begin(
    id: string,
    keys: readonly string[],
    times: { readonly now: number; readonly dueAt: number },
  ): Promise<void>;
  /**
   * Puts down what a change has made of its keys, and takes its notes back. Returns those for which another change has begun
   * meanwhile: which of the two came last is not known, so they are left as they are, with their notes.
   */
  settle(id: string, found: readonly FoundObject[]): Promise<readonly string[]>;
  /** Notes that somebody else may change a key until then: it is looked at now and again. */
  expect(
    key: string,
    times: { readonly now: number; readonly dueAt: number; readonly until: number },
  ): Promise<void>;
  /** Up to `limit` notes that are due, the oldest first. */
  due(now: number, limit: number): Promise<readonly ExpectedChange[]>;
  /** Has a note wait until then. */
  postpone(change: Pick<ExpectedChange, "key" | "id">, dueAt: number): Promise<void>;
  /** Takes a note back, unless more is expected by now. */
  forget(change: Pick<ExpectedChange, "key" | "id" | "until">): Promise<void>;
  /** A page in the order of the keys' UTF-8 bytes, behind `after`. */
  page(
    filter: ObjectFilter,
    window: { readonly after: string | null; readonly offset: number; readonly limit: number },
  ): Promise<readonly IndexedObject[]>;
  count(filter: ObjectFilter): Promise<number>;
  /** Up to `limit` keys with the tags that are known, behind `after`, up to and with `last`. */
  known(
    after: string,
    last: string,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly etag: string }[]>;
}
