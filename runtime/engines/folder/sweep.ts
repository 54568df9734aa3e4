// Cleans up after processes that died: deletes their unfinished uploads, and finishes their
// removals.
import { opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, translateFault } from "./durable-files.js";
import { readRemoval, removalSeconds, settledRemoval, type RemovalPlaces } from "./removal.js";
import { readSession } from "./uploads.js";
import { epochMillis } from "../../ports/ambient.js";

/** Something that may have been left behind, and how to clean it up. */
interface Leftover {
  /** The object's key. Undefined if it is unknown; then the sweep of any storage cleans it up. */
  readonly key: string | undefined;
  /** When it began, in epoch milliseconds; null if it is gone. */
  readonly since: number | null;
  readonly lastsSeconds: number;
  end(): Promise<unknown>;
}

/**
 * Cleans up at most `limit` uploads and removals below a prefix that began more than
 * `olderThanSeconds` ago, removals after 10 s already. Returns how many.
 */
export function sweepFolder(
  places: RemovalPlaces,
  prefix: string,
  olderThanSeconds: number,
  limit: number,
): Promise<number> {
  return translateFault(async () => {
    let ended = 0;
    for await (const { name } of await opendir(places.unfinished)) {
      if (ended === limit) break;
      const { key, since, lastsSeconds, end } = await leftover(places, name, olderThanSeconds);
      if (key !== undefined && !key.startsWith(prefix)) continue;
      if (since === null || since > epochMillis() - lastsSeconds * 1000) continue;
      await end();
      ended += 1;
    }
    return ended;
  });
}

async function leftover(places: RemovalPlaces, name: string, seconds: number): Promise<Leftover> {
  const path = join(places.unfinished, name);
  const removal = await readRemoval(path);
  if (removal !== null)
    return {
      key: removal.key,
      since: await changedAt(path),
      lastsSeconds: Math.min(seconds, removalSeconds),
      end: () => settledRemoval(places, path, removal),
    };
  // A temporary file or folder belongs to no upload until it is renamed.
  const session = name.endsWith(".tmp") ? null : await readSession(path);
  return {
    key: session?.key,
    since: session?.begunAt ?? (await changedAt(path)),
    lastsSeconds: seconds,
    end: () => rm(path, { recursive: true, force: true }),
  };
}

async function changedAt(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
