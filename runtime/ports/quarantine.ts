// The port of files in quarantine: uploads to storages that scan, until somebody has decided what
// becomes of them. Their bytes are at a key of the engine that no caller can name.
import { storeKey } from "./store-key.js";

/**
 * What is known of an upload. It is `expected` until its bytes are there, `scanned` until it is
 * decided on, and `over` from then on: whatever else arrives for it is removed.
 */
export interface QuarantinedFile {
  /** Also the last segment of the key at which its bytes are. */
  readonly id: string;
  /** The place of its storage. */
  readonly place: string;
  readonly tenant: string;
  /** The key at which it becomes an object, as callers know it. */
  readonly key: string;
  readonly state: "expected" | "scanned" | "over";
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  /** Behind this time nothing arrives any more, and what is left of it goes. */
  readonly until: number;
}

/** The key of the store below. */
export const quarantineStore = storeKey<QuarantineStore>("quarantine");

/** Files in quarantine, within one transaction. Times are milliseconds since 1970. */
export interface QuarantineStore {
  /** Notes that an upload may arrive; one with the same id is expected for longer. */
  expect(
    file: Pick<QuarantinedFile, "id" | "place" | "tenant" | "key">,
    times: { readonly now: number; readonly dueAt: number; readonly until: number },
  ): Promise<void>;
  find(id: string): Promise<QuarantinedFile | null>;
  /**
   * Makes an upload that is expected one that is scanned, and due at `dueAt`; false if it is not
   * expected.
   */
  arrive(id: string, dueAt: number): Promise<boolean>;
  /**
   * Makes an upload one that is over, and due when nothing arrives any more; false if it is over
   * already, or unknown.
   */
  decide(id: string): Promise<boolean>;
  /** Up to `limit` uploads that are expected at a key. */
  expected(
    at: Pick<QuarantinedFile, "place" | "tenant" | "key">,
    limit: number,
  ): Promise<readonly QuarantinedFile[]>;
  /** Up to `limit` uploads that have to be looked at, those due longest first. */
  due(now: number, limit: number): Promise<readonly QuarantinedFile[]>;
  postpone(id: string, dueAt: number): Promise<void>;
  forget(id: string): Promise<void>;
}
