// Uploads files in parts, directly to the object store: in parallel, with progress, and resumable.
import { ofCaller } from "./caller.js";
import { ApiError, errorOf, retryAfterMillis, type CallOptions, type Client } from "./core.js";
import { backOffMillis } from "./refresh.js";
import { followSignal, pause, within as timed } from "./signals.js";

/** An upload session, as the service gave it. Keep it to resume later. */
export interface KeptSession {
  readonly key: string;
  readonly upload_id: string;
  readonly expires_at: string;
  readonly token: string;
  readonly content_type?: string;
}

interface Part {
  readonly part_number: number;
  readonly etag: string;
  readonly size?: number;
}

type Operation<Input, Result> = (
  client: Client,
  input: Input,
  options?: CallOptions,
) => Promise<Result>;

/** The namespace of a storage that takes uploads in parts, such as `files`. */
export interface PartwiseStorage<Head> {
  readonly beginUpload: Operation<
    { readonly key: string; readonly content_type?: string },
    KeptSession
  >;
  readonly presignPart: Operation<
    { readonly session: KeptSession; readonly part_number: number; readonly expires_in: number },
    {
      readonly url: string;
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  >;
  readonly listParts: Operation<
    { readonly session: KeptSession },
    { readonly parts: readonly Part[] }
  >;
  readonly completeUpload: Operation<
    { readonly session: KeptSession; readonly parts: readonly Part[] },
    Head
  >;
}

export interface UploadOptions {
  readonly key: string;
  /** That of the file where left out, if it has one. */
  readonly contentType?: string;
  /**
   * Of each part but the last; 8 MiB where left out (more of a file above 80 GB), 5 MiB at least on
   * S3.
   */
  readonly partBytes?: number;
  /** Parts that go up at once; 3 where left out. */
  readonly parallel?: number;
  readonly signal?: AbortSignal;
  /** Whose upload it is; that of whoever is signed in where left out. */
  readonly caller?: string | null;
  /**
   * The session of an earlier try: its parts aren't sent again. If it is over, a new one begins.
   */
  readonly session?: KeptSession;
  /** Called with the session, a new one or the given one. Store it, and a later try can resume. */
  readonly onSession?: (session: KeptSession) => void;
  /** Told the bytes that are there, after each part. */
  readonly onProgress?: (sent: number, total: number) => void;
}

const mebibyte = 1024 * 1024;
/** Parts that an upload may have. */
const maxParts = 10_000;
/**
 * A part may take a minute, or as long as it takes all that go up at once over a line of 256
 * kbit/s.
 */
const [leastMillis, slowestBytesPerMilli] = [60_000, 32];
/** How often a part is tried again. */
const retries = 3;

/**
 * Uploads a file in parts; resolves with its metadata. Throws `ApiError`. Finished parts stay, and
 * a call with the same session, file and size of parts resumes after them.
 */
export async function upload<Head>(
  client: Client,
  storage: PartwiseStorage<Head>,
  file: Blob,
  options: UploadOptions,
): Promise<Head> {
  // Once it has ended, nothing of it goes on, and nothing waits for the caller's signal.
  const own = followSignal(options.signal);
  try {
    return await uploadParts(client, storage, file, options, own.signal);
  } finally {
    own.abort();
  }
}

async function uploadParts<Head>(
  client: Client,
  storage: PartwiseStorage<Head>,
  file: Blob,
  options: UploadOptions,
  signal: AbortSignal,
): Promise<Head> {
  const { onProgress, parallel = 3 } = options;
  const partBytes = options.partBytes ?? Math.max(8 * mebibyte, Math.ceil(file.size / maxParts));
  for (const [name, value] of Object.entries({ partBytes, parallel }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new ApiError("client.invalid", `${name} is a whole number from 1, not ${value}`);
  const { caller } = ofCaller(client, options);
  const within = { signal, ...(caller === undefined ? {} : { caller }) };
  const count = Math.max(1, Math.ceil(file.size / partBytes));
  const sizeOf = (number: number): number =>
    Math.min(number * partBytes, file.size) - (number - 1) * partBytes;
  const fits = ({ part_number: number, size }: Part): boolean =>
    number <= count && (size === undefined || size === sizeOf(number));
  // Any part but the last tells whether an earlier try cut the file as this one does; that may have
  // its size by chance. Where no sizes are told, it is the first.
  const isCutAlike = (parts: readonly Part[]): boolean =>
    parts.some(
      (part) =>
        fits(part) &&
        (part.part_number === 1 || (part.part_number < count && part.size !== undefined)),
    );
  const { session, there } = await sessionOf(
    client,
    storage,
    { ...options, contentType: options.contentType ?? file.type },
    isCutAlike,
    within,
  );
  options.onSession?.(session);
  const done = new Map(there.filter(fits).map((part) => [part.part_number, part]));
  let sent = [...done.keys()].reduce((sum, number) => sum + sizeOf(number), 0);
  onProgress?.(sent, file.size);
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => !done.has(number),
  );
  const millis = Math.max(leastMillis, (partBytes * parallel) / slowestBytesPerMilli);
  const work = async (): Promise<void> => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const part = file.slice((number - 1) * partBytes, number * partBytes);
      const asked = { session, number, part, millis };
      const etag = await put(client, storage, asked, within);
      done.set(number, { part_number: number, etag });
      sent += part.size;
      onProgress?.(sent, file.size);
    }
  };
  // Where one part fails, the others are of no use.
  await Promise.all(Array.from({ length: Math.min(parallel, count) }, work));
  const parts = [...done.values()]
    .sort((left, right) => left.part_number - right.part_number)
    .map(({ part_number, etag }) => ({ part_number, etag }));
  return storage.completeUpload(client, { session, parts }, within);
}

