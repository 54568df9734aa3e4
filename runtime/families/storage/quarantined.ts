// What a scan does with an upload in quarantine: reads it, and releases or rejects it.
import { addAbortSignal } from "node:stream";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { quarantineStore, type QuarantinedFile } from "../../ports/quarantine.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { judgeArrived } from "./changes.js";
import { physicalKey } from "./key.js";
import { finishRelease, headOfUpload } from "./release.js";
import { storeFor } from "./resources.js";
import { storedObject, type StoredObject } from "./stored-object.js";
import { notesOf, notingFor, recordObject } from "./writes.js";

/** An upload in quarantine, with its bytes and the facts of the object that it would become. */
export interface QuarantinedObject extends StoredObject {
  /** The upload, as the scan's job gets it. */
  readonly upload: string;
  readonly body: AsyncIterable<Buffer>;
}

/** How a scan's job reaches uploads. */
export interface Quarantine {
  /**
   * An upload that nobody has decided on yet; null if it has been released or rejected, or is gone.
   */
  quarantined(upload: string): Promise<QuarantinedObject | null>;
  /**
   * Makes an upload the object at its key, in place of what is there; in a transaction, once that
   * has committed. One that arrived before another that is released already is dropped. Throws
   * `core.not_found` if it has been decided on.
   */
  release(file: Pick<QuarantinedObject, "upload">): Promise<void>;
  /** Removes an upload; does nothing if it has been decided on. */
  reject(file: Pick<QuarantinedObject, "upload">): Promise<void>;
}

/** How soon a release is finished by others if the process dies. */
const finishMillis = 10 * 60 * 1_000;

/** The quarantine of a storage, as this invocation may see it: uploads of its tenant. */
export function quarantineOf(spec: StorageSpec, context: ExecutionContext): Quarantine {
  const { resources, signal } = context;
  const store = storeFor(spec, resources);
  const findScanned = async (upload: string): Promise<QuarantinedFile | null> => {
    const file = await context.transaction.of(quarantineStore).find(upload);
    const isOurs = file?.tenant === context.tenant && file.place === placeOf(spec);
    return isOurs && file.state === "scanned" ? file : null;
  };
  const reject = async (file: QuarantinedFile): Promise<void> => {
    const isDone = await notesOf(context)((transaction) =>
      transaction.of(quarantineStore).reject(file.id),
    );
    const { bytes } = file;
    if (!isDone || bytes === null) return;
    const remove = async (): Promise<void> => void (await store.remove(bytes));
    if (context.holdsTransaction) context.follow(remove);
    else await remove();
  };
  /** An upload whose bytes are there and of an accepted type; others are rejected. */
  const accepted = async (
    upload: string,
  ): Promise<{ readonly file: QuarantinedFile; readonly head: ObjectHead } | null> => {
    const file = await findScanned(upload);
    const head = file === null ? null : await headOfUpload(spec, resources, file, signal);
    if (file === null || head === null) return null;
    if ((await judgeArrived(notingFor(spec, context), head)) === null) return { file, head };
    await reject(file);
    return null;
  };
  return {
    async quarantined(upload) {
      const found = await accepted(upload);
      if (found === null) return null;
      const { file, head } = found;
      const named = { ...head, key: physicalKey(spec, context.tenant, file.key) };
      const bytes = async function* (): AsyncGenerator<Buffer> {
        const opened = await store.open(head.key, { etag: head.etag, signal });
        if (opened === null) throw fail("core.concurrency");
        yield* addAbortSignal(signal, opened.body);
      };
      return { ...storedObject(spec, context, named), upload, body: bytes() };
    },

    async release({ upload }) {
      const found = await accepted(upload);
      const dueAt = context.clock.now() + finishMillis;
      const isReleased =
        found !== null &&
        (await notesOf(context)((transaction) =>
          transaction.of(quarantineStore).release(upload, dueAt),
        ));
      if (!isReleased) throw fail("core.not_found");
      const { file } = found;
      await recordObject(spec, context, physicalKey(spec, context.tenant, file.key), "write");
      const finish = (): Promise<void> => finishRelease(spec, resources, file);
      if (context.holdsTransaction) context.follow(finish);
      else await finish();
    },

    async reject({ upload }) {
      const file = await findScanned(upload);
      if (file !== null) await reject(file);
    },
  };
}
