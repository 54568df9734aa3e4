// Where a service keeps what a backup copies, and the folder of the backup.
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "../../engines/private-files.js";
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

/** Throws `core.conflict` if the folder of a backup is in a folder of files, or the other way. */
export function expectApart(folder: string, others: readonly string[]): void {
  for (const other of others)
    if (holds(other, folder) || holds(folder, other))
      throw refuse("core.conflict", `${folder} and ${other} may not be within each other`);
}

/** Throws `core.conflict` if a file is to be in the folder of a backup. */
export function expectOutside(file: string, folder: string): void {
  if (holds(folder, file))
    throw refuse("core.conflict", `${file} may not be in the backup, ${folder}`);
}

function holds(outer: string, inner: string): boolean {
  return isWithin(realOf(inner), realOf(outer));
}

/** The path without links, as far as it is there. */
function realOf(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole);
  const above = dirname(whole);
  return above === whole ? whole : join(realOf(above), basename(whole));
}
