// A client of one bucket, and its faults as codes of the error table.
import type { S3Client } from "@aws-sdk/client-s3";
import { fail, ServiceError } from "../../contract/errors.js";

/** Where a bucket is, and who asks. */
export interface S3Options {
  readonly bucket: string;
  /** Undefined is AWS. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** Undefined has the SDK look for credentials where it usually does. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
}

/** A client of the SDK, with the traps of servers that are not AWS's avoided. */
export function clientFor(
  Client: typeof S3Client,
  { endpoint, region, credentials }: S3Options,
): S3Client {
  return new Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Trailing checksums are refused by servers that do not know them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5_000,
      socketTimeout: 60_000,
      httpAgent: { maxSockets: 256 },
    },
  });
}

/** Whether S3 can have a key: 1 024 bytes, with what stands before the client's part of it. */
export function fits(key: string): boolean {
  return Buffer.byteLength(key) <= 1024;
}

/** Throws `core.validation` where S3 cannot have the key. */
export function checkFits(key: string): void {
  if (fits(key)) return;
  const message = "must be shorter: with the storage and the tenant it exceeds 1024 bytes";
  throw fail("core.validation", { errors: [{ path: "/key", keyword: "maxLength", message }] });
}

/** Runs a call; where there is nothing, null. Other faults become `core.unavailable` or `core.infrastructure`. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (["NoSuchKey", "NotFound", "NoSuchUpload"].includes(nameOf(error))) return null;
    throw translated(error);
  }
}

/** The fault of a call as a code of the error table; one that is one already stays. */
export function translated(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata
    ?.httpStatusCode;
  const isOver = status === undefined ? /TimeoutError|ECONN|EPIPE|socket/i : /SlowDown/;
  const isUnavailable =
    isOver.test(`${error.name} ${error.message} ${"code" in error ? String(error.code) : ""}`) ||
    (status !== undefined && status >= 500);
  return isUnavailable
    ? fail("core.unavailable", {}, { cause: error, headers: { "Retry-After": "1" } })
    : fail("core.infrastructure", {}, { cause: error });
}

/** The code of a fault: `NoSuchKey`, `PreconditionFailed`. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** An entity tag without its quotes; some servers send none. */
export function unquoted(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}
