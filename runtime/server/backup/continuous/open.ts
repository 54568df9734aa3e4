// Opens the continuous backup that the settings name.
import { existsSync } from "node:fs";
import { join } from "node:path";
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
import type { BackupSettings } from "../settings.js";
import { BackupStore } from "./backup-store.js";
import { ContinuousBackup } from "./continuous-backup.js";
import { readLocalState } from "./local-state.js";
import { tellReason } from "./reason.js";
import { findSeries } from "./series.js";

/** How long the store has to say whose backup it has, in milliseconds. */
const askedMillis = 5_000;

/** Whether the place of a backup is a folder that nothing was written to yet. */
export function isUnmade({ location: { url } }: BackupSettings): boolean {
  return url.startsWith("file:") && !existsSync(join(url.slice("file:".length), "objects"));
}

/** The place of the backup, which is made if it is a folder; null if the settings name none. */
export async function openBackupStore(
  service: ServiceDefinition,
  { backup }: Pick<Settings, "backup">,
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
  const { backup: wanted } = settings;
  if (archive === null || wanted === null) return null;
  expectNoFolders(service, settings);
  const local = await readLocalState(archive.path);
  if (local?.state != null && isUnmade(wanted))
    throw refuse(
      "core.conflict",
      `BACKUP_URL has nothing, though it had this database's backup: is it right, its disk mounted? To begin anew, remove ${archive.path}-backup`,
    );
  const store = await openBackupStore(service, settings);
  if (store === null) return null;
  try {
    const late = (): Error => unavailable(new Error("no answer in 5 s"));
    await within(askedMillis, findSeries(store, archive.path), late);
  } catch (error) {
    const mayPass = error instanceof ServiceError && error.code === "core.unavailable";
    // Who has been kept before may be kept later; whose backup it is was known then.
    if (!mayPass || local === null) {
      await store.close();
      throw mayPass
        ? refuse("core.conflict", `BACKUP_URL: ${tellReason(error)}: a backup can't be begun`)
        : error;
    }
  }
  const { name, version } = service;
  const { days } = wanted;
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
