// What there is to say of a continuous backup.
import { existsSync, statSync } from "node:fs";
import { notice, ok, wrong, type Symptom } from "../../ports/symptom.js";
import type { BackupSettings } from "../backup/settings.js";
import { isUnmade, openBackupStore } from "../backup/continuous/open.js";
import { findSeries } from "../backup/continuous/series.js";
import { pathToNewest } from "../backup/continuous/lineage.js";
import type { ServiceDefinition } from "../service.js";
import type { Settings } from "../settings.js";

function tellEmpty({ location: { url } }: BackupSettings): Symptom {
  const path = url.startsWith("file:") ? url.slice("file:".length) : "";
  return path !== "" && existsSync(path) && !statSync(path).isDirectory()
    ? wrong("backup", `${path} is no folder: name one in BACKUP_URL`)
    : notice("backup", "BACKUP_URL has nothing yet: the service begins with all of it");
}

/** The backup may be behind by so many milliseconds. */
const usualMillis = 60_000;

/** Rejects with why it can't be read, or isn't this database's. Null if the settings name none. */
export async function examineBackup(
  service: ServiceDefinition,
  settings: Settings,
): Promise<Symptom | null> {
  const { backup } = settings;
  if (backup === null) return null;
  // Opening it would make it.
  if (isUnmade(backup)) return tellEmpty(backup);
  const store = await openBackupStore(service, backup);
  try {
    await store.ping();
    const database = settings.databaseUrl.slice("sqlite:".length);
    const { name } = await findSeries(store, database);
    const lineage = await store.readLineage(name);
    const way = pathToNewest(lineage);
    const newest = way?.at(-1);
    if (way === null && lineage.deltas.length > 0)
      return wrong(
        "backup",
        "parts of it are gone, so that nothing can be brought back: does something else remove them? The service writes all of it again once it is started",
      );
    if (way === null || newest === undefined) return tellEmpty(backup);
    const time = new Date(newest.at).toISOString();
    const log = `${database}-wal`;
    const writtenAt = existsSync(log) ? statSync(log).mtimeMs : 0;
    if (writtenAt > newest.at + usualMillis)
      return notice(
        "backup",
        `it has what was committed before ${time}, and the database was written to since: run the service with BACKUP_URL, and see its log`,
      );
    const pages = way.reduce((sum, delta) => sum + delta.pages, 0);
    return ok(
      "backup",
      `has what was committed before ${time}; it is made again from ${way.length} deltas of ${pages} pages`,
    );
  } finally {
    await store.close();
  }
}
