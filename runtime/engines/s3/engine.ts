// The production object engine: a bucket of S3 (AWS, Ceph RGW, MinIO, R2 …), streamed both ways.
import type { Readable } from "node:stream";
import type { HeadObjectOutput } from "@aws-sdk/client-s3";
import { fail } from "../../contract/errors.js";
import type { ObjectHead } from "../../storage/object-head.js";
import type { ObjectStore } from "../../storage/port.js";
import { checkFits, clientFor, fits, nameOf, orNull, unquoted, type S3Options } from "./client.js";
import { descriptionOf, metadataOf } from "./description.js";
import { directTransfers, sweepUploads } from "./direct.js";
import { upload } from "./upload.js";

/** Opens a bucket. Rejects where it does not answer. */
export async function openS3Store(options: S3Options): Promise<ObjectStore> {
  const sdk = await import("@aws-sdk/client-s3").catch(missing);
  const client = clientFor(sdk.S3Client, options);
  const { bucket: Bucket } = options;
  await client.send(new sdk.HeadBucketCommand({ Bucket })).catch((cause: unknown) => {
    throw new Error(`the bucket ${Bucket} does not answer: ${nameOf(cause)}`, { cause });
  });

  const headOf = async (Key: string): Promise<ObjectHead | null> => {
    if (!fits(Key)) return null;
    const found = await orNull(client.send(new sdk.HeadObjectCommand({ Bucket, Key })));
    return found === null ? null : headFrom(Key, found, found.ContentLength ?? 0);
  };

  return {
    head: headOf,

    async open(Key, { window, etag } = {}) {
      if (!fits(Key)) return null;
      const command = new sdk.GetObjectCommand({
        Bucket,
        Key,
        ...(window === undefined ? {} : { Range: `bytes=${window.first}-${window.last}` }),
        ...(etag === undefined ? {} : { IfMatch: `"${etag}"` }),
      });
      const found = await orNull(client.send(command)).catch((error: unknown) => {
        const isOther = error instanceof Error && nameOf(error.cause) === "PreconditionFailed";
        if (isOther) return null;
        throw error;
      });
      if (found === null) return null;
      // In Node the SDK gives a readable stream.
      const body = found.Body as Readable;
      const total = Number(
        /\/(\d+)$/.exec(found.ContentRange ?? "")?.[1] ?? found.ContentLength ?? 0,
      );
      return { head: headFrom(Key, found, total), window: window ?? null, body };
    },

    async write(Key, body, description, signal) {
      checkFits(Key);
      const target = {
        Bucket,
        Key,
        ContentType: description.contentType,
        Metadata: { ...metadataOf(description) },
      };
      await upload({ client, sdk }, target, body, signal);
      const head = await headOf(Key);
      if (head === null) throw fail("core.concurrency");
      return head;
    },

    async remove(Key) {
      if ((await headOf(Key)) === null) return false;
      await orNull(client.send(new sdk.DeleteObjectCommand({ Bucket, Key })));
      return true;
    },

    async *keys(Prefix, after) {
      for (let StartAfter = after ?? undefined; ;) {
        const command = new sdk.ListObjectsV2Command({ Bucket, Prefix, StartAfter });
        const page = await orNull(client.send(command));
        for (const { Key } of page?.Contents ?? []) {
          if (Key === undefined) continue;
          StartAfter = Key;
          yield Key;
        }
        if (page?.IsTruncated !== true) return;
      }
    },

    sweep: (prefix, olderThanSeconds) =>
      sweepUploads(client, sdk, Bucket, prefix, olderThanSeconds),

    direct: directTransfers(client, sdk, Bucket, headOf),

    async close() {
      client.destroy();
    },
  };
}

/** What S3 says of an object of so many bytes in all. */
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
    etag: unquoted(found.ETag),
    modifiedAt: found.LastModified?.getTime() ?? 0,
  };
}

function missing(cause: unknown): never {
  throw new Error(
    "S3 needs the AWS SDK: npm install @aws-sdk/client-s3 @aws-sdk/s3-presigned-post @aws-sdk/s3-request-presigner",
    { cause },
  );
}
