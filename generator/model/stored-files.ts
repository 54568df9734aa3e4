// The files of storages, as far as the next version has to know of them: where they are, and how
// they have been stored.
import { own, sortedRecord } from "./records.js";
import type { DatabaseSchema, Encryption, StoredFiles } from "./stored-tables.js";

/** What the next version has to know of a storage. */
interface KnownStorage {
  readonly name: string;
  readonly was: string | null;
  readonly encryption: Encryption;
  readonly alsoReads: readonly Encryption[];
}

/** The name under which a storage's files are stored: where its first ones are. */
export function placeOf(
  { name, was }: Pick<KnownStorage, "name" | "was">,
  files: DatabaseSchema["files"] = {},
): string {
  const isOwn = was === null || (own(files, was) === undefined && own(files, name) !== undefined);
  return isOwn ? name : was;
}

/**
 * The files that storages have, given those of before. What is no longer declared stays where it
 * is.
 */
export function filesOf(
  storages: readonly KnownStorage[],
  before: DatabaseSchema["files"] = {},
): Pick<DatabaseSchema, "files"> {
  const declared = storages.map((storage): [string, StoredFiles] => {
    const place = placeOf(storage, before);
    const { name, encryption, alsoReads } = storage;
    const known = own(before, place)?.encryption ?? [];
    return [
      place,
      {
        ...(name === place ? {} : { storage: name }),
        encryption: [...new Set([...known, ...alsoReads, encryption])],
      },
    ];
  });
  const files = sortedRecord(new Map([...Object.entries(before), ...declared]));
  return Object.keys(files).length === 0 ? {} : { files };
}

/** How files of a storage may be stored besides as it says: by versions before, or beside. */
export function otherEncryption(
  storage: KnownStorage,
  files: DatabaseSchema["files"] = {},
): readonly Encryption[] {
  const known = own(files, placeOf(storage, files))?.encryption ?? [];
  return [...new Set([...known, ...storage.alsoReads])].filter(
    (encryption) => encryption !== storage.encryption,
  );
}
