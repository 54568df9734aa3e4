// The port of object engines: named bytes with a little metadata (architecture.md "Engines",
// service.md "Storage routes").
import type { Readable } from "node:stream";
import type { DirectTransfers } from "./direct-transfers.js";
import type { ByteWindow, ListedObject, ObjectDescription, ObjectHead } from "./object-head.js";
import type { StorageSpec } from "./storage-spec.js";

/**
 * One version of an object with its bytes. Whoever gets it must read `body` to the end or destroy
 * it.
 */
export interface OpenedObject {
  readonly head: ObjectHead;
  /**
   * The part of the content in `body`; null is all of it, which an engine may return even if it was
   * asked for a part.
   */
  readonly window: ByteWindow | null;
  readonly body: Readable;
}

/**
 * Objects by key: UTF-8, storage and tenant first, then up to 1 024 bytes that the client chose. If
 * `signal` aborts, a call rejects with its reason as soon as the engine can; a body that was opened
 * is for its reader to end. Faults that pass or can be mended (a network, a full disk, refused
 * access) reject with `core.unavailable` and a time to retry, others with `core.infrastructure`.
 */
export interface ObjectStore {
  /** The object's current version, without its bytes; null if there is none. */
  head(key: string, signal?: AbortSignal): Promise<ObjectHead | null>;
  /**
   * Opens one version, whose head and bytes belong together. With `window` only those bytes are
   * fetched. Null if there is no object, or with `etag` if the current version is another one.
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
   * Writes an object in constant memory. Once this resolves, the object is durable and others see
   * all of it. If `body` fails or `signal` aborts, nothing of it is left, and an earlier version
   * stays.
   */
  write(
    key: string,
    body: AsyncIterable<Buffer>,
    description: ObjectDescription,
    signal: AbortSignal,
  ): Promise<ObjectHead>;
  /**
   * Removes an object; returns whether there was one. With `etag` it only removes that version,
   * atomically: if the current one is another, that stays and the result is false.
   */
  remove(
    key: string,
    options?: { readonly etag?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<boolean>;
  /**
   * Copies the bytes of one version to another key, or to its own, with a new description.
   * Visibility and durability are as for `write`. Null if there is no object, or with `etag` if the
   * current version is another one.
   */
  copy(
    from: string,
    to: string,
    description: ObjectDescription,
    options: { readonly etag?: string; readonly signal: AbortSignal },
  ): Promise<ObjectHead | null>;
  /**
   * Objects whose keys begin with `prefix` and come after `after`, in the order of the keys' UTF-8
   * bytes.
   */
  list(prefix: string, after: string | null, signal?: AbortSignal): AsyncIterable<ListedObject>;
  /**
   * Removes what is left of up to `limit` unfinished uploads below a prefix that began so long ago;
   * returns how many.
   */
  sweep(prefix: string, olderThanSeconds: number, limit: number): Promise<number>;
  /**
   * Resolves if the engine answers, and accepts writes, as far as that can be tested without
   * leaving anything behind.
   */
  ping(signal?: AbortSignal): Promise<void>;
  /** Transfers that bypass operations; null if the engine has none. */
  readonly direct: DirectTransfers | null;
  close(): Promise<void>;
}

/** Where objects are: `file:<folder>`, or `s3://<bucket>?endpoint=…&region=…`. */
export interface ObjectsLocation {
  readonly url: string;
  /** If undefined, the AWS SDK looks for them itself. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
}

/** The object stores of a service. */
export interface Objects {
  /** The store of one storage, which encrypts if the storage says so. */
  of(spec: StorageSpec): ObjectStore;
}
