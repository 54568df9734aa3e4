// Which series of states a database goes on with.
import { drawBytes } from "../../../ports/ambient.js";
import { refuse } from "../place.js";
import type { BackupStore } from "./backup-store.js";
import { readLocalState, type LocalState } from "./local-state.js";

export interface Series {
  readonly name: string;
  /** Null if this database has never been kept. */
  readonly local: LocalState | null;
}

/**
 * The series of the database at a path; a new one if the backup has none. Rejects with
 * `core.conflict` if what the backup has is another database's.
 */
export async function findSeries(
  store: BackupStore,
  database: string,
  signal?: AbortSignal,
): Promise<Series> {
  const local = await readLocalState(database);
  const there = await store.listSeries(signal);
  if (local !== null && (there.length === 0 || there.includes(local.series)))
    return { name: local.series, local };
  if (there.length > 0)
    throw refuse(
      "core.conflict",
      `BACKUP_URL has a backup that isn't this database's, ${database}: bring it back (server.js restore), or name an empty place`,
    );
  return { name: drawBytes(8).toString("hex"), local };
}
