// `node server.js backup FOLDER` and `restore FOLDER`: what the embedded engines keep, copied while
// the service runs, and brought back.
import { formats } from "../../contract/validation.js";
import type { ConnectOptions } from "../connect.js";
import { faultOfDisk } from "../data-folder.js";
import type { ServiceDefinition } from "../service.js";
import { backUp } from "./backup.js";
import { bringBack } from "./continuous/bring-back.js";
import { isUnmade, openBackupStore } from "./continuous/open.js";
import { placeOf, refuse } from "./place.js";
import { restore, tellVersion } from "./restore.js";

export const backupUsages = ["backup FOLDER", "restore [FOLDER | --at TIME]"];

type Work = (service: ServiceDefinition, options: ConnectOptions) => Promise<void>;

/** The work that a command line asks for; null if its arguments are wrong. */
export function backupCommand(name: "backup" | "restore", args: readonly string[]): Work | null {
  const [folder = "", ...more] = args;
  if (name === "restore" && (folder === "" || folder === "--at")) return bringingBack(args);
  if (folder === "" || folder.startsWith("-") || more.length > 0) return null;
  const work = name === "backup" ? backUp : restore;
  return async (service, { settings }) => {
    const place = placeOf(service, settings, folder);
    try {
      process.stdout.write(`${await work(place)}; ${secretsAdvice}\n`);
    } catch (error) {
      throw faultOfDisk(error, folder);
    }
  };
}

/** Brings back what the continuous backup has, as it is or was at a time (RFC 3339). */
function bringingBack([option, time, ...more]: readonly string[]): Work | null {
  const until = option === undefined ? undefined : readTime(time);
  if (until === null || more.length > 0) return null;
  return async (service, { settings }) => {
    const { database } = placeOf(service, settings, "");
    const { backup } = settings;
    if (backup === null)
      throw refuse("core.configuration", "BACKUP_URL must be set, or the folder of a backup named");
    if (isUnmade(backup)) throw refuse("core.conflict", "BACKUP_URL has no backup of this service");
    const store = await openBackupStore(service, backup);
    try {
      const { at, bytes, version } = await bringBack(store, database, until);
      const before = new Date(at).toISOString();
      const other = tellVersion(version, service.version);
      process.stdout.write(
        `the database (${bytes} bytes), with all that was committed before ${before}${other}; ${secretsAdvice}\n`,
      );
    } catch (error) {
      throw faultOfDisk(error, database);
    } finally {
      await store.close();
    }
  };
}

function readTime(text: string | undefined): number | null {
  const given = text?.toUpperCase() ?? "";
  return formats["date-time"](given) ? Date.parse(given) : null;
}

const secretsAdvice = "secrets are not among them: keep those apart";
