// Uploads to a storage that scans: their bytes are at a key that nobody can name, until a job has
// decided what becomes of them (decisions.md "Object storage").
import { uuidv7 } from "../../ports/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Resources } from "../../operations/resources.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore } from "../../ports/jobs.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import { quarantineStore, type QuarantinedFile } from "../../ports/quarantine.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import type { OutsideJob } from "../../work/periodic.js";
import { prepareRun } from "../jobs/new-run.js";
import { jobResources } from "../jobs/resources.js";
import { writeShortly } from "./changes.js";
import { stagedPrefix } from "./key.js";
import { storeFor } from "./resources.js";
import { notesOf } from "./writes.js";

const dayMillis = 24 * 60 * 60 * 1_000;
/** How long an upload waits to be decided on; then it is removed. */
const scanMillis = 30 * dayMillis;
/** How soon a signed upload is looked for; then each time after as long as it has been. */
const firstLookMillis = 30_000;
/** An upload that began before its address expired may still be under way so much later. */
const lateMillis = 60 * 60 * 1_000;
/** Uploads that one step looks at, and that a question about a key does. */
const atOnce = 100;

/** An upload whose bytes are there. */
export interface Quarantined {
  readonly id: string;
  readonly head: ObjectHead;
}

/** The engine's key of an upload. */
export function quarantineKey(spec: StorageSpec, id: string): string {
  return stagedPrefix(spec) + id;
}

/** The upload that is at a key of the engine; null if the key is an object's. */
export function uploadAt(spec: StorageSpec, key: string): string | null {
  const prefix = stagedPrefix(spec);
  return spec.scan !== undefined && key.startsWith(prefix) ? key.slice(prefix.length) : null;
}

/**
 * Expects an upload to a key, by an address that is good for so many seconds. Returns where its
 * bytes go.
 */
export async function expectSigned(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  seconds: number,
  id = uuidv7(),
): Promise<string> {
  const now = context.clock.now();
  const until = now + seconds * 1_000 + lateMillis;
  await expect(spec, context, { id, key }, { now, dueAt: now + firstLookMillis, until });
  return quarantineKey(spec, id);
}

function expect(
  spec: StorageSpec,
  context: ExecutionContext,
  { id, key }: { readonly id: string; readonly key: string },
  times: { readonly now: number; readonly dueAt: number; readonly until: number },
): Promise<void> {
  const file = { id, place: placeOf(spec), tenant: context.tenant, key };
  return notesOf(context)((transaction) => transaction.of(quarantineStore).expect(file, times));
}

/** Writes an upload that becomes an object at a key, once `scanUpload` has it scanned. */
export function writeQuarantined(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  content: AsyncIterable<Buffer>,
  description: ObjectDescription,
): Promise<Quarantined> {
  return made(spec, context, key, (to) =>
    storeFor(spec, context.resources).write(to, content, description, context.signal),
  );
}

/** An upload under another key and description; null if it is gone. */
export async function renameQuarantined(
  spec: StorageSpec,
  context: ExecutionContext,
  { id, head }: Quarantined,
  key: string,
  description: ObjectDescription,
): Promise<Quarantined | null> {
  const renamed = await made(spec, context, key, (to) => {
    const options = { etag: head.etag, signal: context.signal };
    return storeFor(spec, context.resources).copy(head.key, to, description, options);
  });
  await decideUpload(spec, context, id);
  const { head: copy } = renamed;
  return copy === null ? null : { id: renamed.id, head: copy };
}

async function made<Version extends ObjectHead | null>(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  make: (to: string) => Promise<Version>,
): Promise<{ readonly id: string; readonly head: Version }> {
  if (!context.holdsTransaction) context.refuseLeftBehind();
  const id = uuidv7();
  const now = context.clock.now();
  // What a process leaves behind that dies here is removed after a day.
  const until = now + dayMillis;
  await expect(spec, context, { id, key }, { now, dueAt: until, until });
  const store = storeFor(spec, context.resources);
  context.followUndone(async () => void (await store.remove(quarantineKey(spec, id))));
  return { id, head: await make(quarantineKey(spec, id)) };
}

