// `node server.js backup FOLDER` and `restore FOLDER`: what the embedded engines keep, copied while
// the service runs, and brought back.
import type { ConnectOptions } from "../connect.js";
import { faultOfDisk } from "../data-folder.js";
import type { ServiceDefinition } from "../service.js";
import { backUp } from "./backup.js";
import { placeOf } from "./place.js";
import { restore } from "./restore.js";

export const backupUsages = ["backup FOLDER", "restore FOLDER"];

type Work = (service: ServiceDefinition, options: ConnectOptions) => Promise<void>;

/** The work that a command line asks for; null if its arguments are wrong. */
export function backupCommand(name: "backup" | "restore", args: readonly string[]): Work | null {
  const [folder = "", ...more] = args;
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

const secretsAdvice = "secrets are not among them: keep those apart";
