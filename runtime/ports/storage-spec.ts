// The storage spec: limits and rules of one storage, printed by the generator.

/** A storage as generated code declares it. */
export interface StorageSpec {
  readonly name: string;
  /** Bytes of an upload, or null for any number. */
  readonly maxUploadBytes: number | null;
  /** Bytes of one Range window. */
  readonly maxRangeBytes: number;
  /** Content types that are taken in, such as `image/*`; null takes all. */
  readonly accept: readonly string[] | null;
  /** `client`: the service encrypts before it stores; direct transfers are refused then. */
  readonly encryption: "none" | "client";
}

/** Declares a storage. */
export function storing(declaration: StorageSpec): StorageSpec {
  return declaration;
}
