// Signed requests and uploads in parts: the service hands out addresses and never sees the bytes
// (service.md "Direct and resumable uploads").
import { storageResources, storeWithin } from "./resources.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import { readable } from "./arrivals.js";
import { judgeObject } from "./changes.js";
import { checkFilename, checkNamed, isStrict } from "./content-type.js";
import type {
  SignedForm,
  SignedRequest,
  UploadedPart,
  UploadLimits,
} from "../../ports/direct-transfers.js";
import { expectUpload } from "./expected.js";
import { readExpiry } from "./expiry.js";
import { physicalKey } from "./key.js";
import { checkStaged, expectStaged, putInPlace, stagedKey } from "./staged.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { uuidv7 } from "../../ports/uuid.js";
import { arrivalKey, expectSigned, scanUpload, uploadAt } from "./quarantine.js";
import { boundText, checkSession, transfersOf, type UploadSession } from "./upload-session.js";
import { beginChange, notingFor } from "./writes.js";

/** A signed request as clients get it. */
export interface SignedAnswer extends SignedRequest {
  /** RFC 3339. */
  readonly expires_at: string;
}

export interface ObjectHeadAnswer {
  readonly key: string;
  readonly size: number;
  readonly content_type: string;
  readonly etag: string;
  readonly last_modified: string;
  readonly metadata: Readonly<Record<string, string>>;
}

interface WithExpiry {
  readonly expires_in: number | string;
}

interface WithSession {
  readonly session: UploadSession;
}

interface GivenPart {
  readonly part_number: number;
  readonly etag: string;
}

