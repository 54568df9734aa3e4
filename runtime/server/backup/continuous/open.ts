// Opens the continuous backup that the settings name.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ServiceError, unavailable } from "../../../contract/errors.js";
import type { Resources } from "../../../operations/resources.js";
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
import { isKept, readLocalState } from "./local-state.js";
import { tellReason } from "./reason.js";
import { findSeries } from "./series.js";

/** How long the store has to say whose backup it has, in milliseconds. */
const askedMillis = 5_000;

/** Whether the place of a backup is a folder that nothing was written to yet. */
export function isUnmade({ location: { url } }: BackupSettings): boolean {
  return url.startsWith("file:") && !existsSync(join(url.slice("file:".length), "objects"));
}

/** Opens the place of a backup, which is made if it is a folder. */
export async function openBackupStore(
  service: Pick<ServiceDefinition, "name" | "was">,
  { location }: BackupSettings,
): Promise<BackupStore> {
  const { store } = await openObjects(location, null);
  return new BackupStore(store, firstNameOf(service));
}

/**
 * Opens the place of a service's backup before its database is opened, or made; null if the
 * settings name none. Rejects with `core.conflict` if that has another database's backup, or should
 * have this one's, and with `core.configuration` if there are files that it wouldn't keep. A place
 * that is unavailable is waited for later, unless it may have what is missing here.
 */
export async function openOwnBackup(
  service: ServiceDefinition,
  settings: Settings,
  opened: Opened,
): Promise<BackupStore | null> {
  const { backup, databaseUrl } = settings;
  if (backup === null) return null;
  expectNoFolders(service, settings);
  const database = databaseUrl.slice("sqlite:".length);
  const local = await readLocalState(database);
  if (local?.state != null && isUnmade(backup))
    throw refuse(
      "core.conflict",
      `BACKUP_URL has nothing, though it had this database's backup: is it right, its disk mounted? To begin anew, remove ${database}-backup`,
    );
  const store = await openBackupStore(service, backup);
  opened.add(() => store.close());
  // Who has been kept before may be kept later; whose backup it is was known then.
  await expectOwn(store, database, { mayWait: local !== null });
  return store;
}

/**
 * Rejects with `core.conflict` if a database isn't there that could be brought back: an empty one
 * would stand in its way, or become the newest state of its backup.
 */
export async function expectDatabase(
  service: Pick<ServiceDefinition, "name" | "was">,
  { backup, databaseUrl }: Settings,
): Promise<void> {
  const database = databaseUrl.slice("sqlite:".length);
  if (backup === null || existsSync(database)) return;
  if (isKept(database))
    throw refuse(
      "core.conflict",
      `${database} is gone, and ${database}-backup is there: bring it back (server.js restore), or remove that file and name an empty place to begin anew`,
    );
  if (isUnmade(backup)) return;
  const store = await openBackupStore(service, backup);
  try {
    await expectOwn(store, database, { mayWait: false });
  } finally {
    await store.close();
  }
}

/** Asks whose backup there is; `mayWait` says whether the place may be unavailable. */
async function expectOwn(
  store: BackupStore,
  database: string,
  { mayWait }: { readonly mayWait: boolean },
): Promise<void> {
  const late = (): Error => unavailable(new Error("no answer in 5 s"));
  try {
    await within(askedMillis, findSeries(store, database), late);
  } catch (error) {
    const mayPass = error instanceof ServiceError && error.code === "core.unavailable";
    if (!mayPass) throw error;
    if (!mayWait)
      throw refuse("core.conflict", `BACKUP_URL: ${tellReason(error)}: a backup can't be begun`);
  }
}

/** Begins to keep a service's database; null without a place for it. */
export function startBackup(
  { name, version }: ServiceDefinition,
  { backup }: Settings,
  { clock, database, log }: Pick<Resources, "clock" | "database" | "log">,
  { store, opened }: { readonly store: BackupStore | null; readonly opened: Opened },
): ContinuousBackup | null {
  const { archive } = database;
  if (store === null || archive === null || backup === null) return null;
  const { days } = backup;
  const service = { name, version };
  const continuous = new ContinuousBackup({ archive, store, service, days, clock, log });
  opened.add(() => continuous.stop());
  return continuous;
}

function expectNoFolders(service: ServiceDefinition, settings: Settings): void {
  for (const { family } of familiesOf(service))
    for (const folder of Object.values(family.folders(settings.families[family.member])))
      throw refuse(
        "core.configuration",
        `BACKUP_URL keeps the database alone, not the files in ${folder}: OBJECTS_URL must name a bucket`,
      );
}
