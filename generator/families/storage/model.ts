// Storages in the frozen registry.
import type { ModelParts } from "../../model/model-parts.js";
import type { Encryption } from "../../model/stored-tables.js";

/** A storage: files under one set of rules. */
export interface StorageModel {
  readonly name: string;
  /** What it was called when its first files were stored, which stay where they are; or null. */
  readonly was: string | null;
  readonly source: string;
  /** Null for no limit. */
  readonly maxUploadBytes: number | null;
  readonly maxRangeBytes: number;
  /** Content types that uploads may have, or null for all. */
  readonly accept: readonly string[] | null;
  /** What `accept` goes by. */
  readonly detect: "bytes" | "name";
  /** The job that decides on uploads; null if they are objects at once. */
  readonly scan: string | null;
  /** How far lists count; null if they count all. */
  readonly countUpTo: number | null;
  readonly encryption: Encryption;
  /** How else files may be stored that it reads: by another version. */
  readonly alsoReads: readonly Encryption[];
  /** Whether downloads are streamed; otherwise each is read into memory first. */
  readonly isStreamed: boolean;
}

/** Its part of the model. Registries that were frozen before went by the name. */
export const models: ModelParts = {
  storage: {
    empty: {},
    was: "storages",
    ofEach: {
      detect: "name",
      was: null,
      alsoReads: [],
      scan: null,
      countUpTo: null,
    } satisfies Partial<StorageModel>,
  },
};

declare module "../../model/registry.js" {
  interface FamilyModels {
    readonly storage: Readonly<Record<string, StorageModel>>;
  }
}
