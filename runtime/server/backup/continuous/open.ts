// Opens the continuous backup that the settings name.
import type { Clock } from "../../../ports/clock.js";
import type { Database } from "../../../ports/database.js";
import type { Log } from "../../../ports/log.js";
import { ServiceError, unavailable } from "../../../contract/errors.js";
import { within } from "../../../work/within.js";
import { familiesOf } from "../../../families.js";
import { openObjects } from "../../engines.js";
import { firstNameOf, type ServiceDefinition } from "../../service.js";
import type { Opened } from "../../opened.js";
import type { Settings } from "../../settings.js";
import { refuse } from "../place.js";
import { BackupStore } from "./backup-store.js";
import { ContinuousBackup } from "./continuous-backup.js";
import { findSeries } from "./series.js";

/** How long the store has to say whose backup it has, in milliseconds. */
const askedMillis = 5_000;

/** The place of the backup; null if the settings name none. */
export async function openBackupStore(
  service: ServiceDefinition,
  { backup }: Settings,
): Promise<BackupStore | null> {
  if (backup === null) return null;
  const { store } = await openObjects(backup.location, null);
  return new BackupStore(store, firstNameOf(service));
}

interface Kept {
  readonly clock: Clock;
  readonly database: Database;
  readonly log: Log;
}

/**
 * Begins to keep a service's database; null if the settings name no place for it. Rejects with
 * `core.conflict` if there is another database's backup, and with `core.configuration` if there are
 * files that it wouldn't keep. A store that is unavailable is waited for.
 */
export async function startBackup(
  service: ServiceDefinition,
  settings: Settings,
  { clock, database: { archive }, log }: Kept,
  opened: Opened,
): Promise<ContinuousBackup | null> {
  const store = await openBackupStore(service, settings);
  if (store === null || archive === null || settings.backup === null) return null;
  expectNoFolders(service, settings);
  try {
    await within(askedMillis, findSeries(store, archive.path), () => unavailable());
  } catch (error) {
    const mayPass = error instanceof ServiceError && error.code === "core.unavailable";
    if (!mayPass) {
      await store.close();
      throw error;
    }
  }
  const { name, version } = service;
  const { days } = settings.backup;
  const of = { name, version };
  const backup = new ContinuousBackup({ archive, store, service: of, days, clock, log });
  opened.add(() => backup.stop());
  return backup;
}

function expectNoFolders(service: ServiceDefinition, settings: Settings): void {
  for (const { family } of familiesOf(service))
    for (const folder of Object.values(family.folders(settings.families[family.member])))
      throw refuse(
        "core.configuration",
        `BACKUP_URL keeps the database alone, not the files in ${folder}: OBJECTS_URL must name a bucket`,
      );
}
