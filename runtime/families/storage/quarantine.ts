// Uploads to a storage that scans: their bytes are at a key that nobody can name, until a job has
// decided what becomes of them (decisions.md "Object storage").
import { fail } from "../../contract/errors.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Resources } from "../../operations/resources.js";
import type { Transaction } from "../../ports/database.js";
import { jobStore } from "../../ports/jobs.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import { quarantineStore, type QuarantinedFile } from "../../ports/quarantine.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import type { Payer } from "../../ports/work.js";
import { prepareRun } from "../jobs/new-run.js";
import { jobResources } from "../jobs/resources.js";
import { writeShortly } from "./changes.js";
import { describeCopy } from "./description.js";
import { stagedPrefix } from "./key.js";
import { storeFor, storeWithin } from "./resources.js";
import { notesOf } from "./writes.js";

const dayMillis = 24 * 60 * 60 * 1_000;
/** How long an upload waits to be decided on; then it is removed. */
export const scanMillis = 30 * dayMillis;
/** An upload is scanned again when the run that has failed to decide on it is kept no longer. */
export const scanAgainMillis = 7 * dayMillis;
/** How soon a signed upload is looked for; then each time after as long as it has been. */
export const firstLookMillis = 30_000;
/** An upload that began before its address expired may still be under way so much later. */
const lateMillis = 60 * 60 * 1_000;
/** How long an engine may take to copy an upload. */
export const copyMillis = 5 * 60 * 1_000;
/** Uploads that a question about a key looks at. */
const atOnce = 20;

/** An upload whose bytes are there. */
export interface Quarantined {
  readonly id: string;
  readonly head: ObjectHead;
}

/** The engine's key to which an upload comes by a signed address. */
export function arrivalKey(spec: StorageSpec, id: string): string {
  return stagedPrefix(spec) + id;
}

/** A key for bytes of an upload to which no address leads. */
function heldKey(spec: StorageSpec, id: string): string {
  return `${stagedPrefix(spec)}${id}.${uuidv7()}`;
}

/** The upload that comes to a key of the engine; null if the key is an object's. */
export function uploadAt(spec: StorageSpec, key: string): string | null {
  const prefix = stagedPrefix(spec);
  return spec.scan !== undefined && key.startsWith(prefix) ? key.slice(prefix.length) : null;
}

/**
 * Expects an upload to a key, by an address that is good for so many seconds; false if one with
 * this id is expected already.
 */
export function expectSigned(
  spec: StorageSpec,
  context: ExecutionContext,
  { id, key }: Pick<QuarantinedFile, "id" | "key">,
  seconds: number,
): Promise<boolean> {
  const now = context.clock.now();
  const until = now + seconds * 1_000 + lateMillis;
  return expect(spec, context, { id, key }, { now, dueAt: now + firstLookMillis, until });
}