/** Handlers of direct transfers. */
export const direct = {
  presignDownload:
    (spec: StorageSpec): Handler<{ readonly key: string } & WithExpiry, SignedAnswer> =>
    async ({ key, expires_in }, context) => {
      const transfers = transfersOf(spec, context);
      const seconds = readExpiry(expires_in);
      const asked = physicalKey(spec, context.tenant, key);
      const head = await readable(spec, context).head(asked, context.signal);
      if (head === null) throw fail("core.not_found");
      return answerSigned(context, await transfers.signDownload(head, seconds), seconds);
    },

  presignUpload:
    (
      spec: StorageSpec,
    ): Handler<
      { readonly key: string; readonly content_type?: string } & WithExpiry,
      SignedAnswer
    > =>
    async ({ key, expires_in, content_type }, context) => {
      const transfers = transfersOf(spec, context);
      const seconds = readExpiry(expires_in);
      const asked = physicalKey(spec, context.tenant, key);
      const limits = await limitsOf(spec, asked, content_type);
      const place = await expectedAt(spec, context, key, seconds);
      const signed = await transfers.signUpload(place, limits, seconds);
      return answerSigned(context, signed, seconds);
    },

  presignPost:
    (
      spec: StorageSpec,
    ): Handler<
      {
        readonly key: string;
        readonly max_bytes?: number;
        readonly content_type?: string;
      } & WithExpiry,
      SignedForm & { readonly method: "POST"; readonly expires_at: string }
    > =>
    async ({ key, expires_in, content_type, max_bytes }, context) => {
      const transfers = transfersOf(spec, context);
      const seconds = readExpiry(expires_in);
      const asked = physicalKey(spec, context.tenant, key);
      const { contentType, maxBytes } = await limitsOf(spec, asked, content_type);
      const limits = { contentType, maxBytes: Math.min(max_bytes ?? Infinity, maxBytes) };
      const place = await expectedAt(spec, context, key, seconds);
      const form = await transfers.signForm(place, limits, seconds);
      return { ...form, method: "POST", expires_at: expiryAfter(context, seconds) };
    },

  beginUpload:
    (
      spec: StorageSpec,
    ): Handler<{ readonly key: string; readonly content_type?: string }, UploadSession> =>
    async ({ key, content_type }, context) => {
      const transfers = transfersOf(spec, context);
      const asked = physicalKey(spec, context.tenant, key);
      const { contentType } = await limitsOf(spec, asked, content_type);
      const { signer } = context.resources;
      const isStaged = isStrict(spec) || spec.scan !== undefined;
      const { expiresAt, place } = await sessionPlace(spec, context, { key, asked, isStaged });
      const uploadId = await transfers.begin(
        place,
        descriptionOf(key, contentType),
        context.signal,
      );
      const session = {
        key,
        upload_id: uploadId,
        ...(content_type === undefined ? {} : { content_type }),
        expires_at: expiresAt,
      };
      const bound = boundText(spec, context, session, isStaged);
      const token = signer.sign("upload", bound).toString("base64url");
      return { ...session, token };
    },

  presignPart:
    (
      spec: StorageSpec,
    ): Handler<WithSession & { readonly part_number: number } & WithExpiry, SignedAnswer> =>
    async ({ session, part_number, expires_in }, context) => {
      const { transfers, key, uploadId } = checkSession(spec, context, session);
      const seconds = readExpiry(expires_in);
      const maxBytes = maxBytesOf(spec);
      const mostParts = Math.max(1, Math.ceil(maxBytes / transfers.leastPartBytes));
      if (part_number > mostParts) throw beyondParts(mostParts);
      const arrived = await transfers.parts(key, uploadId, context.signal);
      if (arrived === null) throw fail("core.not_found");
      // Engines that take parts in themselves hold to the limit as they come; S3 can be held to it
      // no sooner than here.
      const others = arrived.filter(({ partNumber }) => partNumber !== part_number);
      if (others.length > 0 && bytesOf(others) >= maxBytes) throw beyondBytes(maxBytes);
      const part = { partNumber: part_number, maxBytes };
      return answerSigned(context, await transfers.signPart(key, uploadId, part, seconds), seconds);
    },

  listParts:
    (
      spec: StorageSpec,
    ): Handler<
      WithSession,
      { readonly parts: readonly (GivenPart & { readonly size: number })[] }
    > =>
    async ({ session }, context) => {
      const { transfers, key, uploadId } = checkSession(spec, context, session);
      const parts = await transfers.parts(key, uploadId, context.signal);
      if (parts === null) throw fail("core.not_found");
      return {
        parts: parts.map(({ partNumber, etag, size }) => ({ part_number: partNumber, etag, size })),
      };
    },

  completeUpload:
    (
      spec: StorageSpec,
    ): Handler<WithSession & { readonly parts: readonly GivenPart[] }, ObjectHeadAnswer> =>
    async ({ session, parts }, context) => {
      const { transfers, key, uploadId, place } = checkSession(spec, context, session);
      const to = { key: session.key, place };
      const inOrder = parts
        .map(({ part_number, etag }) => ({
          partNumber: part_number,
          etag: etag.replaceAll('"', ""),
        }))
        .sort((left, right) => left.partNumber - right.partNumber);
      // Servers differ in what they say of an upload that has ended, and of parts that are not
      // there.
      const arrived = await transfers.parts(key, uploadId, context.signal);
      if (arrived === null) {
        // An attempt that was broken off may have made the object, and not put it in its place.
        const store = storeWithin(spec, context);
        const staged = key === place ? null : await store.head(key, context.signal);
        if (staged === null) throw fail("core.not_found");
        return headAnswer(session.key, await takeIn(spec, context, staged, to));
      }
      const known = new Map(arrived.map((part) => [part.partNumber, part]));
      let size = 0;
      for (const [index, { partNumber, etag }] of inOrder.entries()) {
        const part = known.get(partNumber);
        if (inOrder[index + 1]?.partNumber === partNumber || part?.etag !== etag)
          throw fail("upload_parts_invalid", { part_number: partNumber });
        size += part.size;
      }
      const maxBytes = maxBytesOf(spec);
      if (size > maxBytes) {
        // It can't become an object: its space is free again.
        await transfers.abort(key, uploadId, context.signal);
        throw beyondBytes(maxBytes);
      }
      if (key !== place) {
        if (uploadAt(spec, key) === null) await expectStaged(context, key);
        const staged = await transfers.complete(key, uploadId, inOrder, context.signal);
        if (staged === null) throw fail("core.not_found");
        return headAnswer(session.key, await takeIn(spec, context, staged, to));
      }
      // A session of an earlier version. Whoever asks for it from here on has it judged first.
      if (isStrict(spec)) await expectUpload(context, key, 0);
      const change = beginChange(spec, context, key);
      await change.begin();
      const head = await transfers.complete(key, uploadId, inOrder, context.signal);
      if (head === null) throw fail("core.not_found");
      const { object, refusal } = await judgeObject(notingFor(spec, context), {
        key,
        object: head,
      });
      await change.settle(object === null ? null : head);
      if (refusal !== null) throw refusal;
      return headAnswer(session.key, head);
    },

  abortUpload:
    (spec: StorageSpec): Handler<WithSession, undefined> =>
    async ({ session }, context) => {
      const { transfers, key, uploadId } = checkSession(spec, context, session);
      await transfers.abort(key, uploadId, context.signal);
      return undefined;
    },
};

