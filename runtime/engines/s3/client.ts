// A client of one bucket. Every call ends, by the caller's signal or a time limit, and faults are
// codes of the error table.
import type { S3Client } from "@aws-sdk/client-s3";
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { noteWaiting } from "../../ports/lifetime.js";
import { startTimer } from "../../ports/ambient.js";

/** Where a bucket is, and how to sign in. */
export interface S3Options {
  readonly bucket: string;
  /** Undefined means AWS. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** Undefined means that the SDK looks for credentials in its usual places. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  /**
   * Whether uploads are presigned also where the server takes headers that nobody has signed; they
   * are refused unless it is said.
   */
  readonly acceptsUnsignedHeaders?: boolean;
  /** Time limits. Tests set shorter ones. */
  readonly patience?: S3Patience;
}

/** Milliseconds after which S3 counts as silent and a call is given up. */
export interface S3Patience {
  readonly connect: number;
  /** For the answer to a call that sends no bytes of an object, including retries. */
  readonly answer: number;
  /** Between two bytes of an object, in either direction. */
  readonly idle: number;
}

const usualPatience: S3Patience = { connect: 5_000, answer: 10_000, idle: 30_000 };

/** The slowest line that a transfer gets time for: 256 kbit/s. */
const slowestBytesPerMilli = 32;

/** One call of the SDK, which must be given the signal that ends it. */
export type S3Call<Answer> = (options: { readonly abortSignal: AbortSignal }) => Promise<Answer>;

export interface S3Calls {
  /**
   * The answer to a call; null if the key or the upload does not exist. Rejects with the signal's
   * reason, or with S3's fault as a code of the error table and as its cause. The signal only
   * counts until this resolves: to stop reading a body, destroy it.
   */
  orNull<Answer>(call: S3Call<Answer>, signal?: AbortSignal): Promise<Answer | null>;
  /**
   * The answer to a call that sends `bytes` bytes or makes S3 copy them: more bytes get more time,
   * and with Infinity the call lasts as long as bytes keep coming. Rejects as `orNull` does, and
   * also if the key or the upload does not exist.
   */
  sending<Answer>(call: S3Call<Answer>, bytes: number, signal?: AbortSignal): Promise<Answer>;
}

/** A client of the SDK, set up so that it also works with servers other than AWS. */
export function clientFor(
  Client: typeof S3Client,
  { endpoint, region, credentials, patience = usualPatience }: S3Options,
): S3Client {
  return new Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Some servers don't know the trailing checksums that the SDK sends by default, and refuse
    // them.
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

/** Runs calls with time limits and signals, and translates their faults. */
export function callsWithin({ patience = usualPatience }: S3Options): S3Calls {
  const asked = async <Answer>(
    call: S3Call<Answer>,
    signal: AbortSignal | undefined,
    millis: number,
  ): Promise<Answer> => {
    signal?.throwIfAborted();
    const end = new AbortController();
    const answered = noteWaiting(signal, "the object store");
    const gone = (): void => end.abort();
    signal?.addEventListener("abort", gone, { once: true });
    const timer = Number.isFinite(millis) ? startTimer(gone, millis) : undefined;
    try {
      return await call({ abortSignal: end.signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw end.signal.aborted ? unavailable(error) : translateFault(error);
    } finally {
      answered();
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

/**
 * Null if a call failed because another version has replaced the one it was about; throws any other
 * error again.
 */
export function ifChanged(error: unknown): null {
  if (causeOf(error) === "PreconditionFailed") return null;
  throw error;
}

/** Whether S3 accepts a key: at most 1 024 bytes, including the prefix before the client's part. */
export function fits(key: string): boolean {
  return Buffer.byteLength(key) <= 1024;
}

/** Throws `core.validation` if S3 doesn't accept the key. */
export function checkFits(key: string): void {
  if (fits(key)) return;
  const message = "must be shorter: with the storage and the tenant it exceeds 1024 bytes";
  throw fail("core.validation", { errors: [{ path: "/key", keyword: "maxLength", message }] });
}

/**
 * Faults of the request, not of S3. The caller may know what they mean; otherwise they are
 * `core.infrastructure`.
 */
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
 * Translates the fault of a call to a code of the error table. Faults that pass once S3, the
 * network or the settings are fixed are `core.unavailable`: no answer, refused access, a wrong
 * region, a missing bucket, too many requests, faults of S3.
 */
function translateFault(error: unknown): unknown {
  const isOurs = error instanceof TypeError || error instanceof ReferenceError;
  if (error instanceof ServiceError || !(error instanceof Error) || isOurs) return error;
  return ofRequest.has(nameOf(error))
    ? fail("core.infrastructure", {}, { cause: error })
    : unavailable(error);
}

/** The code of S3's fault, such as `NoSuchKey`; "" for what is no error. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** The code of S3's fault behind an error of the error table; "" if there is none. */
export function causeOf(error: unknown): string {
  return error instanceof ServiceError ? nameOf(error.cause) : "";
}

/** An entity tag without its quotes, which some servers don't send; "" if there is no tag. */
export function unquoteTag(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}
