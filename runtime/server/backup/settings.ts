// The settings of a continuous backup.
import { resolve } from "node:path";
import { isWithin } from "../../engines/private-files.js";
import type { Environment } from "../../operations/environment.js";
import { readLocation } from "../../operations/objects-location.js";
import type { ObjectsLocation } from "../../ports/objects.js";

export interface BackupSettings {
  readonly location: ObjectsLocation;
  /** For how many days earlier states can be brought back. */
  readonly days: number;
}

const names = {
  url: "BACKUP_URL",
  accessKey: "BACKUP_ACCESS_KEY",
  secretKey: "BACKUP_SECRET_KEY",
};

/** Null if there is none. */
export function readBackup(
  environment: Environment,
  { databaseUrl, dataFolder }: { readonly databaseUrl: string; readonly dataFolder: string },
): BackupSettings | null {
  const days = environment.number("BACKUP_DAYS", 7, 0.1, 3_650);
  if (environment.text(names.url, "") === "") return null;
  if (!databaseUrl.startsWith("sqlite:"))
    environment.faults.push("BACKUP_URL is for SQLite: PostgreSQL archives its log itself");
  const location = readLocation(environment, names, "");
  const folder = location.url.startsWith("file:") ? location.url.slice("file:".length) : null;
  if (folder !== null && isWithin(resolve(folder), dataFolder))
    environment.faults.push("BACKUP_URL must not be in DATA_DIR: it would be lost with that");
  return { location, days };
}
