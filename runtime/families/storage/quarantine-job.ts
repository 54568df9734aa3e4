// The periodic look at files in quarantine: those that may have arrived, those whose release died,
// and those of which nothing is left to come.
import type { Resources } from "../../operations/resources.js";
import { quarantineStore, type QuarantinedFile } from "../../ports/quarantine.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import type { OutsideJob } from "../../work/periodic.js";
import { writeShortly } from "./changes.js";
import {
  addScan,
  arrivalKey,
  firstLookMillis,
  scanAgainMillis,
  scanMillis,
  takeArrived,
} from "./quarantine.js";
import { finishRelease } from "./release.js";
import { storeFor } from "./resources.js";

/** Uploads that one step looks at. */
const atOnce = 100;
/** A signed upload is looked for at least this often. */
const lastLookMillis = 60 * 60 * 1_000;
/** How soon one is looked at again that could not be looked at. */
const againMillis = 5 * 60 * 1_000;

/** Looks at uploads that are due. One that cannot be looked at holds up no other. */
export function quarantineJob(storages: readonly StorageSpec[], resources: Resources): OutsideJob {
  return {
    name: "objects.quarantine",
    everyMillis: firstLookMillis,
    async step() {
      const { clock, database, log } = resources;
      const due = await database.reader.of(quarantineStore).due(clock.now(), atOnce);
      for (const file of due)
        await lookAtDue(storages, resources, file).catch(async (err: unknown) => {
          log.error({ err, upload: file.id }, "an upload in quarantine cannot be looked at");
          await writeShortly(resources)((transaction) =>
            transaction.of(quarantineStore).postpone(file.id, clock.now() + againMillis),
          );
        });
      return due.length === atOnce;
    },
  };
}

async function lookAtDue(
  storages: readonly StorageSpec[],
  resources: Resources,
  file: QuarantinedFile,
): Promise<void> {
  const spec = storages.find((one) => placeOf(one) === file.place);
  const now = resources.clock.now();
  const end = endOf(file);
  if (spec !== undefined && file.state === "released") {
    // Also where it has to wait for another.
    await writeShortly(resources)((transaction) =>
      transaction.of(quarantineStore).postpone(file.id, now + againMillis),
    );
    return finishRelease(spec, resources, file);
  }
  // What has come is taken in also at the end.
  if (spec !== undefined) await takeArrived(spec, resources, file);
  const isGone = await writeShortly(resources)(async (transaction) => {
    const files = transaction.of(quarantineStore);
    // What has arrived or was decided on meanwhile is due later.
    if ((await files.find(file.id))?.state !== file.state) return false;
    if (now >= end) {
      await files.forget(file.id);
      return true;
    }
    await files.postpone(file.id, Math.min(end, now + waitOf(file, now)));
    if (spec?.scan !== undefined && file.state === "scanned")
      await addScan(transaction, resources, spec, file);
    return false;
  });
  if (!isGone || spec === undefined) return;
  await removeBytes(spec, resources, file);
  if (file.state === "scanned")
    resources.log.warn({ upload: file.id }, "an upload has not been decided on, and is removed");
}

/** When an upload is given up. */
function endOf({ state, begunAt, until }: QuarantinedFile): number {
  return state === "scanned" ? Math.max(until, begunAt + scanMillis) : until;
}

/** How long until an upload is looked at again. */
function waitOf({ state, begunAt }: QuarantinedFile, now: number): number {
  if (state === "scanned") return scanAgainMillis;
  return Math.min(Math.max(firstLookMillis, now - begunAt), lastLookMillis);
}

/** Removes what is left of an upload, and what came too late. */
async function removeBytes(
  spec: StorageSpec,
  resources: Resources,
  { id, bytes }: QuarantinedFile,
): Promise<void> {
  const store = storeFor(spec, resources);
  await store.remove(arrivalKey(spec, id));
  if (bytes !== null) await store.remove(bytes);
}