/** The session to resume, with its parts; a new one if the file was cut differently. */
async function sessionOf(
  client: Client,
  storage: PartwiseStorage<unknown>,
  { key, contentType, session }: UploadOptions & { readonly contentType: string },
  isCutAlike: (parts: readonly Part[]) => boolean,
  within: CallOptions,
): Promise<{ readonly session: KeptSession; readonly there: readonly Part[] }> {
  if (session !== undefined && session.key !== key)
    throw new ApiError("client.upload_refused", `the session is that of ${session.key}`);
  if (session !== undefined)
    try {
      const { parts } = await storage.listParts(client, { session }, within);
      if (parts.length === 0 || isCutAlike(parts)) return { session, there: parts };
    } catch (error) {
      // It was completed or given up, or its time is over.
      const hasEnded = ["core.not_found", "upload_session_invalid"];
      if (!(error instanceof ApiError && hasEnded.includes(error.code))) throw error;
    }
  const asked = { key, ...(contentType === "" ? {} : { content_type: contentType }) };
  return { session: await storage.beginUpload(client, asked, within), there: [] };
}

/** The service's error for a refused part; undefined if the store answered in another format. */
async function refusalOf(response: Response): Promise<ApiError | undefined> {
  const text = await response.text();
  try {
    return errorOf(JSON.parse(text), response);
  } catch {
    return undefined;
  }
}

/** Uploads one part, retrying if the connection breaks. Returns its entity tag. */
async function put(
  client: Client,
  storage: PartwiseStorage<unknown>,
  {
    session,
    number,
    part,
    millis,
  }: {
    readonly session: KeptSession;
    readonly number: number;
    readonly part: Blob;
    /** How long a try may take. */
    readonly millis: number;
  },
  within: CallOptions & { readonly signal: AbortSignal },
): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    const asked = { session, part_number: number, expires_in: 900 };
    const { url, method, headers } = await storage.presignPart(client, asked, within);
    let afterMillis: number | undefined;
    try {
      const send = async (signal: AbortSignal) => {
        const response = await (client.fetch ?? fetch)(url, {
          method,
          headers,
          body: part,
          signal,
        });
        if (!response.ok) return { response, refusal: await refusalOf(response) };
        await response.body?.cancel();
        return { response };
      };
      const { response, refusal } = await timed(millis, send, within.signal);
      const etag = response.headers.get("etag");
      afterMillis = retryAfterMillis(response);
      if (response.ok && etag !== null) return etag;
      if (response.ok)
        throw new ApiError(
          "client.upload_refused",
          `the answer to part ${number} shows no ETag: the store's CORS rules have to expose it`,
        );
      if (attempt >= retries || (response.status < 500 && response.status !== 429))
        throw new ApiError(
          "client.upload_refused",
          `part ${number} was refused${refusal === undefined ? "" : `: ${refusal.message}`}`,
          { status: response.status, context: refusal?.context, cause: refusal },
        );
    } catch (error) {
      // A part that takes too long is tried again.
      if (error instanceof ApiError && error.code !== "client.timeout") throw error;
      if (within.signal.aborted)
        throw new ApiError("client.aborted", "the upload was given up", { cause: error });
      if (attempt >= retries)
        throw new ApiError("client.network", `part ${number} did not arrive`, { cause: error });
    }
    // Where it is given up meanwhile, the next call says so.
    await pause(afterMillis ?? backOffMillis(attempt), within.signal).catch(() => undefined);
  }
}