function expect(
  spec: StorageSpec,
  context: ExecutionContext,
  { id, key }: Pick<QuarantinedFile, "id" | "key">,
  times: { readonly now: number; readonly dueAt: number; readonly until: number },
): Promise<boolean> {
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
  return makeUpload(spec, context, key, (to) =>
    storeWithin(spec, context).write(to, content, description, context.signal),
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
  const { id: renamed, head: copy } = await makeUpload(spec, context, key, (to) => {
    const options = { etag: head.etag, signal: context.signal };
    return storeWithin(spec, context).copy(head.key, to, description, options);
  });
  await discardUpload(spec, context, { id, head });
  return copy === null ? null : { id: renamed, head: copy };
}

async function makeUpload<Version extends ObjectHead | null>(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  make: (to: string) => Promise<Version>,
): Promise<{ readonly id: string; readonly head: Version }> {
  if (!context.holdsTransaction) context.refuseLeftBehind();
  const id = uuidv7();
  const now = context.clock.now();
  // Nothing arrives for it: what a process leaves behind that dies here goes after a day.
  const until = now + dayMillis;
  await expect(spec, context, { id, key }, { now, dueAt: until, until });
  const to = heldKey(spec, id);
  context.followUndone(async () => void (await storeWithin(spec, context).remove(to)));
  return { id, head: await make(to) };
}

/**
 * Has an upload scanned whose bytes are where no address leads to; false if that is not waited for:
 * it has been taken in already, or it took more than a day.
 */
export async function scanUpload(
  spec: StorageSpec,
  context: ExecutionContext,
  { id, head }: Quarantined,
): Promise<boolean> {
  const { resources, tenant } = context;
  const isTaken = await notesOf(context)((transaction) =>
    arrive(
      transaction,
      resources,
      spec,
      { id, tenant, bytes: head.key },
      context.metadata.traceparent,
    ),
  );
  context.follow(() => resources.wake(jobStore));
  return isTaken;
}

/** Has an upload scanned that this call wrote. Throws `core.not_found` if it took too long. */
export async function scanWritten(
  spec: StorageSpec,
  context: ExecutionContext,
  upload: Quarantined,
): Promise<void> {
  if (await scanUpload(spec, context, upload)) return;
  await storeWithin(spec, context).remove(upload.head.key);
  throw fail("core.not_found");
}

async function arrive(
  transaction: Transaction,
  resources: Resources,
  spec: StorageSpec,
  { id, tenant, bytes }: Pick<QuarantinedFile, "id" | "tenant"> & { readonly bytes: string },
  traceparent?: string,
): Promise<boolean> {
  const dueAt = resources.clock.now() + scanAgainMillis;
  if (!(await transaction.of(quarantineStore).arrive(id, bytes, dueAt))) return false;
  await addScan(transaction, resources, spec, { id, tenant }, traceparent);
  return true;
}

/** Enqueues the scan of an upload. */
export async function addScan(
  transaction: Transaction,
  resources: Resources,
  { scan = "" }: StorageSpec,
  { id, tenant }: Pick<QuarantinedFile, "id" | "tenant">,
  traceparent?: string,
): Promise<void> {
  const now = resources.clock.now();
  const as = { kind: "service" } as const;
  const request = { given: { upload: id }, tenant, as, now, traceparent };
  const run = prepareRun(resources.of(jobResources), resources, { ...request, job: scan });
  await transaction.of(jobStore).add(run);
}

/** Gives up an upload that nobody has had scanned, with its bytes. */
export async function discardUpload(
  spec: StorageSpec,
  context: ExecutionContext,
  { id, head }: Quarantined,
): Promise<void> {
  await notesOf(context)((transaction) => transaction.of(quarantineStore).reject(id));
  await storeWithin(spec, context).remove(head.key);
}

/** Looks for uploads that may have arrived for a key by signed addresses. */
export async function lookForUploads(
  spec: StorageSpec,
  { payer, resources, tenant, transaction }: ExecutionContext,
  key: string,
): Promise<void> {
  const at = { place: placeOf(spec), tenant, key };
  for (const file of await transaction.of(quarantineStore).expected(at, atOnce))
    await takeArrived(spec, resources, file, payer);
}

/**
 * Has an upload scanned if its bytes have arrived by a signed address. They are copied to where no
 * address leads: what the scan reads is what is released. Noted at the expense of who asks; null is
 * the service itself.
 */
export async function takeArrived(
  spec: StorageSpec,
  resources: Resources,
  file: QuarantinedFile,
  payer: Payer | null = null,
): Promise<void> {
  if (file.state !== "expected" || spec.scan === undefined) return;
  const store = storeFor(spec, resources);
  const head = await store.head(arrivalKey(spec, file.id));
  if (head === null) return;
  const signal = AbortSignal.timeout(copyMillis);
  const copy = (to: string): Promise<ObjectHead | null> =>
    store.copy(head.key, to, describeCopy(head), { etag: head.etag, signal });
  // Where the bytes are others by now, those are taken next.
  if ((await takeUpload(spec, resources, file, payer, copy)) !== null) await store.remove(head.key);
}

/**
 * Writes an upload that is expected to where no address leads, and has it scanned; null if nothing
 * was written, or if another has been taken in meanwhile.
 */
export async function takeUpload(
  spec: StorageSpec,
  resources: Resources,
  { id, tenant }: Pick<QuarantinedFile, "id" | "tenant">,
  payer: Payer | null,
  write: (to: string) => Promise<ObjectHead | null>,
): Promise<ObjectHead | null> {
  const bytes = heldKey(spec, id);
  const head = await write(bytes);
  if (head === null) return null;
  // If nobody answers for the commit, it may be theirs: the walk removes bytes that no row has.
  const isTaken = await writeShortly(
    resources,
    payer,
  )((transaction) => arrive(transaction, resources, spec, { id, tenant, bytes }));
  if (isTaken) resources.wake(jobStore);
  else await storeFor(spec, resources).remove(bytes);
  return isTaken ? head : null;
}
