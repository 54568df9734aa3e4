// The production object engine: a bucket of S3 (AWS, Ceph RGW, MinIO, R2 …), streamed both ways.
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { HeadObjectOutput } from "@aws-sdk/client-s3";
import { fail, unavailable } from "../../contract/errors.js";
import type { ObjectHead } from "../../ports/object-head.js";
import type { ObjectStore, OpenedObject } from "../../ports/objects.js";
import {
  callsWithin,
  checkFits,
  clientFor,
  fits,
  ifChanged,
  unquoteTag,
  type S3Options,
} from "./client.js";
import { copyObject } from "./copy.js";
import { descriptionOf, metadataOf } from "./description.js";
import { directTransfers } from "./direct.js";
import { sweepUploads } from "./multipart.js";
import { upload, type S3Access } from "./upload.js";

type OpenOptions = NonNullable<Parameters<ObjectStore["open"]>[1]>;

/**
 * Opens a bucket without calling S3; `ping` tells whether it exists. Throws if the AWS SDK is not
 * installed.
 */
export async function openS3Store(options: S3Options): Promise<ObjectStore> {
  const sdk = await import("@aws-sdk/client-s3").catch(refuseWithoutSdk);
  const client = clientFor(sdk.S3Client, options);
  const { bucket: Bucket } = options;
  const calls = callsWithin(options);

  const headOf = async (Key: string, signal?: AbortSignal): Promise<ObjectHead | null> => {
    if (!fits(Key)) return null;
    const command = new sdk.HeadObjectCommand({ Bucket, Key });
    const found = await calls.orNull((until) => client.send(command, until), signal);
    return found === null ? null : headFrom(Key, found, found.ContentLength ?? 0);
  };

  return {
    head: headOf,

    open: (Key, options = {}) => openObject({ client, sdk, calls }, Bucket, Key, options),

    async write(Key, body, description, signal) {
      checkFits(Key);
      const target = {
        Bucket,
        Key,
        ContentType: description.contentType,
        Metadata: { ...metadataOf(description) },
      };
      await upload({ client, sdk, calls }, target, body, signal);
      const head = await headOf(Key);
      if (head === null) throw fail("core.concurrency");
      return head;
    },

    async remove(Key, { etag, signal } = {}) {
      const head = await headOf(Key, signal);
      if (head === null || (etag !== undefined && head.etag !== etag)) return false;
      // Servers that don't know this condition ignore it. They also remove a version that was
      // written after the check above.
      const condition = etag === undefined ? {} : { IfMatch: `"${etag}"` };
      const command = new sdk.DeleteObjectCommand({ Bucket, Key, ...condition });
      const answer = await calls
        .orNull((until) => client.send(command, until), signal)
        .catch((error: unknown) => ifChanged(error));
      return etag === undefined || answer !== null;
    },

    copy: (from, to, description, options) =>
      copyObject({ client, sdk, calls }, Bucket, headOf, { from, to, description, ...options }),

    async *list(Prefix, after, signal) {
      for (let StartAfter = after ?? undefined; ;) {
        const command = new sdk.ListObjectsV2Command({ Bucket, Prefix, StartAfter });
        const page = await calls.orNull((until) => client.send(command, until), signal);
        for (const { Key, ETag } of page?.Contents ?? []) {
          if (Key === undefined) continue;
          StartAfter = Key;
          yield { key: Key, etag: ETag === undefined ? null : unquoteTag(ETag) };
        }
        if (page?.IsTruncated !== true) return;
      }
    },

    sweep: (prefix, olderThanSeconds, limit) =>
      sweepUploads({ client, sdk, calls }, Bucket, prefix, olderThanSeconds, limit),

    async ping(signal) {
      const command = new sdk.HeadBucketCommand({ Bucket });
      const found = await calls.orNull((until) => client.send(command, until), signal);
      if (found === null) throw unavailable(missingBucket(Bucket));
    },

    direct: directTransfers({ client, sdk, calls }, options, headOf),

    async close() {
      client.destroy();
    },
  };
}

/**
 * Opens an object, or a window of it, and waits for the first bytes. Null if there is no object, or
 * another version.
 */
async function openObject(
  { client, sdk, calls }: S3Access,
  Bucket: string,
  Key: string,
  { window, etag, signal }: OpenOptions,
): Promise<OpenedObject | null> {
  if (!fits(Key)) return null;
  const command = new sdk.GetObjectCommand({
    Bucket,
    Key,
    ...(window === undefined ? {} : { Range: `bytes=${window.first}-${window.last}` }),
    ...(etag === undefined ? {} : { IfMatch: `"${etag}"` }),
  });
  const answer = await calls
    .orNull(async (until) => {
      const found = await client.send(command, until);
      // In Node the SDK gives a readable stream.
      const body = found.Body as Readable;
      if (found.ContentLength !== 0) await firstBytes(body, until.abortSignal);
      return { found, body };
    }, signal)
    .catch((error: unknown) => ifChanged(error));
  if (answer === null) return null;
  const { found, body } = answer;
  const total = Number(/\/(\d+)$/.exec(found.ContentRange ?? "")?.[1] ?? found.ContentLength ?? 0);
  return { head: headFrom(Key, found, total), window: window ?? null, body };
}

/** The head of an object from S3's answer; `size` is that of the whole object in bytes. */
function headFrom(
  key: string,
  found: Pick<HeadObjectOutput, "ContentType" | "Metadata" | "ETag" | "LastModified">,
  size: number,
): ObjectHead {
  return {
    ...descriptionOf(key, found.ContentType, found.Metadata),
    key,
    size,
    contentSize: size,
    etag: unquoteTag(found.ETag),
    modifiedAt: found.LastModified?.getTime() ?? 0,
  };
}

function missingBucket(bucket: string): Error {
  return new Error(`there is no bucket ${bucket}`);
}

function refuseWithoutSdk(cause: unknown): never {
  throw new Error(
    "S3 needs the AWS SDK: npm install @aws-sdk/client-s3 @aws-sdk/s3-presigned-post @aws-sdk/s3-request-presigner",
    { cause },
  );
}

/**
 * Waits for the first bytes, so that if the connection breaks before, the call fails and not the
 * answer to the client.
 */
async function firstBytes(body: Readable, signal: AbortSignal): Promise<void> {
  try {
    await once(body, "readable", { signal });
  } catch (error) {
    body.destroy();
    throw error;
  }
}
