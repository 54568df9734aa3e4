// Uploads that have been released become objects: once that is committed, and also if the process
// dies in between.
import type { Resources } from "../../operations/resources.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { quarantineStore, type QuarantinedFile } from "../../ports/quarantine.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { changeOf, notingOf, writeShortly } from "./changes.js";
import { describeCopy } from "./description.js";
import { prefixOf } from "./key.js";
import { copyMillis } from "./quarantine.js";
import { storeFor } from "./resources.js";

/** The head of an upload's bytes, with the name that its object has; null if they are gone. */
export async function headOfUpload(
  spec: StorageSpec,
  resources: Resources,
  { id, key, bytes }: QuarantinedFile,
  signal?: AbortSignal,
): Promise<ObjectHead | null> {
  const head = bytes === null ? null : await storeFor(spec, resources).head(bytes, signal);
  // Engines name what comes by a signed address after the key that it comes to.
  if (head === null || head.filename !== id) return head;
  return { ...head, filename: key.split("/").at(-1) ?? id };
}

/**
 * Makes an upload that has been released the object at its key, unless one that arrived later was
 * released before. Releases of a key are finished one after another: whoever finishes one goes on
 * with those that wait for it.
 */
export async function finishRelease(
  spec: StorageSpec,
  resources: Resources,
  file: QuarantinedFile,
): Promise<void> {
  let next = await finishOne(spec, resources, file);
  while (next !== null) {
    const { id } = next;
    // They are others', who are not told here: what fails is done again.
    next = await finishOne(spec, resources, next).catch((err: unknown) => {
      resources.log.error({ err, upload: id }, "a release could not be finished");
      return null;
    });
  }
}

/** Finishes one, and returns the next one that waited for it. */
async function finishOne(
  spec: StorageSpec,
  resources: Resources,
  file: QuarantinedFile,
): Promise<QuarantinedFile | null> {
  const files = resources.database.reader.of(quarantineStore);
  const { isHeldUp, isOutdated } = await files.beside(file);
  // Somebody puts an earlier one in its place: this one comes behind it.
  if (isHeldUp) return null;
  const head = await headOfUpload(spec, resources, file);
  if (head !== null && !isOutdated) await putUpload(spec, resources, file, head);
  await writeShortly(resources)((transaction) => transaction.of(quarantineStore).finish(file.id));
  if (head !== null) await storeFor(spec, resources).remove(head.key);
  return (await files.beside(file)).next;
}

async function putUpload(
  spec: StorageSpec,
  resources: Resources,
  { tenant, key }: QuarantinedFile,
  head: ObjectHead,
): Promise<void> {
  const noting = notingOf(resources, spec);
  const to = prefixOf(spec, tenant) + key;
  const change = changeOf(noting, to);
  await change.begin();
  const signal = AbortSignal.timeout(copyMillis);
  const copy = await noting.store.copy(head.key, to, describeCopy(head), {
    etag: head.etag,
    signal,
  });
  // If the bytes have gone, another process has done it.
  await change.settle(copy ?? (await noting.store.head(to, signal)));
}