/** When a new session expires, and where its upload becomes an object, which is nobody else's. */
async function sessionPlace(
  spec: StorageSpec,
  context: ExecutionContext,
  {
    key,
    asked,
    isStaged,
  }: { readonly key: string; readonly asked: string; readonly isStaged: boolean },
): Promise<{ readonly expiresAt: string; readonly place: string }> {
  const { uploadSeconds } = context.resources.of(storageResources);
  for (let later = 0; ; later += 1) {
    const expiresAt = expiryAfter(context, uploadSeconds + later / 1_000);
    const place = isStaged ? stagedKey(spec, asked, expiresAt) : asked;
    const id = uploadAt(spec, place);
    // Another session of the same moment has this one.
    if (id === null || (await expectSigned(spec, context, { id, key }, uploadSeconds)))
      return { expiresAt, place };
  }
}

/** Expects a signed upload to a key; returns the engine's key that it comes to. */
async function expectedAt(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  seconds: number,
): Promise<string> {
  if (spec.scan !== undefined) {
    const id = uuidv7();
    await expectSigned(spec, context, { id, key }, seconds);
    return arrivalKey(spec, id);
  }
  const asked = physicalKey(spec, context.tenant, key);
  await expectUpload(context, asked, seconds);
  return asked;
}

/** Puts a staged object in its place, or has it scanned first. */
async function takeIn(
  spec: StorageSpec,
  context: ExecutionContext,
  staged: ObjectHead,
  { key, place }: { readonly key: string; readonly place: string },
): Promise<ObjectHead> {
  const id = uploadAt(spec, staged.key);
  if (id === null) return putInPlace(spec, context, staged, place);
  await checkStaged(spec, context, staged);
  // A session that began before the storage scanned has expected nothing.
  await expectSigned(spec, context, { id, key }, 0);
  await scanUpload(spec, context, { id, head: staged });
  return staged;
}

/** The type of an upload that names none. */
const untold = "application/octet-stream";

/** The limits of an upload to this key. Throws `upload_type_unsupported`. */
async function limitsOf(
  spec: StorageSpec,
  key: string,
  contentType: string | undefined,
): Promise<UploadLimits> {
  checkNamed(spec, contentType ?? untold);
  await checkFilename(spec, key);
  return { contentType: contentType ?? null, maxBytes: maxBytesOf(spec) };
}

function maxBytesOf({ maxUploadBytes }: StorageSpec): number {
  return maxUploadBytes ?? Number.MAX_SAFE_INTEGER;
}

function descriptionOf(key: string, contentType: string | null): ObjectDescription {
  return {
    contentType: contentType ?? untold,
    filename: key.split("/").at(-1) ?? "file",
    description: null,
  };
}

function bytesOf(parts: readonly UploadedPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

/** The error of an upload whose parts are too large together. */
function beyondBytes(maxBytes: number): Error {
  return fail("upload_too_large", { max_bytes: maxBytes });
}

/**
 * The error of a part whose number says that the upload has more parts than its limit has room for.
 */
function beyondParts(most: number): Error {
  const message = `must be <= ${most}`;
  return fail("core.validation", {
    errors: [{ path: "/part_number", keyword: "maximum", message }],
  });
}

function answerSigned(
  context: ExecutionContext,
  request: SignedRequest,
  seconds: number,
): SignedAnswer {
  return { ...request, expires_at: expiryAfter(context, seconds) };
}

function expiryAfter(context: ExecutionContext, seconds: number): string {
  return new Date(context.clock.now() + seconds * 1000).toISOString();
}

function headAnswer(key: string, head: ObjectHead): ObjectHeadAnswer {
  const { size, contentType, etag, modifiedAt, filename, description } = head;
  return {
    key,
    size,
    content_type: contentType,
    etag,
    last_modified: new Date(modifiedAt).toISOString(),
    metadata: { filename, ...(description === null ? {} : { description }) },
  };
}
