// Where a service keeps what a backup copies, and the folder of the backup.
import { fail, type ServiceError } from "../../contract/errors.js";
import { familiesOf } from "../../families.js";
import type { ServiceDefinition } from "../service.js";
import type { Settings } from "../settings.js";

export interface BackupPlace {
  readonly service: ServiceDefinition;
  /** The folder of the backup. */
  readonly folder: string;
  /** The database's file. */
  readonly database: string;
  /** Folders of the families' files, by name. */
  readonly folders: Readonly<Record<string, string>>;
}

/** Where everything is. Throws `core.configuration` if the database is no file. */
export function placeOf(
  service: ServiceDefinition,
  settings: Settings,
  folder: string,
): BackupPlace {
  const { databaseUrl } = settings;
  if (!databaseUrl.startsWith("sqlite:"))
    throw refuse(
      "core.configuration",
      "the database is PostgreSQL, which has tools of its own for this: pg_dump, or an archive of its log (docs/backups.md)",
    );
  const folders = familiesOf(service).map(({ family }) =>
    family.folders(settings.families[family.member]),
  );
  const database = databaseUrl.slice("sqlite:".length);
  return { service, folder, database, folders: Object.assign({}, ...folders) };
}

/** An error whose message is for the operator. */
export function refuse(
  code: "core.configuration" | "core.conflict" | "core.validation",
  text: string,
): ServiceError {
  return fail(code, {}, { cause: new Error(text) });
}