/** Has an upload scanned whose bytes are there. */
export async function scanUpload(
  spec: StorageSpec,
  context: ExecutionContext,
  id: string,
): Promise<void> {
  const { resources, tenant } = context;
  await notesOf(context)((transaction) => arrive(transaction, resources, spec, { id, tenant }));
  context.follow(() => resources.wake(jobStore));
}

async function arrive(
  transaction: Transaction,
  resources: Resources,
  { scan = "" }: StorageSpec,
  { id, tenant }: Pick<QuarantinedFile, "id" | "tenant">,
): Promise<void> {
  const now = resources.clock.now();
  if (!(await transaction.of(quarantineStore).arrive(id, now + scanMillis))) return;
  const request = { given: { upload: id }, tenant, as: { kind: "service" }, now } as const;
  const { run } = prepareRun(resources.of(jobResources), resources, { ...request, job: scan });
  await transaction.of(jobStore).add(run);
}

/**
 * Decides that an upload is over; its bytes go once that is committed. Returns whether it was
 * undecided.
 */
export async function decideUpload(
  spec: StorageSpec,
  context: ExecutionContext,
  id: string,
): Promise<boolean> {
  const isDecided = await notesOf(context)((transaction) =>
    transaction.of(quarantineStore).decide(id),
  );
  const store = storeFor(spec, context.resources);
  const remove = async (): Promise<void> => void (await store.remove(quarantineKey(spec, id)));
  if (!context.holdsTransaction) await remove();
  else context.follow(remove);
  return isDecided;
}

/** Looks for uploads that may have arrived for a key by signed addresses. */
export async function lookForUploads(
  spec: StorageSpec,
  { resources, tenant, transaction }: ExecutionContext,
  key: string,
): Promise<void> {
  const at = { place: placeOf(spec), tenant, key };
  for (const file of await transaction.of(quarantineStore).expected(at, atOnce))
    await lookAtUpload(spec, resources, file);
}

/** Has an upload scanned if its bytes have arrived by a signed address. */
export async function lookAtUpload(
  spec: StorageSpec,
  resources: Resources,
  { id, tenant, state }: QuarantinedFile,
): Promise<void> {
  if (state !== "expected") return;
  const head = await storeFor(spec, resources).head(quarantineKey(spec, id));
  if (head === null) return;
  await writeShortly(resources)((transaction) =>
    arrive(transaction, resources, spec, { id, tenant }),
  );
  resources.wake(jobStore);
}

/** Looks at uploads that are due: they may have arrived, or nothing of them is left to come. */
export function quarantinedUploads(
  storages: readonly StorageSpec[],
  resources: Resources,
): OutsideJob {
  return {
    name: "objects.quarantine",
    everyMillis: firstLookMillis,
    async step() {
      const { clock, database } = resources;
      const due = await database.reader.of(quarantineStore).due(clock.now(), atOnce);
      for (const file of due) await lookAtDue(storages, resources, file);
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
  if (spec !== undefined) await lookAtUpload(spec, resources, file);
  const isOver = file.state === "scanned" || now >= file.until;
  const isStill = (await resources.database.reader.of(quarantineStore).find(file.id))?.state;
  if (isOver && spec !== undefined && isStill === file.state) {
    await storeFor(spec, resources).remove(quarantineKey(spec, file.id));
    if (file.state === "scanned")
      resources.log.warn({ upload: file.id }, "an upload has not been decided on, and is removed");
  }
  const next = Math.min(file.until, now + Math.max(firstLookMillis, now - file.begunAt));
  await writeShortly(resources)(async (transaction) => {
    const files = transaction.of(quarantineStore);
    // What has arrived meanwhile is due when it has to be decided on.
    const { state } = (await files.find(file.id)) ?? file;
    if (state !== file.state) return;
    if (isOver) await files.forget(file.id);
    else await files.postpone(file.id, next);
  });
}
