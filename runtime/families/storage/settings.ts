// The settings of storage that a deployment chooses.
import { join } from "node:path";
import { fail } from "../../contract/errors.js";
import type { SettingsSource } from "../../operations/family.js";
import { locationFault, readLocation } from "../../operations/objects-location.js";
import type { ObjectsLocation } from "../../ports/objects.js";
import type { StorageSpec } from "../../ports/storage-spec.js";

export interface StorageSettings {
  readonly location: ObjectsLocation;
  /** Seconds after which an unfinished upload in parts is removed. */
  readonly uploadSeconds: number;
  /**
   * Secrets that encrypt objects: the first encrypts, all decrypt. Empty if no storage is
   * encrypted.
   */
  readonly secrets: readonly Buffer[];
}

const names = {
  url: "OBJECTS_URL",
  accessKey: "OBJECTS_ACCESS_KEY",
  secretKey: "OBJECTS_SECRET_KEY",
};

export function readStorageSettings(
  storages: readonly StorageSpec[] | undefined,
  { environment, secrets, dataFolder }: SettingsSource,
): StorageSettings {
  const isEncrypting = storages?.some(
    ({ encryption, alsoReads = [] }) => encryption === "client" || alsoReads.includes("client"),
  );
  return {
    location: readLocation(environment, names, `file:${join(dataFolder, "objects")}`),
    uploadSeconds: environment.integer("UPLOAD_MAX_AGE_SECONDS", 86_400, 1, 30 * 86_400),
    secrets: isEncrypting === true ? secrets.read("SECRETS_OBJECTS") : [],
  };
}

/**
 * The folder of stored objects, if they are in one. Throws `core.configuration` if the location
 * can't be read.
 */
export function foldersOf({
  location: { url },
}: StorageSettings): Readonly<Record<string, string>> {
  const fault = locationFault(names.url, url);
  if (fault !== null) throw fail("core.configuration", {}, { cause: new Error(fault) });
  return url.startsWith("file:") ? { objects: join(url.slice("file:".length), "objects") } : {};
}
