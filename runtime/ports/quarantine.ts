// The port of files in quarantine: uploads to storages that scan, until somebody has decided what
// becomes of them. Their bytes are at keys of the engine that no caller can name.
import { storeKey } from "./store-key.js";

/**
 * What is known of an upload. It is `expected` until its bytes are there, and then `scanned` until
 * it is decided on: `released`, and `done` once it is an object, or `over`. Whatever else arrives
 * for it is removed.
 */
export interface QuarantinedFile {
  readonly id: string;
  /** The place of its storage. */
  readonly place: string;
  readonly tenant: string;
  /** The key at which it becomes an object, as callers know it. */
  readonly key: string;
  readonly state: "expected" | "scanned" | "released" | "done" | "over";
  /** The engine's key of its bytes, which nobody writes to any more; null if it is expected. */
  readonly bytes: string | null;
  /** Its place among the uploads to its key, in the order of arrival; null if it is expected. */
  readonly arrived: number | null;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  /** Behind this time nothing arrives any more, and what is left of it goes once it is decided. */
  readonly until: number;
}

/** What has been released to the key of an upload that was released. */
export interface ReleasedBeside {
  /** Whether one that arrived earlier is not done yet. */
  readonly isHeldUp: boolean;
  /** Whether one has been released that arrived later. */
  readonly isOutdated: boolean;
  /** The first of these that is not done yet. */
  readonly next: QuarantinedFile | null;
}

/** The key of the store below. */
export const quarantineStore = storeKey<QuarantineStore>("quarantine");

/** Files in quarantine, within one transaction. Times are milliseconds since 1970. */
export interface QuarantineStore {
  /** Notes that an upload may arrive; false if there is one with its id. */
  expect(
    file: Pick<QuarantinedFile, "id" | "place" | "tenant" | "key">,
    times: { readonly now: number; readonly dueAt: number; readonly until: number },
  ): Promise<boolean>;
  find(id: string): Promise<QuarantinedFile | null>;
  /**
   * Makes an upload that is expected one that is scanned, and due at `dueAt`; false if it is not
   * expected.
   */
  arrive(id: string, bytes: string, dueAt: number): Promise<boolean>;
  /**
   * Releases an upload that is scanned, which is due at `dueAt` then, or makes one over that is
   * expected or scanned; false if it is neither.
   */
  release(id: string, dueAt: number): Promise<boolean>;
  reject(id: string): Promise<boolean>;
  /** Makes an upload that is released one that is done. */
  finish(id: string): Promise<void>;
  /** What has been released to the key of an upload besides it. */
  beside(file: QuarantinedFile): Promise<ReleasedBeside>;
  /** Up to `limit` uploads that are expected at a key, those that began last first. */
  expected(
    at: Pick<QuarantinedFile, "place" | "tenant" | "key">,
    limit: number,
  ): Promise<readonly QuarantinedFile[]>;
  /** Up to `limit` uploads that have to be looked at, those due longest first. */
  due(now: number, limit: number): Promise<readonly QuarantinedFile[]>;
  postpone(id: string, dueAt: number): Promise<void>;
  forget(id: string): Promise<void>;
}
