// Copies within a bucket: S3 copies the bytes itself, in parts if there are too many for one
// request.
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import type * as Sdk from "@aws-sdk/client-s3";
import { checkFits, ifChanged } from "./client.js";
import { metadataOf } from "./description.js";
import type { S3Access } from "./upload.js";

/**
 * Bytes that one request copies at most
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html).
 */
const mostBytes = 5 * 1024 ** 3;
/**
 * Bytes of a part. An upload has at most 10 000 parts, so this can copy objects of almost 10 TiB.
 */
const partBytes = 1024 ** 3;

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly description: ObjectDescription;
  readonly etag?: string;
  readonly signal: AbortSignal;
}

/**
 * Copies one version to a key, with a new description. Null if there is no object, or another
 * version. Throws `core.validation` if the new key is too long.
 */
export async function copyObject(
  access: S3Access,
  Bucket: string,
  headOf: (key: string, signal?: AbortSignal) => Promise<ObjectHead | null>,
  { from, to, description, etag, signal }: Copy,
): Promise<ObjectHead | null> {
  checkFits(to);
  const head = await headOf(from, signal);
  if (head === null || (etag !== undefined && head.etag !== etag)) return null;
  const source = {
    CopySource: `${Bucket}/${from.split("/").map(encodeURIComponent).join("/")}`,
    CopySourceIfMatch: `"${head.etag}"`,
  };
  const target = {
    Bucket,
    Key: to,
    ContentType: description.contentType,
    Metadata: { ...metadataOf(description) },
  };
  const copying =
    head.size <= mostBytes
      ? copyWhole(access, target, source, head.size, signal)
      : copyParts(access, target, source, head.size, signal);
  const isCopied = await copying.then(() => true, ifChanged);
  return isCopied === null ? null : headOf(to, signal);
}

type Target = Required<
  Pick<Sdk.PutObjectCommandInput, "Bucket" | "Key" | "ContentType" | "Metadata">
>;
type Source = Required<Pick<Sdk.CopyObjectCommandInput, "CopySource" | "CopySourceIfMatch">>;

async function copyWhole(
  { client, sdk, calls }: S3Access,
  target: Target,
  source: Source,
  bytes: number,
  signal: AbortSignal,
): Promise<void> {
  const command = new sdk.CopyObjectCommand({
    ...target,
    ...source,
    MetadataDirective: "REPLACE",
  });
  await calls.sending((until) => client.send(command, until), bytes, signal);
}

/** If a part fails, aborts the upload, which deletes the parts copied so far. */
async function copyParts(
  { client, sdk, calls }: S3Access,
  target: Target,
  source: Source,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  const { Bucket, Key } = target;
  const beginning = new sdk.CreateMultipartUploadCommand(target);
  const begun = await calls.sending((until) => client.send(beginning, until), 0, signal);
  const upload = { Bucket, Key, UploadId: begun.UploadId };
  try {
    const Parts: Sdk.CompletedPart[] = [];
    for (let first = 0; first < size; first += partBytes) {
      const last = Math.min(first + partBytes, size) - 1;
      const PartNumber = Parts.length + 1;
      const range = { CopySourceRange: `bytes=${first}-${last}`, PartNumber };
      const command = new sdk.UploadPartCopyCommand({ ...upload, ...source, ...range });
      const answer = await calls.sending((until) => client.send(command, until), partBytes, signal);
      Parts.push({ PartNumber, ETag: answer.CopyPartResult?.ETag });
    }
    const ending = new sdk.CompleteMultipartUploadCommand({
      ...upload,
      MultipartUpload: { Parts },
    });
    await calls.sending((until) => client.send(ending, until), Infinity, signal);
  } catch (error) {
    const command = new sdk.AbortMultipartUploadCommand(upload);
    await calls.orNull((until) => client.send(command, until)).catch(() => undefined);
    throw error;
  }
}
