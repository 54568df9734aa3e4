// The storage spec: limits and rules of one storage, printed by the generator.

/** A storage as generated code declares it. */
export interface StorageSpec {
  readonly name: string;
  /** The name under which its files are stored, where that is another one. */
  readonly place?: string;
  /** The most bytes of an upload; null for any number. */
  readonly maxUploadBytes: number | null;
  /** The most bytes that a Range request gets; a longer range is cut. */
  readonly maxRangeBytes: number;
  /** How many objects a list counts at most; all if absent. */
  readonly countUpTo?: number;
  /** Content types that are accepted, such as `image/*`; null accepts all. */
  readonly accept: readonly string[] | null;
  /**
   * `name` believes the name of a file whose bytes no format is known of; otherwise `accept`
   * refuses them.
   */
  readonly detect?: "name";
  /** `client`: the service encrypts before it stores, and refuses direct transfers. */
  readonly encryption: "none" | "client";
  /**
   * The job that decides on uploads, by the `upload` that it is given: until then they are no
   * objects. Without it they are at once.
   */
  readonly scan?: string;
  /** How else files may be stored: by versions before, or beside. */
  readonly alsoReads?: readonly ("none" | "client")[];
}

/** The name under which a storage's files are stored: renaming the storage does not move them. */
export function placeOf({ name, place = name }: StorageSpec): string {
  return place;
}

/** Declares a storage. */
export function defineStorage(declaration: StorageSpec): StorageSpec {
  return declaration;
}
