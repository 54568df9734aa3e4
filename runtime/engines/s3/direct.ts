// Direct transfers with S3: presigned requests (AWS Signature Version 4).
import type * as Sdk from "@aws-sdk/client-s3";
import { create as contentDisposition } from "content-disposition";
import type { DirectTransfers, SignedRequest } from "../../ports/direct-transfers.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { checkFits, type S3Options } from "./client.js";
import { multipartUploads } from "./multipart.js";
import { signedHeadersOnly } from "./unsigned-headers.js";
import type { S3Access } from "./upload.js";

/**
 * Presigned requests for a bucket, and uploads in parts. Rejects with `core.validation` if a new
 * object's key is too long, and with `presigned_upload_unsafe` if the server would take more from
 * an upload than was signed.
 */
export function directTransfers(
  access: S3Access,
  { bucket: Bucket, acceptsUnsignedHeaders = false }: S3Options,
  headOf: (key: string, signal?: AbortSignal) => Promise<ObjectHead | null>,
): DirectTransfers {
  const { client, sdk } = access;
  const signed = async (
    method: SignedRequest["method"],
    command: Sdk.GetObjectCommand | Sdk.PutObjectCommand | Sdk.UploadPartCommand,
    seconds: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SignedRequest> => {
    const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
    const signableHeaders = new Set(Object.keys(headers));
    const url = await getSignedUrl(client, command as Sdk.GetObjectCommand, {
      expiresIn: seconds,
      signableHeaders,
    });
    return { url, method, headers };
  };
  const signPut = (Key: string, contentType: string | null, seconds: number) => {
    const typed = contentType === null ? {} : { ContentType: contentType };
    const headers = contentType === null ? {} : { "content-type": contentType };
    return signed("PUT", new sdk.PutObjectCommand({ Bucket, Key, ...typed }), seconds, headers);
  };
  const checkServer = acceptsUnsignedHeaders
    ? async (): Promise<void> => undefined
    : signedHeadersOnly(access, Bucket, (key) => signPut(key, null, 60));

  return {
    ...multipartUploads(access, Bucket, headOf),

    signDownload(head, seconds) {
      const command = new sdk.GetObjectCommand({
        Bucket,
        Key: head.key,
        // As an attachment, so that no browser shows it as a page of the bucket's origin.
        ResponseContentDisposition: contentDisposition(head.filename, { type: "attachment" }),
      });
      return signed("GET", command, seconds);
    },

    async signUpload(Key, { contentType }, seconds) {
      checkFits(Key);
      await checkServer(Key);
      return signPut(Key, contentType, seconds);
    },

    async signForm(Key, { contentType, maxBytes }, seconds) {
      checkFits(Key);
      const { createPresignedPost } = await import("@aws-sdk/s3-presigned-post");
      const typed = contentType === null ? {} : { "Content-Type": contentType };
      const { url, fields } = await createPresignedPost(client, {
        Bucket,
        Key,
        Expires: seconds,
        Fields: typed,
        Conditions: [["content-length-range", 0, maxBytes]],
      });
      return { url, fields };
    },

    async signPart(Key, UploadId, { partNumber: PartNumber }, seconds) {
      await checkServer(Key);
      return signed(
        "PUT",
        new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber }),
        seconds,
      );
    },
  };
}
