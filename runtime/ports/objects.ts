// The port of object engines: named bytes with a little metadata (architecture.md "Engines", service.md "Storage routes").
import type { Readable } from "node:stream";
import type { DirectTransfers } from "./direct-transfers.js";
import type { ByteWindow, ListedObject, ObjectDescription, ObjectHead } from "./object-head.js";
import type { StorageSpec } from "./storage-spec.js";

/** One version of an object with its bytes. Who gets it reads `body` to the end or destroys it. */
export interface OpenedObject {
  readonly head: ObjectHead;
  /** The part of the content that `body` has; null is all of it, which an engine may give although a part was asked for. */
  readonly window: ByteWindow | null;
  readonly body: Readable;
}

/**
 * Objects by key: UTF-8, up to 1 024 bytes besides what the engine is given before it. A call whose `signal` aborts
 * rejects with its reason as soon as the engine can; a body that has been opened is its reader's to end. What passes by
 * itself or once it is mended (a network, a full disk, refused access) rejects with `core.unavailable` and a time to
 * come again, other faults with `core.infrastructure`.
 */
export interface ObjectStore {
  head(key: string, signal?: AbortSignal): Promise<ObjectHead | null>;
  /**
   * Opens one version: head and bytes never mix two. With a window only its bytes are fetched; with `etag` null where the
   * version is another one by now.
   */
  open(
    key: string,
    options?: {
      readonly window?: ByteWindow;
      readonly etag?: string;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<OpenedObject | null>;
  /**
   * Writes an object in constant memory. It is seen as a whole once this resolves, and durable; where `body` fails or
   * `signal` aborts, nothing of it is left and what was there before stays.
   */
  write(
    key: string,
    body: AsyncIterable<Buffer>,
    description: ObjectDescription,
    signal: AbortSignal,
  ): Promise<ObjectHead>;
  /**
   * Removes an object; says whether there was one. With `etag` only that version, atomically: false where it is another
   * one by now, which stays.
   */
  remove(
    key: string,
    options?: { readonly etag?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<boolean>;
  /**
   * Puts the bytes of one version at another key, or at its own, with a description of their own; as whole and as durable
   * as `write`. Null where there is no object, or with `etag` another version.
   */
  copy(
    from: string,
    to: string,
    description: ObjectDescription,
    options: { readonly etag?: string; readonly signal: AbortSignal },
  ): Promise<ObjectHead | null>;
  /** Objects whose keys begin with `prefix`, behind `after`, in the order of their UTF-8 bytes. */
  list(prefix: string, after: string | null, signal?: AbortSignal): AsyncIterable<ListedObject>;
  /** Removes what up to `limit` uploads below a prefix have left that began so long ago and did not end; returns how many. */
  sweep(prefix: string, olderThanSeconds: number, limit: number): Promise<number>;
  /** Resolves where the engine answers, and takes what is written where that can be told without leaving anything. */
  ping(signal?: AbortSignal): Promise<void>;
  /** Transfers that do not pass through the service; null where there are none. */
  readonly direct: DirectTransfers | null;
  close(): Promise<void>;
}

/** The objects of a service. */
export interface Objects {
  /** The store of one storage, which encrypts where the storage says so. */
  of(spec: StorageSpec): ObjectStore;
}
