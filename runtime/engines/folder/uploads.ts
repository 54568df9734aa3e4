// Uploads in parts on a folder: each part is a file in the form of an object's, until they are
// joined.
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../../contract/errors.js";
import type { DirectTransfers, UploadedPart } from "../../ports/direct-transfers.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import { privateFile, privateFolder } from "../private-files.js";
import { isAbsent, openFile, translateFault } from "./durable-files.js";
import { readTrailer, writtenFile } from "./object-file.js";
import { partBudget } from "./part-budget.js";
import { drawBytes, epochMillis } from "../../ports/ambient.js";

/** What is stored about an upload until it ends. `begunAt` is epoch milliseconds. */
interface Session {
  readonly key: string;
  readonly description: ObjectDescription;
  readonly begunAt: number;
}

/** The files of parts have the form of an object's, which needs a description. Nobody reads it. */
const partDescription: ObjectDescription = {
  contentType: "application/octet-stream",
  filename: "part",
  description: null,
};

/**
 * Uploads in the folder `unfinished`. `moveTo` moves a file to the place of the object with this
 * key.
 */
export function folderUploads(
  unfinished: string,
  moveTo: (path: string, key: string) => Promise<void>,
): Pick<
  DirectTransfers,
  "begin" | "leastPartBytes" | "receivePart" | "parts" | "complete" | "abort"
> {
  const budget = partBudget();
  /**
   * The folder and session of an unfinished upload; null if there is none. Checks the id, since it
   * comes from a client.
   */
  const upload = async (
    key: string,
    uploadId: string,
  ): Promise<{ readonly folder: string; readonly session: Session } | null> => {
    if (!/^[0-9a-f]{32}$/.test(uploadId)) return null;
    const folder = join(unfinished, uploadId);
    const session = await readSession(folder);
    return session?.key === key ? { folder, session } : null;
  };

  return {
    begin: (key, description) =>
      translateFault(() => begun(unfinished, { key, description, begunAt: epochMillis() })),

    leastPartBytes: 1,

    receivePart: (key, uploadId, part, body, signal) =>
      translateFault(async () => {
        const found = await upload(key, uploadId);
        if (found === null) throw fail("core.not_found");
        const temporary = join(found.folder, `${drawBytes(8).toString("hex")}.tmp`);
        try {
          const there = () => partsOf(found.folder);
          const received = await budget.within(uploadId, part, there, body, async (bounded) => {
            const head = await writtenFile(temporary, key, bounded, partDescription);
            signal?.throwIfAborted();
            // A part that is sent again replaces the previous one.
            await rename(temporary, partIn(found.folder, part.partNumber));
            return head;
          });
          return received.etag;
        } catch (error) {
          await rm(temporary, { force: true });
          if (isAbsent(error)) throw fail("core.not_found");
          throw error;
        }
      }),

    parts: (key, uploadId) =>
      translateFault(async () => {
        const found = await upload(key, uploadId);
        if (found === null) return null;
        const parts = await partsOf(found.folder);
        // If the upload has ended in the meantime, the list may be incomplete.
        return (await upload(key, uploadId)) === null ? null : parts;
      }),

    complete: (key, uploadId, parts, signal) =>
      translateFault(async () => {
        const found = await upload(key, uploadId);
        if (found === null) return null;
        const ending = await claimUpload(found.folder);
        if (ending === null) return null;
        try {
          const head = await joinParts(ending, found.session, parts, signal);
          await moveTo(wholeIn(ending), key);
          await rm(ending, { recursive: true, force: true });
          return head;
        } catch (error) {
          await rename(ending, found.folder);
          throw error;
        }
      }),

    abort: (key, uploadId) =>
      translateFault(async () => {
        const found = await upload(key, uploadId);
        const ending = found === null ? null : await claimUpload(found.folder);
        if (ending !== null) await rm(ending, { recursive: true, force: true });
      }),
  };
}

/** Begins an upload and returns its id. Its folder appears complete or not at all. */
async function begun(unfinished: string, session: Session): Promise<string> {
  const uploadId = drawBytes(16).toString("hex");
  const made = join(unfinished, `${uploadId}.tmp`);
  await mkdir(made, { mode: privateFolder });
  await writeFile(join(made, "session.json"), JSON.stringify(session), { mode: privateFile });
  await rename(made, join(unfinished, uploadId));
  return uploadId;
}

/** Renames an upload's folder in order to end it. Only one caller can; null for all others. */
async function claimUpload(folder: string): Promise<string | null> {
  const ending = `${folder}.ending`;
  try {
    await rename(folder, ending);
    return ending;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Reads the session in an upload's folder; null if there is none, or if it is not valid JSON. */
export async function readSession(folder: string): Promise<Session | null> {
  try {
    return JSON.parse(await readFile(join(folder, "session.json"), "utf8")) as Session;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

function partIn(folder: string, partNumber: number): string {
  return join(folder, String(partNumber).padStart(5, "0"));
}

/** The parts that have arrived, by ascending number. */
async function partsOf(folder: string): Promise<readonly UploadedPart[]> {
  const names = (await namesIn(folder)).filter((name) => /^\d{5}$/.test(name)).sort();
  const parts: UploadedPart[] = [];
  for (const name of names) {
    const file = await openFile(join(folder, name));
    if (file === null) continue;
    try {
      const { trailer, size } = await readTrailer(file);
      parts.push({ partNumber: Number(name), etag: trailer.etag, size });
    } finally {
      await file.close();
    }
  }
  return parts;
}

/** The file in which the parts of an upload are joined. */
const wholeIn = (folder: string): string => join(folder, "whole.tmp");

/**
 * Joins the given parts in one file. Throws `upload_parts_invalid` if one is missing or has another
 * tag.
 */
async function joinParts(
  folder: string,
  { key, description }: Session,
  parts: readonly Pick<UploadedPart, "partNumber" | "etag">[],
  signal: AbortSignal | undefined,
): Promise<ObjectHead> {
  const there = new Map((await partsOf(folder)).map((part) => [part.partNumber, part]));
  const sizes = parts.map(({ partNumber, etag }) => {
    const part = there.get(partNumber);
    if (part?.etag !== etag) throw fail("upload_parts_invalid", { part_number: partNumber });
    return [partIn(folder, partNumber), part.size] as const;
  });
  return assembleObject(wholeIn(folder), key, contentOf(sizes, signal), description);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function assembleObject(
  path: string,
  key: string,
  content: AsyncIterable<Buffer>,
  description: ObjectDescription,
): Promise<ObjectHead> {
  try {
    return await writtenFile(path, key, content, description);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** The bytes of files, each only up to its `size`, without its trailer. */
async function* contentOf(
  files: readonly (readonly [string, number])[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for (const [path, size] of files) {
    if (size === 0) continue;
    for await (const chunk of createReadStream(path, {
      end: size - 1,
      highWaterMark: 256 * 1024,
    })) {
      signal?.throwIfAborted();
      yield chunk as Buffer;
    }
  }
}
