// A client of one bucket: calls that end, by their caller's signal or by themselves, and whose faults are codes of the error table.
import type { S3Client } from "@aws-sdk/client-s3";
import { fail, ServiceError, unavailable } from "../../contract/errors.js";

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
  /** How long it is waited for; tests that wait for its end have less. */
  readonly patience?: S3Patience;
}

/** Milliseconds after which S3 counts as silent, and its connection is destroyed. */
export interface S3Patience {
  readonly connect: number;
  /** For the answer of a call that sends no bytes of an object, over all tries. */
  readonly answer: number;
  /** Between two bytes of an object, either way. */
  readonly idle: number;
}

const usualPatience: S3Patience = { connect: 5_000, answer: 10_000, idle: 30_000 };

/** A line of 256 kbit/s. */
const slowestBytesPerMilli = 32;

/** Runs one call of the SDK, which gets the signal that ends it. */
export type S3Call<Answer> = (options: { readonly abortSignal: AbortSignal }) => Promise<Answer>;

export interface S3Calls {
  /**
   * The answer of a call; null where there is nothing. Rejects with the signal's reason, or with S3's fault as a code of
   * the error table, its cause S3's own. The signal counts until the answer has begun: who reads a body destroys it.
   */
  orNull<Answer>(call: S3Call<Answer>, signal?: AbortSignal): Promise<Answer | null>;
  /** The same for a call that sends so many bytes, or has S3 move them: Infinity takes as long as any byte comes. */
  sending<Answer>(call: S3Call<Answer>, bytes: number, signal?: AbortSignal): Promise<Answer>;
}

/** A client of the SDK, with the traps of servers that are not AWS's avoided. */
export function clientFor(
  Client: typeof S3Client,
  { endpoint, region, credentials, patience = usualPatience }: S3Options,
): S3Client {
  return new Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Trailing checksums are refused by servers that do not know them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: patience.connect,
      socketTimeout: patience.idle,
      httpAgent: { maxSockets: 256 },
      httpsAgent: { maxSockets: 256 },
    },
  });
}

/** Calls that end. */
export function callsWithin({ patience = usualPatience }: S3Options): S3Calls {
  const asked = async <Answer>(
    call: S3Call<Answer>,
    signal: AbortSignal | undefined,
    millis: number,
  ): Promise<Answer> => {
    signal?.throwIfAborted();
    const end = new AbortController();
    const gone = (): void => end.abort();
    signal?.addEventListener("abort", gone, { once: true });
    const timer = Number.isFinite(millis) ? setTimeout(gone, millis) : undefined;
    try {
      return await call({ abortSignal: end.signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw end.signal.aborted ? unavailable(error) : translated(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", gone);
    }
  };
  return {
    async orNull(call, signal) {
      try {
        return await asked(call, signal, patience.answer);
      } catch (error) {
        const cause = error instanceof ServiceError ? error.cause : undefined;
        if (["NoSuchKey", "NotFound", "NoSuchUpload"].includes(nameOf(cause))) return null;
        throw error;
      }
    },
    sending: (call, bytes, signal) =>
      asked(call, signal, patience.answer + bytes / slowestBytesPerMilli),
  };
}

/** Null where a call was about a version that another one has replaced. */
export function ifChanged(error: unknown): null {
  if (causeOf(error) === "PreconditionFailed") return null;
  throw error;
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

/** What S3 says of a request, not of itself: whoever asked decides what it means. */
const ofRequest = new Set([
  "NoSuchKey",
  "NotFound",
  "NoSuchUpload",
  "PreconditionFailed",
  "InvalidRange",
  "InvalidArgument",
  "InvalidRequest",
  "InvalidPart",
  "InvalidPartOrder",
  "EntityTooSmall",
  "EntityTooLarge",
  "KeyTooLongError",
  "MetadataTooLarge",
  "MalformedXML",
]);

/**
 * The fault of a call as a code of the error table. What passes once S3, the network or the settings are mended is
 * `core.unavailable`: no answer, refused access, another region, a missing bucket, too many requests, faults of S3.
 */
function translated(error: unknown): unknown {
  const isOurs = error instanceof TypeError || error instanceof ReferenceError;
  if (error instanceof ServiceError || !(error instanceof Error) || isOurs) return error;
  return ofRequest.has(nameOf(error))
    ? fail("core.infrastructure", {}, { cause: error })
    : unavailable(error);
}

/** The code of a fault: `NoSuchKey`, `PreconditionFailed`. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** What S3 itself said of a fault. */
export function causeOf(error: unknown): string {
  return error instanceof ServiceError ? nameOf(error.cause) : "";
}

/** An entity tag without its quotes; some servers send none. */
export function unquoted(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}
