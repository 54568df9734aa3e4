// Direct transfers with S3: presigned requests (AWS Signature Version 4).
import type * as Sdk from "@aws-sdk/client-s3";
import { create as contentDisposition } from "content-disposition";
import type { DirectTransfers, SignedRequest } from "../../ports/direct-transfers.js";
import type { ObjectHead } from "../../ports/object-head.js";
import { checkFits } from "./client.js";
import { multipartUploads } from "./multipart.js";
import type { S3Access } from "./upload.js";

/**
 * Presigned requests for a bucket, and uploads in parts. Rejects with `core.validation` if a new
 * object's key is too long.
 */
export function directTransfers(
  access: S3Access,
  Bucket: string,
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
      const command = new sdk.PutObjectCommand({
        Bucket,
        Key,
        ...(contentType === null ? {} : { ContentType: contentType }),
      });
      return signed(
        "PUT",
        command,
        seconds,
        contentType === null ? {} : { "content-type": contentType },
      );
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

    signPart(Key, UploadId, { partNumber: PartNumber }, seconds) {
      return signed(
        "PUT",
        new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber }),
        seconds,
      );
    },
  };
}
