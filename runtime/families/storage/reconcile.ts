// Bringing the index of objects in line with what an engine has: what was there before the index,
// what came past the service, and what a change that died has left.
import { ServiceError } from "../../contract/errors.js";
import { objectIndex } from "../../ports/object-index.js";
import type { ListedObject } from "../../ports/object-head.js";
import type { Transaction } from "../../ports/database.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { quarantineStore } from "../../ports/quarantine.js";
import { stagedPrefix } from "./key.js";
import { headsOf, lookAt, type Noting } from "./changes.js";
import { monotonicMillis } from "../../ports/ambient.js";

/** Objects that are compared at once. */
const batchSize = 200;
/** Rows that are read at once. */
const rowsAtOnce = 1_000;

/** Bytes in quarantine are left alone so long, whatever is known of them. */
const forgottenMillis = 24 * 60 * 60 * 1_000;

/** How far a walk has come. */
export interface Reconciled {
  /** Objects that the engine has listed. */
  readonly objects: number;
  /** The key behind which to go on; null at the end. */
  readonly next: string | null;
}

/** Walks over the objects of a storage behind a key, for so many milliseconds or to the end. */
export async function reconcile(
  noting: Noting & { readonly reader: Transaction },
  spec: StorageSpec,
  after: string | null,
  millis: number,
): Promise<Reconciled> {
  const files = placeOf(spec);
  const root = `${files}/`;
  const end = monotonicMillis() + millis;
  let place = after ?? root;
  let objects = 0;
  let batch: ListedObject[] = [];
  for await (const listed of noting.store.list(root, after)) {
    // Uploads that are no objects yet have notes of their own.
    if (spec.scan !== undefined && listed.key.startsWith(stagedPrefix(spec))) {
      await removeForgotten(noting, spec, listed.key);
      continue;
    }
    batch.push(listed);
    if (batch.length < batchSize) continue;
    await compare(noting, place, listed.key, batch);
    objects += batch.length;
    place = listed.key;
    batch = [];
    if (monotonicMillis() > end) return { objects, next: place };
  }
  // No key of the storage stands behind this one: it has the character that follows the slash.
  await compare(noting, place, `${files}0`, batch);
  return { objects: objects + batch.length, next: null };
}

/**
 * Compares what the engine has in a range of keys with what is known of it, and looks at what
 * differs.
 */
async function compare(
  noting: Noting & { readonly reader: Transaction },
  after: string,
  last: string,
  listed: readonly ListedObject[],
): Promise<void> {
  const there = new Map(listed.map(({ key, etag }) => [key, etag]));
  const known = new Map<string, string>();
  for (let place = after; ;) {
    const rows = await noting.reader.of(objectIndex).known(place, last, rowsAtOnce);
    await lookAtEach(
      noting,
      rows.filter(({ key }) => !there.has(key)).map(({ key }) => key),
    );
    for (const { key, etag } of rows) if (there.has(key)) known.set(key, etag);
    const lastRow = rows.at(-1);
    if (lastRow === undefined || rows.length < rowsAtOnce) break;
    place = lastRow.key;
  }
  const untold = [...known.keys()].filter((key) => there.get(key) === null);
  for (const { key, object } of (await headsOf(noting.store, untold).catch(bad)) ?? [])
    there.set(key, object?.etag ?? null);
  await lookAtEach(
    noting,
    listed.map(({ key }) => key).filter((key) => known.get(key) !== there.get(key)),
  );
}

/** Removes bytes of an upload that no row knows any more: of a process that died, or too late. */
async function removeForgotten(
  { clock, reader, store }: Noting & { readonly reader: Transaction },
  spec: StorageSpec,
  key: string,
): Promise<void> {
  const [id = ""] = key.slice(stagedPrefix(spec).length).split(".");
  if ((await reader.of(quarantineStore).find(id)) !== null) return;
  const head = await store.head(key);
  if (head !== null && clock.now() - head.modifiedAt > forgottenMillis)
    await store.remove(key, { etag: head.etag });
}

/** Looks at keys; one that cannot be looked at holds up no other. */
export async function lookAtEach(noting: Noting, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += batchSize) {
    const some = keys.slice(at, at + batchSize);
    const isDone = await lookAt(noting, some).then(() => true, bad);
    if (isDone !== null) continue;
    for (const key of some)
      await lookAt(noting, [key]).catch((err: unknown) => {
        bad(err);
        noting.log.error({ err }, "an object cannot be listed");
      });
  }
}

/** Null where one object is bad; throws where the engine or the database is away. */
function bad(error: unknown): null {
  if (error instanceof ServiceError && error.code === "core.infrastructure") return null;
  throw error;
}
