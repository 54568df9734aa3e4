// The port of direct transfers: signed requests that bypass operations, and uploads in parts
// (decisions.md "Object storage").
import type { ObjectDescription, ObjectHead } from "./object-head.js";

/** A request that anybody who has it may send until it expires. */
export interface SignedRequest {
  readonly url: string;
  readonly method: "GET" | "PUT";
  /** Headers that must be sent with it. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * An HTML form that anybody who has it may send until it expires: first these fields, then the
 * file.
 */
export interface SignedForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface UploadLimits {
  /** The only content type that is accepted; null accepts any. */
  readonly contentType: string | null;
  readonly maxBytes: number;
}

export interface UploadedPart {
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  readonly size: number;
}

/** Transfers that bypass operations. Errors and abort signals work as in `ObjectStore`. */
export interface DirectTransfers {
  /** Signs a download of the object, for so many seconds. */
  signDownload(head: ObjectHead, seconds: number): Promise<SignedRequest>;
  /**
   * Signs an upload, for so many seconds. `maxBytes` only holds if the engine can enforce it; a
   * presigned PUT of S3 can't.
   */
  signUpload(key: string, limits: UploadLimits, seconds: number): Promise<SignedRequest>;
  /** Signs a form that accepts a file of up to `maxBytes`, for so many seconds. */
  signForm(key: string, limits: UploadLimits, seconds: number): Promise<SignedForm>;
  /** Begins an upload in parts; returns its id. */
  begin(key: string, description: ObjectDescription, signal?: AbortSignal): Promise<string>;
  /**
   * Signs an upload of one part, for so many seconds. If the engine can, it holds all parts
   * together to `maxBytes`.
   */
  signPart(
    key: string,
    uploadId: string,
    part: { readonly partNumber: number; readonly maxBytes: number },
    seconds: number,
  ): Promise<SignedRequest>;
  /** The minimum size of every part except the last, in bytes. */
  readonly leastPartBytes: number;
  /**
   * Stores a part and returns its tag; only in engines whose signed requests the service answers
   * itself. Throws `core.not_found` if there is no such upload, and `upload_too_large` once its
   * parts together exceed `maxBytes`.
   */
  receivePart?(
    key: string,
    uploadId: string,
    part: { readonly partNumber: number; readonly maxBytes: number },
    body: AsyncIterable<Buffer>,
    signal?: AbortSignal,
  ): Promise<string>;
  /** The parts that have arrived, in order; null if the upload doesn't exist or has ended. */
  parts(
    key: string,
    uploadId: string,
    signal?: AbortSignal,
  ): Promise<readonly UploadedPart[] | null>;
  /**
   * Makes the object from these parts, in their order. Null if there is no such upload; throws
   * `upload_parts_invalid`.
   */
  complete(
    key: string,
    uploadId: string,
    parts: readonly Pick<UploadedPart, "partNumber" | "etag">[],
    signal?: AbortSignal,
  ): Promise<ObjectHead | null>;
  /** Ends the upload and removes its parts; does nothing if it has ended. */
  abort(key: string, uploadId: string, signal?: AbortSignal): Promise<void>;
}
