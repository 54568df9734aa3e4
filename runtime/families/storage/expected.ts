// Keys that may have changed by now: of changes that died, and of signed uploads, which pass the
// service by.
import { storeFor } from "./resources.js";
import type { OutsideJob } from "../../work/periodic.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Resources } from "../../operations/resources.js";
import { objectIndex, type ExpectedChange } from "../../ports/object-index.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { notingOf, writeShortly } from "./changes.js";
import { stagedPrefix } from "./key.js";
import { lookAtEach } from "./reconcile.js";
import { notesOf } from "./writes.js";

/** Notes that one step looks at. */
const atOnce = 100;
/** How soon a signed upload is looked for; then each time after as long as it has been. */
const firstLookMillis = 30_000;
/** An upload that began before its address expired may still be under way so much later. */
const lateMillis = 60 * 60 * 1_000;

/** Notes that whoever has an address may upload to a key for so many seconds. */
export async function expectUpload(
  context: ExecutionContext,
  key: string,
  seconds: number,
): Promise<void> {
  const now = context.clock.now();
  const times = { now, dueAt: now + firstLookMillis, until: now + seconds * 1_000 + lateMillis };
  await notesOf(context)((transaction) => transaction.of(objectIndex).expect(key, times));
}

/** Looks at keys whose notes are due. */
export function expectedChanges(
  storages: readonly StorageSpec[],
  resources: Resources,
): OutsideJob {
  return {
    name: "objects.expected",
    everyMillis: firstLookMillis,
    async step() {
      const due = await resources.database.reader
        .of(objectIndex)
        .due(resources.clock.now(), atOnce);
      for (const change of due) await lookAtExpected(storages, resources, change);
      return due.length === atOnce;
    },
  };
}

async function lookAtExpected(
  storages: readonly StorageSpec[],
  resources: Resources,
  change: ExpectedChange,
): Promise<void> {
  const spec = storages.find((one) => change.key.startsWith(`${placeOf(one)}/`));
  // Of a storage that is no longer declared nothing is listed.
  if (spec !== undefined && change.key.startsWith(stagedPrefix(spec)))
    await storeFor(spec, resources).remove(change.key);
  else if (spec !== undefined) await lookAtEach(notingOf(resources, spec), [change.key]);
  const now = resources.clock.now();
  const isOver = spec === undefined || now >= change.until;
  const next = Math.min(change.until, now + Math.max(firstLookMillis, now - change.begunAt));
  await writeShortly(resources)((transaction) => {
    const index = transaction.of(objectIndex);
    return isOver ? index.forget(change) : index.postpone(change, next);
  });
}
