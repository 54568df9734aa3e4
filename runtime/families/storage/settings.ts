// The settings of storage that a deployment chooses.
import { join } from "node:path";
import { fail } from "../../contract/errors.js";
import type { SettingsSource } from "../../operations/family.js";
import type { ObjectsLocation } from "../../ports/objects.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { isPlainUrl } from "../../operations/environment.js";

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

export function readStorageSettings(
  storages: readonly StorageSpec[] | undefined,
  { environment, secrets, dataFolder }: SettingsSource,
): StorageSettings {
  const { faults } = environment;
  const url = environment.text("OBJECTS_URL", `file:${join(dataFolder, "objects")}`);
  if (!location.test(url)) faults.push(unreadable);
  else if (url.startsWith("s3:")) checkS3Options(new URL(url).searchParams, faults);
  const accessKeyId = environment.text("OBJECTS_ACCESS_KEY", "");
  const secretAccessKey = environment.text("OBJECTS_SECRET_KEY", "");
  if ((accessKeyId === "") !== (secretAccessKey === ""))
    faults.push("OBJECTS_ACCESS_KEY and OBJECTS_SECRET_KEY are given together");
  const isEncrypting = storages?.some(
    ({ encryption, alsoReads = [] }) => encryption === "client" || alsoReads.includes("client"),
  );
  return {
    location: {
      url,
      credentials: accessKeyId === "" ? undefined : { accessKeyId, secretAccessKey },
    },
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
  if (!location.test(url)) throw fail("core.configuration", {}, { cause: new Error(unreadable) });
  return url.startsWith("file:") ? { objects: join(url.slice("file:".length), "objects") } : {};
}

const location = /^(?:file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{2,62}(?:\/?\?.*)?)$/;
const unreadable =
  "OBJECTS_URL must be file:<folder> or s3://<bucket>?endpoint=<URL>&region=<name>";

function checkS3Options(options: URLSearchParams, faults: string[]): void {
  for (const name of options.keys())
    if (!["endpoint", "region", "unsigned-headers"].includes(name))
      faults.push(`OBJECTS_URL has endpoint, region and unsigned-headers, and no ${name}`);
  const unsigned = options.get("unsigned-headers");
  if (unsigned !== null && unsigned !== "accept")
    faults.push("unsigned-headers in OBJECTS_URL is accept, or left out");
  const endpoint = options.get("endpoint");
  if (endpoint !== null && !isPlainUrl(endpoint))
    faults.push("the endpoint in OBJECTS_URL must be a URL without credentials");
}
