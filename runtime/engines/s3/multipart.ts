// Multipart uploads of S3: beginning, listing parts, completing and aborting. Clients send the
// parts to S3 directly.
import { fail } from "../../contract/errors.js";
import type { DirectTransfers, UploadedPart } from "../../ports/direct-transfers.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { causeOf, checkFits, unquoteTag } from "./client.js";
import { metadataOf } from "./description.js";
import type { S3Access } from "./upload.js";
import { epochMillis } from "../../ports/ambient.js";

/** Faults which mean that the given list of parts is wrong. */
const partFaults = [
  "InvalidPart",
  "InvalidPartOrder",
  "EntityTooSmall",
  "InvalidRequest",
  "MalformedXML",
];

/** Uploads in parts. `headOf` reads the head of the object that an upload has become. */
export function multipartUploads(
  { client, sdk, calls }: S3Access,
  Bucket: string,
  headOf: (key: string, signal?: AbortSignal) => Promise<ObjectHead | null>,
): Pick<DirectTransfers, "begin" | "leastPartBytes" | "parts" | "complete" | "abort"> {
  return {
    async begin(Key, description, signal) {
      checkFits(Key);
      const command = new sdk.CreateMultipartUploadCommand({
        Bucket,
        Key,
        ContentType: description.contentType,
        Metadata: { ...metadataOf(description) },
      });
      const begun = await calls.orNull((until) => client.send(command, until), signal);
      if (begun?.UploadId === undefined) throw fail("core.infrastructure");
      return begun.UploadId;
    },

    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
    leastPartBytes: 5 * 1024 * 1024,

    async parts(Key, UploadId, signal) {
      const parts: UploadedPart[] = [];
      for (let PartNumberMarker: string | undefined; ;) {
        const command = new sdk.ListPartsCommand({ Bucket, Key, UploadId, PartNumberMarker });
        const page = await calls.orNull((until) => client.send(command, until), signal);
        if (page === null) return null;
        for (const { PartNumber, ETag, Size } of page.Parts ?? [])
          parts.push({ partNumber: PartNumber ?? 0, etag: unquoteTag(ETag), size: Size ?? 0 });
        if (page.IsTruncated !== true) return parts;
        PartNumberMarker = page.NextPartNumberMarker;
      }
    },

    async complete(Key, UploadId, parts, signal) {
      const Parts = parts.map(({ partNumber, etag }) => ({
        PartNumber: partNumber,
        ETag: `"${etag}"`,
      }));
      const command = new sdk.CompleteMultipartUploadCommand({
        Bucket,
        Key,
        UploadId,
        MultipartUpload: { Parts },
      });
      try {
        // S3 may need minutes to join a large object, and sends spaces in the meantime.
        await calls.sending((until) => client.send(command, until), Infinity, signal);
      } catch (error) {
        const reason = causeOf(error);
        if (reason === "NoSuchUpload") return null;
        if (partFaults.includes(reason)) throw fail("upload_parts_invalid", { reason });
        throw error;
      }
      return headOf(Key, signal);
    },

    async abort(Key, UploadId, signal) {
      const command = new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      await calls.orNull((until) => client.send(command, until), signal);
    },
  };
}

/**
 * Aborts up to `limit` uploads below a prefix that began more than `olderThanSeconds` ago. Returns
 * how many.
 */
export async function sweepUploads(
  { client, sdk, calls }: S3Access,
  Bucket: string,
  Prefix: string,
  olderThanSeconds: number,
  limit: number,
): Promise<number> {
  const before = epochMillis() - olderThanSeconds * 1000;
  let swept = 0;
  let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } = {};
  for (;;) {
    const command = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix, ...marker });
    const page = await calls.orNull((until) => client.send(command, until));
    for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
      if ((Initiated?.getTime() ?? 0) > before) continue;
      const giveUp = new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      await calls.orNull((until) => client.send(giveUp, until));
      swept += 1;
      if (swept === limit) return swept;
    }
    if (page?.IsTruncated !== true) return swept;
    const { NextKeyMarker, NextUploadIdMarker } = page;
    marker = {
      ...(NextKeyMarker === undefined ? {} : { KeyMarker: NextKeyMarker }),
      ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
    };
  }
}
