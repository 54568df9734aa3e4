// What a scan does with an upload in quarantine: reads it, and releases or rejects it.
import { addAbortSignal } from "node:stream";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { quarantineStore } from "../../ports/quarantine.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { judgeArrived } from "./changes.js";
import { physicalKey } from "./key.js";
import { decideUpload, quarantineKey } from "./quarantine.js";
import { storeFor } from "./resources.js";
import { storedObject, type StoredObject } from "./stored-object.js";
import { copyObject, notingFor } from "./writes.js";

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
   * The stream rejects with `core.concurrency` if other bytes arrive meanwhile.
   */
  quarantined(upload: string): Promise<QuarantinedObject | null>;
  /**
   * Makes an upload the object at its key, and replaces what is there. Throws `core.concurrency` if
   * other bytes than those that were read have arrived, and `core.not_found` if it is over.
   */
  release(file: Pick<QuarantinedObject, "upload" | "etag">): Promise<StoredObject>;
  /** Removes an upload; does nothing if it is over. */
  reject(file: Pick<QuarantinedObject, "upload">): Promise<void>;
}

/** The quarantine of a storage, as this invocation may see it: uploads of its tenant. */
export function quarantineOf(spec: StorageSpec, context: ExecutionContext): Quarantine {
  const store = storeFor(spec, context.resources);
  const { signal } = context;
  /** The bytes of an upload that is undecided, with the name that its object has. */
  const found = async (
    upload: string,
  ): Promise<{ readonly head: ObjectHead; readonly key: string } | null> => {
    const file = await context.transaction.of(quarantineStore).find(upload);
    const isOurs = file?.tenant === context.tenant && file.place === placeOf(spec);
    if (file === null || !isOurs || file.state === "over") return null;
    const bytes = quarantineKey(spec, upload);
    const head = await store.head(bytes, signal);
    if (head === null) return null;
    // Engines name what comes by a signed address after the key that it comes to.
    const isNamed = head.filename !== upload;
    const filename = isNamed ? head.filename : (file.key.split("/").at(-1) ?? upload);
    return { head: { ...head, filename }, key: file.key };
  };
  return {
    async quarantined(upload) {
      const file = await found(upload);
      if (file === null) return null;
      const { head, key } = file;
      if ((await judgeArrived(notingFor(spec, context), head)) !== null) {
        await decideUpload(spec, context, upload);
        return null;
      }
      const named = { ...head, key: physicalKey(spec, context.tenant, key) };
      const { etag, key: at } = head;
      const bytes = async function* (): AsyncGenerator<Buffer> {
        const opened = await store.open(at, { etag, signal });
        if (opened === null) throw fail("core.concurrency");
        yield* addAbortSignal(signal, opened.body);
      };
      return { ...storedObject(spec, context, named), upload, body: bytes() };
    },

    async release({ upload, etag }) {
      const file = await found(upload);
      if (file === null) throw fail("core.not_found");
      const { key, ...head } = file.head;
      if (head.etag !== etag) throw fail("core.concurrency");
      const { contentType, filename, description, tags } = head;
      const about = { contentType, filename, description, ...(tags === undefined ? {} : { tags }) };
      const to = physicalKey(spec, context.tenant, file.key);
      const copy = await copyObject(spec, context, { ...head, key }, to, about);
      if (copy === null) throw fail("core.concurrency");
      await decideUpload(spec, context, upload);
      return storedObject(spec, context, copy);
    },

    async reject({ upload }) {
      const file = await context.transaction.of(quarantineStore).find(upload);
      const isOurs = file?.tenant === context.tenant && file.place === placeOf(spec);
      if (isOurs) await decideUpload(spec, context, upload);
    },
  };
}
