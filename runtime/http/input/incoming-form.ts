// Forms with one file (RFC 7578), read by multer into whatever the handler stores it in; nothing is
// kept here.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Multer } from "multer";
import { fail, ServiceError } from "../../contract/errors.js";
import { nulFault } from "../../contract/validation.js";
import type { FileHandling, IncomingForm } from "../../families/storage/form.js";
import { monotonicMillis, startInterval } from "../../ports/ambient.js";

/** Fields beside the file; anything else is refused. */
const knownFields = ["description", "prefix", "tags"];

const limits = {
  files: 1,
  fields: knownFields.length,
  parts: knownFields.length + 1,
  fieldNameSize: 100,
  fieldSize: 64 * 1024,
  headerPairs: 20,
};

/** Milliseconds without a byte after which a form is aborted, and how often that is checked. */
const idle = { millis: 30_000, every: 3_000 };

/** The form of a request. Throws `media_type_unsupported` if it is none. */
export function incomingForm(req: IncomingMessage): IncomingForm {
  const type = req.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) throw fail("media_type_unsupported");
  const declared = req.headers["content-length"];
  return {
    declaredBytes: declared === undefined ? null : Number(declared),
    receive: (handling, signal) => receiveForm(req, handling, signal),
  };
}

async function receiveForm<Stored>(
  req: IncomingMessage,
  { store, late, undo }: FileHandling<Stored>,
  signal: AbortSignal,
): Promise<Stored> {
  // Loaded with the first form: a service starts without it.
  const { default: multer } = await import("multer");
  // Of an Express request, multer only uses the stream; it sets `body` and `file`.
  const request = req as unknown as Parameters<ReturnType<Multer["single"]>>[0];
  signal.throwIfAborted();
  let content: Readable | undefined;
  let storing: Promise<Stored> | undefined;
  let fieldsBefore = 0;
  let stopWatching = (): void => undefined;
  const read = new Promise<void>((resolve, reject) => {
    const middleware = multer({
      storage: {
        _handleFile({ body }, file, done) {
          content = file.stream as Readable;
          // The reader of the stream gets the error; if nobody reads any more, nobody needs it.
          content.on("error", () => undefined);
          storing = stored(file, body, content);
          void told(storing, done);
        },
        // The stored object is removed below, once, whatever the reason.
        _removeFile: (_request, _file, done) => done(null),
      },
      limits,
      defParamCharset: "utf8",
    }).single("file");
    const told = async (
      work: Promise<Stored>,
      done: (error: unknown, info?: object) => void,
    ): Promise<void> => {
      try {
        await work;
        done(null, {});
      } catch (error) {
        // multer would read the rest of the form before it reports the error.
        reject(error as Error);
        done(error);
      }
    };
    const stored = async (
      file: Express.Multer.File,
      body: unknown,
      bytes: AsyncIterable<Buffer>,
    ): Promise<Stored> => {
      const fields = checkedFields(body);
      fieldsBefore = Object.keys(fields).length;
      const filename = safeName(file.originalname);
      return store({ filename, contentType: file.mimetype, fields, content: bytes });
    };
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    stopWatching = watchIdle(req, () =>
      reject(fail("request_timeout", {}, { headers: { Connection: "close" } })),
    );
    middleware(request, {} as Parameters<typeof middleware>[1], (error: unknown) => {
      if (error === undefined || error === null) resolve();
      else reject(error as Error);
    });
  });
  try {
    await read;
    if (storing === undefined) throw refuseMalformed("there is no file");
    const stored = await storing;
    if (late === null) return stored;
    const fields = checkedFields(request.body);
    return Object.keys(fields).length > fieldsBefore ? await late(stored, fields) : stored;
  } catch (error) {
    if (storing === undefined) throw translateFault(error);
    // The storing ends with its source.
    content?.destroy(error instanceof Error ? error : undefined);
    const [end] = await Promise.allSettled([storing]);
    if (end.status === "fulfilled") {
      if (undo === null) return end.value;
      await undo(end.value);
    }
    // Report the store's own error, not the errors that follow from it.
    throw end.status === "rejected" && end.reason instanceof ServiceError
      ? end.reason
      : translateFault(error);
  } finally {
    stopWatching();
  }
}

/** Calls back if no byte has arrived for a while, unless the store is what delays them. */
function watchIdle(req: IncomingMessage, onIdle: () => void): () => void {
  let [seen, since] = [req.socket.bytesRead, monotonicMillis()];
  const timer = startInterval(() => {
    const { bytesRead } = req.socket;
    if (bytesRead !== seen || req.isPaused() || req.complete) since = monotonicMillis();
    seen = bytesRead;
    if (monotonicMillis() - since >= idle.millis) onIdle();
  }, idle.every);
  return () => clearInterval(timer);
}

/** The text fields, each known and given once; other parsers make lists and trees of them. */
function checkedFields(body: unknown): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(body ?? {})) {
    if (!knownFields.includes(name))
      throw refuseMalformed(`the field ${name.slice(0, 100)} is not known`);
    if (typeof value !== "string")
      throw refuseMalformed(`the field ${name} is given more than once`);
    if (value.includes("\0")) throw fail("core.validation", { errors: [nulFault(`/${name}`)] });
    fields[name] = value;
  }
  return fields;
}

/** The last part of a path, without characters that no header can carry. */
function safeName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = last.replaceAll(/\p{Cc}/gu, "").toWellFormed();
  return [...plain].slice(0, 200).join("") || "file";
}

function refuseMalformed(reason: string): ServiceError {
  return fail("upload_malformed", { reason }, { headers: { Connection: "close" } });
}

/** Faults of the form, and callers who go away, as codes of the error table. */
function translateFault(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  if (error.name === "MulterError") return refuseMalformed(error.message);
  if (/form|boundary|header|aborted|closed|premature/i.test(error.message))
    return refuseMalformed("the form is not complete");
  return error;
}
