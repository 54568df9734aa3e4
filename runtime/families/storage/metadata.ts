// What is known of an object, changed and read without its bytes; copies and moves within a storage
// (decisions.md "Object storage").
import { storeWithin } from "./resources.js";
import { fail, type ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import type { ObjectDescription, ObjectHead, ObjectTags } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { objectIndex } from "../../ports/object-index.js";
import { readable } from "./arrivals.js";
import { judgeObject, lookAt } from "./changes.js";
import { checkFilename, checkNamed } from "./content-type.js";
import { checkFits } from "./fitting.js";
import { checkKey, physicalKey, prefixOf } from "./key.js";
import { lookForUploads } from "./quarantine.js";
import { storedObject, type StoredObject } from "./stored-object.js";
import { checkTags, checkTexts, describeCopy } from "./description.js";
import { copyObject, notingFor, recordObject, removeAsAsked } from "./writes.js";

/**
 * Absent members stay; null takes a description away, and `tags` takes the place of all tags.
 */
export interface MetadataInput {
  readonly key: string;
  readonly content_type?: string;
  readonly filename?: string;
  readonly description?: string | null;
  readonly tags?: ObjectTags;
}

export interface CopyInput {
  readonly from: string;
  readonly to: string;
}

/** How often a version is looked at that another one replaces before it is copied. */
const maxAttempts = 8;

/** Handlers of metadata, copies and moves. */
export const objectMetadata = {
  /** An upload that passed the service by is listed, or scanned, from here on. */
  metadata:
    (spec: StorageSpec): Handler<{ readonly key: string }, StoredObject> =>
    async ({ key }, context) => {
      const asked = physicalKey(spec, context.tenant, key);
      if (spec.scan !== undefined) await lookForUploads(spec, context, key);
      const store = storeWithin(spec, context);
      const head = await store.head(asked, context.signal);
      if (head === null) {
        await bringIntoLine(spec, context, asked, head);
        throw fail("core.not_found");
      }
      const refusal = await bringIntoLine(spec, context, asked, head);
      if (refusal !== null) throw refusal;
      return storedObject(spec, context, head);
    },

  updateMetadata:
    (spec: StorageSpec): Handler<MetadataInput, StoredObject> =>
    async ({ key, ...changes }, context) => {
      if (changes.content_type !== undefined) checkNamed(spec, changes.content_type);
      if (changes.tags !== undefined) checkTags(changes.tags);
      checkTexts(changes);
      const asked = physicalKey(spec, context.tenant, key);
      if (changes.filename !== undefined) await checkFilename(spec, changes.filename);
      const { copy } = await copiedOnce(spec, context, asked, asked, async (head) => {
        if (changes.content_type !== undefined)
          await checkFits(spec, context, head, changes.content_type);
        return changeDescription(head, changes);
      });
      return storedObject(spec, context, copy);
    },

  copy:
    (spec: StorageSpec): Handler<CopyInput, StoredObject> =>
    async ({ from, to }, context) => {
      const [source, target] = placesOf(spec, context, from, to);
      const { copy } = await copiedOnce(spec, context, source, target, async (one) => one);
      return storedObject(spec, context, copy);
    },

  move:
    (spec: StorageSpec): Handler<CopyInput, StoredObject> =>
    async ({ from, to }, context) => {
      const [source, target] = placesOf(spec, context, from, to);
      const { head, copy } = await copiedOnce(spec, context, source, target, async (one) => one);
      // A version that came meanwhile was not asked for, and stays.
      if (source !== target) await removeAsAsked(spec, context, source, head.etag);
      return storedObject(spec, context, copy);
    },
};

function placesOf(
  spec: StorageSpec,
  { tenant }: ExecutionContext,
  from: string,
  to: string,
): readonly [source: string, target: string] {
  const root = prefixOf(spec, tenant);
  return [root + checkKey(from, "/from"), root + checkKey(to, "/to")];
}

/**
 * Copies the version that is there, with the description that is made of its own. Throws
 * `core.not_found`.
 */
async function copiedOnce(
  spec: StorageSpec,
  context: ExecutionContext,
  from: string,
  to: string,
  describe: (head: ObjectHead) => Promise<ObjectDescription>,
): Promise<{ readonly head: ObjectHead; readonly copy: ObjectHead }> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const head = await readable(spec, context).head(from, context.signal);
    if (head === null) throw fail("core.not_found");
    const about = describeCopy(await describe(head));
    const copy = await copyObject(spec, context, head, to, about);
    if (copy === null) continue;
    await recordObject(spec, context, to, "write");
    return { head, copy };
  }
  throw fail("core.concurrency");
}

function changeDescription(
  head: ObjectHead,
  { content_type, filename, description, tags }: Omit<MetadataInput, "key">,
): ObjectDescription {
  const { tags: before, ...described } = head;
  const now = tags ?? before ?? {};
  return {
    ...described,
    contentType: content_type ?? head.contentType,
    filename: filename ?? head.filename,
    description: description === undefined ? head.description : description,
    ...(Object.keys(now).length === 0 ? {} : { tags: now }),
  };
}

/**
 * Looks at a key of which lists say something else than its engine; says why what is there has to
 * go.
 */
async function bringIntoLine(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  head: ObjectHead | null,
): Promise<ServiceError | null> {
  const filter = { prefix: key, contentType: null, tags: {} };
  const window = { after: null, offset: 0, limit: 1 };
  const [first] = await context.transaction.of(objectIndex).select(filter, window);
  const known = first?.key === key ? first.etag : undefined;
  if (known === head?.etag) return null;
  const noting = notingFor(spec, context);
  const { refusal } = await judgeObject(noting, { key, object: head });
  await lookAt(noting, [key]);
  return refusal;
}
