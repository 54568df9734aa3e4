// Uploads of unknown length to S3 in constant memory: buffers are filled, sent and used again.
import type * as Sdk from "@aws-sdk/client-s3";
import type { S3Calls, S3Call } from "./client.js";

/** Bytes of a part. An upload has at most 10 000 parts, so an object has at most 80 GB. */
const partBytes = 8 * 1024 * 1024;
/** Parts of an upload in memory: one is filled while the others are being sent. */
const mostBuffers = 3;

/**
 * The client, the SDK's module and the calls with time limits, which all functions of the engine
 * share.
 */
export interface S3Access {
  readonly client: Sdk.S3Client;
  readonly sdk: typeof Sdk;
  readonly calls: S3Calls;
}

/** Where an object goes, and what S3 stores about it besides its bytes. */
export type UploadTarget = Required<
  Pick<Sdk.PutObjectCommandInput, "Bucket" | "Key" | "ContentType" | "Metadata">
>;

/**
 * Sends a body as one object: in one request if it fits into a part, otherwise in parts. Rejects
 * with what the body throws, the signal's reason, or S3's fault as a code of the error table; parts
 * that were sent are then deleted.
 */
export async function upload(
  { client, sdk, calls }: S3Access,
  target: UploadTarget,
  body: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const asked = <Answer>(call: S3Call<Answer>, bytes: number): Promise<Answer> =>
    calls.sending(call, bytes, either);
  const { Bucket, Key } = target;
  const sending = new Set<Promise<void>>();
  const parts: Sdk.CompletedPart[] = [];
  const free: Buffer[] = [];
  let uploadId: string | undefined;
  let count = 0;
  let buffer: Buffer = Buffer.alloc(0);
  let filled = 0;

  const send = async (full: Buffer, bytes: number, PartNumber: number): Promise<void> => {
    const Body = full.subarray(0, bytes);
    const command = new sdk.UploadPartCommand({
      Bucket,
      Key,
      UploadId: uploadId,
      PartNumber,
      Body,
    });
    const { ETag } = await asked((until) => client.send(command, until), bytes);
    parts[PartNumber - 1] = { PartNumber, ETag };
    free.push(full);
  };
  const flush = async (): Promise<void> => {
    const beginning = new sdk.CreateMultipartUploadCommand(target);
    uploadId ??= (await asked((until) => client.send(beginning, until), 0)).UploadId;
    const one = send(buffer, filled, (count += 1));
    sending.add(one);
    // A failed part stays in the set, so that the next wait rejects with its error.
    one.then(
      () => sending.delete(one),
      () => undefined,
    );
    if (sending.size === mostBuffers) await Promise.race(sending);
    buffer = free.pop() ?? Buffer.allocUnsafeSlow(partBytes);
    filled = 0;
  };

  try {
    signal.throwIfAborted();
    for await (const chunk of body) {
      signal.throwIfAborted();
      for (let at = 0; at < chunk.length;) {
        if (filled === partBytes) await flush();
        const taken = Math.min(chunk.length - at, partBytes - filled);
        buffer = roomIn(buffer, filled, taken);
        filled += chunk.copy(buffer, filled, at, at + taken);
        at += taken;
      }
    }
    signal.throwIfAborted();
    if (uploadId === undefined) {
      const command = new sdk.PutObjectCommand({ ...target, Body: buffer.subarray(0, filled) });
      await asked((until) => client.send(command, until), filled);
      return;
    }
    await flush();
    await Promise.all(sending);
    const command = new sdk.CompleteMultipartUploadCommand({
      Bucket,
      Key,
      UploadId: uploadId,
      MultipartUpload: { Parts: parts },
    });
    await asked((until) => client.send(command, until), Infinity);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(sending);
    const command = new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId: uploadId });
    // If this fails, too, `sweep` aborts the upload later.
    if (uploadId !== undefined)
      await calls.orNull((until) => client.send(command, until)).catch(() => undefined);
    throw error;
  }
}

/**
 * A buffer with the `filled` bytes and room for `more`: the same one, or a larger copy. An upload's
 * first buffer grows, since most objects are small.
 */
function roomIn(buffer: Buffer, filled: number, more: number): Buffer {
  if (buffer.length >= filled + more) return buffer;
  const larger = Buffer.allocUnsafeSlow(
    Math.min(partBytes, Math.max(filled + more, 2 * buffer.length)),
  );
  buffer.copy(larger, 0, 0, filled);
  return larger;
}
