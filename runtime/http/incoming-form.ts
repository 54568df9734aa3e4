// Forms with one file (RFC 7578), read by multer into whatever the handler stores it in; nothing is kept here.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import multer from "multer";
import { fail, ServiceError } from "../contract/errors.js";
import type { IncomingFile, IncomingForm } from "../storage/form.js";

/** Fields beside the file; anything else is refused. */
const knownFields = ["description", "prefix"];

const limits = {
  files: 1,
  fields: knownFields.length,
  parts: knownFields.length + 1,
  fieldNameSize: 100,
  fieldSize: 64 * 1024,
  headerPairs: 20,
};

/** Milliseconds without a byte after which a form is given up. */
const idleMillis = 30_000;

/** The form of a request. Throws `media_type_unsupported` where it is none. */
export function incomingForm(req: IncomingMessage): IncomingForm {
  const type = req.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) throw fail("media_type_unsupported");
  const declared = req.headers["content-length"];
  return {
    declaredBytes: declared === undefined ? null : Number(declared),
    receive: (store, undo) => received(req, store, undo),
  };
}

async function received<Stored>(
  req: IncomingMessage,
  store: (file: IncomingFile) => Promise<Stored>,
  undo: (stored: Stored) => Promise<void>,
): Promise<Stored> {
  let storing: Promise<Stored> | undefined;
  let fieldsBefore = 0;
  const read = new Promise<number>((resolve, reject) => {
    const middleware = multer({
      storage: {
        _handleFile(request, file, done) {
          const fields = { ...(request.body as Readonly<Record<string, string>>) };
          fieldsBefore = Object.keys(fields).length;
          const filename = safeName(file.originalname);
          const content = file.stream as Readable & AsyncIterable<Buffer>;
          storing = stored({ filename, contentType: file.mimetype, fields, content });
          void told(storing, done);
        },
        // What was stored is undone below, once and for every reason.
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
        // multer would read the rest of the form before it tells.
        reject(error);
        done(error);
      }
    };
    const stored = async (file: IncomingFile): Promise<Stored> => {
      checkFields(file.fields);
      return store(file);
    };
    req.setTimeout(idleMillis, () => {
      reject(fail("request_timeout", {}, { headers: { Connection: "close" } }));
    });
    // multer reads nothing of Express but the stream, and sets `body` and `file`.
    const request = req as unknown as Parameters<typeof middleware>[0];
    middleware(request, {} as Parameters<typeof middleware>[1], (error: unknown) => {
      if (error !== undefined && error !== null) reject(error);
      else resolve(Object.keys(request.body as object).length);
    });
  });
  try {
    const fields = await read;
    if (storing === undefined) throw malformed("there is no file");
    if (fields > fieldsBefore) throw malformed("text fields stand before the file");
    return await storing;
  } catch (error) {
    // A stream that breaks off ends the storing with an error of its own.
    const value = await storing?.then((made) => ({ made })).catch(() => undefined);
    if (value !== undefined) await undo(value.made);
    throw translated(error);
  }
}

function checkFields(fields: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(fields))
    if (!knownFields.includes(name))
      throw malformed(`the field ${name.slice(0, 100)} is not known`);
}

/** The last part of a path, without characters that no header can carry. */
function safeName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = last.replaceAll(/\p{Cc}/gu, "").toWellFormed();
  return [...plain].slice(0, 200).join("") || "file";
}

function malformed(reason: string): ServiceError {
  return fail("upload_malformed", { reason }, { headers: { Connection: "close" } });
}

/** Faults of the form, and callers who go away, as codes of the error table. */
function translated(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  if (error instanceof multer.MulterError) return malformed(error.message);
  if (/form|boundary|header|aborted|closed|premature/i.test(error.message))
    return malformed("the form is not complete");
  return error;
}
