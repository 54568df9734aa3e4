// What processes that died have left in a folder of objects: uploads that will not end, and removals that somebody must end.
import { opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, translated } from "./durable-files.js";
import { readRemoval, removalSeconds, settledRemoval, type RemovalPlaces } from "./removal.js";
import { readSession } from "./uploads.js";

/** One thing that was left, and how it ends. */
interface Leftover {
  /** Of which object it is; undefined where it says of no storage that it is its own. */
  readonly key: string | undefined;
  readonly since: number | null;
  readonly lastsSeconds: number;
  end(): Promise<unknown>;
}

/** Ends up to `limit` things that began below a prefix so long ago, removals sooner; returns how many. */
export function sweepFolder(
  places: RemovalPlaces,
  prefix: string,
  olderThanSeconds: number,
  limit: number,
): Promise<number> {
  return translated(async () => {
    let ended = 0;
    for await (const { name } of await opendir(places.unfinished)) {
      if (ended === limit) break;
      const { key, since, lastsSeconds, end } = await leftover(places, name, olderThanSeconds);
      if (key !== undefined && !key.startsWith(prefix)) continue;
      if (since === null || since > Date.now() - lastsSeconds * 1000) continue;
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
  // What an upload is still made in is nobody's until it has its name.
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
