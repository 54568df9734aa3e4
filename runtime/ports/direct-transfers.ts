// The port of direct transfers: addresses that are signed for one request, and uploads in parts (decisions.md "Object storage").
import type { ObjectDescription, ObjectHead } from "./object-head.js";

/** A request that whoever has it may send, until it expires. */
export interface SignedRequest {
  readonly url: string;
  readonly method: "GET" | "PUT";
  /** To be sent with it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A form that whoever has it may send, with the fields before the file. */
export interface SignedForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface UploadLimits {
  readonly contentType: string | null;
  readonly maxBytes: number;
}

export interface UploadedPart {
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  readonly size: number;
}

/** Bytes that do not pass through operations. Faults and signals are as those of the object store. */
export interface DirectTransfers {
  signDownload(head: ObjectHead, seconds: number): Promise<SignedRequest>;
  /** The size is held to where the engine can: a presigned PUT of S3 cannot. */
  signUpload(key: string, limits: UploadLimits, seconds: number): Promise<SignedRequest>;
  /** A form that takes a file of so many bytes at most. */
  signForm(key: string, limits: UploadLimits, seconds: number): Promise<SignedForm>;
  /** Begins an upload in parts; returns its id. */
  begin(key: string, description: ObjectDescription, signal?: AbortSignal): Promise<string>;
  signPart(
    key: string,
    uploadId: string,
    part: { readonly partNumber: number; readonly maxBytes: number },
    seconds: number,
  ): Promise<SignedRequest>;
  /** Bytes that every part but the last has at least. */
  readonly leastPartBytes: number;
  /**
   * Takes a part in, where the service answers signed requests itself; returns its tag. Throws `core.not_found`, and
   * `upload_too_large` at the byte by which the parts of the upload would have more than `maxBytes` together.
   */
  receivePart?(
    key: string,
    uploadId: string,
    part: { readonly partNumber: number; readonly maxBytes: number },
    body: AsyncIterable<Buffer>,
    signal?: AbortSignal,
  ): Promise<string>;
  /** The parts that have arrived, in order, or null where there is no such upload (any more). */
  parts(
    key: string,
    uploadId: string,
    signal?: AbortSignal,
  ): Promise<readonly UploadedPart[] | null>;
  /** Makes the object of the parts, which are in order. Null where there is no such upload; throws `upload_parts_invalid`. */
  complete(
    key: string,
    uploadId: string,
    parts: readonly Pick<UploadedPart, "partNumber" | "etag">[],
    signal?: AbortSignal,
  ): Promise<ObjectHead | null>;
  /** Gives the upload up; nothing where it has ended. */
  abort(key: string, uploadId: string, signal?: AbortSignal): Promise<void>;
}
