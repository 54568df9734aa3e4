// Direct transfers with a folder: requests that the service answers, and parts that wait beside each other for the end.
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../../contract/errors.js";
import type { Addresses } from "../../storage/addresses.js";
import type { DirectTransfers, UnfinishedUpload, UploadedPart } from "../../storage/direct-port.js";
import type { ObjectDescription } from "../../storage/object-head.js";
import { isAbsent, translated, writeAll } from "./durable-files.js";
import { writtenFile } from "./object-file.js";

/** What is kept of an upload until it ends. */
interface Session {
  readonly key: string;
  readonly description: ObjectDescription;
  readonly begunAt: number;
}

interface FolderOptions {
  /** The folder of what has not ended. */
  readonly unfinished: string;
  readonly addresses: Addresses;
  /** Moves a file to where the object of a key is. */
  moveTo(path: string, key: string): Promise<void>;
}

export function folderTransfers({ unfinished, addresses, moveTo }: FolderOptions): DirectTransfers {
  /** The folder of an upload; ids come back from clients. */
  const folderOf = (uploadId: string): string | null =>
    /^[0-9a-f]{32}$/.test(uploadId) ? join(unfinished, uploadId) : null;

  const sessionOf = async (folder: string | null, key: string): Promise<Session | null> => {
    if (folder === null) return null;
    const session = await readSession(folder);
    return session?.key === key ? session : null;
  };

  const partsIn = async (folder: string): Promise<readonly UploadedPart[]> => {
    const names = await readdir(folder);
    return names
      .flatMap((name) => {
        const [, number, etag = "", size] = /^(\d{5})-([0-9a-f]+)-(\d+)$/.exec(name) ?? [];
        return number === undefined
          ? []
          : [{ partNumber: Number(number), etag, size: Number(size) }];
      })
      .sort((left, right) => left.partNumber - right.partNumber);
  };

  return {
    signDownload: async ({ key }, seconds) => ({
      url: addresses.sign({ kind: "download", key }, seconds),
      method: "GET",
      headers: {},
    }),

    signUpload: async (key, contentType, seconds) => ({
      url: addresses.sign({ kind: "upload", key, contentType }, seconds),
      method: "PUT",
      headers: contentType === null ? {} : { "content-type": contentType },
    }),

    signForm: async (key, limits, seconds) => ({
      url: addresses.sign({ kind: "form", key, ...limits }, seconds),
      fields: {},
    }),

    begin: (key, description) =>
      translated(async () => {
        const uploadId = randomBytes(16).toString("hex");
        const folder = join(unfinished, uploadId);
        await mkdir(folder);
        const session: Session = { key, description, begunAt: Date.now() };
        await writeFile(join(folder, "session.json"), JSON.stringify(session));
        return uploadId;
      }),

    signPart: async (key, uploadId, partNumber, seconds) => ({
      url: addresses.sign({ kind: "part", key, uploadId, partNumber }, seconds),
      method: "PUT",
      headers: {},
    }),

    receivePart: (key, uploadId, partNumber, body) =>
      translated(async () => {
        const folder = folderOf(uploadId);
        if (folder === null || (await sessionOf(folder, key)) === null)
          throw fail("core.not_found");
        const temporary = join(folder, `${randomBytes(8).toString("hex")}.tmp`);
        const etag = randomBytes(16).toString("hex");
        try {
          const size = await writtenPart(temporary, body);
          const number = String(partNumber).padStart(5, "0");
          const before = await readdir(folder);
          await rename(temporary, join(folder, `${number}-${etag}-${size}`));
          // A part that is sent again takes the place of the one before.
          for (const name of before)
            if (name.startsWith(`${number}-`)) await rm(join(folder, name), { force: true });
          return etag;
        } catch (error) {
          await rm(temporary, { force: true });
          if (isAbsent(error)) throw fail("core.not_found");
          throw error;
        }
      }),

    parts: (key, uploadId) =>
      translated(async () => {
        const folder = folderOf(uploadId);
        if (folder === null || (await sessionOf(folder, key)) === null) return null;
        return partsIn(folder);
      }),

    complete: (key, uploadId, parts) =>
      translated(async () => {
        const folder = folderOf(uploadId);
        const session = await sessionOf(folder, key);
        if (folder === null || session === null) return null;
        const there = new Map((await partsIn(folder)).map((part) => [part.partNumber, part]));
        const chosen = parts.map(({ partNumber, etag }) => {
          const part = there.get(partNumber);
          if (part === undefined || part.etag !== etag)
            throw fail("upload_parts_invalid", { part_number: partNumber });
          return join(folder, `${String(partNumber).padStart(5, "0")}-${etag}-${part.size}`);
        });
        const whole = join(folder, `${randomBytes(8).toString("hex")}.tmp`);
        const head = await writtenFile(whole, key, contentOf(chosen), session.description);
        // Who renames the session has ended it; another one finds none.
        try {
          await rename(join(folder, "session.json"), join(folder, "ended.json"));
        } catch (error) {
          if (isAbsent(error)) return null;
          throw error;
        }
        await moveTo(whole, key);
        await rm(folder, { recursive: true, force: true });
        return head;
      }),

    abort: (key, uploadId) =>
      translated(async () => {
        const folder = folderOf(uploadId);
        if (folder === null || (await sessionOf(folder, key)) === null) return;
        await rm(folder, { recursive: true, force: true });
      }),

    async *unfinished(prefix, olderThanSeconds): AsyncGenerator<UnfinishedUpload> {
      const before = Date.now() - olderThanSeconds * 1000;
      for (const uploadId of await readdir(unfinished)) {
        const folder = folderOf(uploadId);
        const session = folder === null ? null : await readSession(folder);
        if (session !== null && session.key.startsWith(prefix) && session.begunAt <= before)
          yield { key: session.key, uploadId };
      }
    },
  };
}

async function readSession(folder: string): Promise<Session | null> {
  try {
    return JSON.parse(await readFile(join(folder, "session.json"), "utf8")) as Session;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Writes a part as it is, durably; returns its size. */
async function writtenPart(path: string, body: AsyncIterable<Buffer>): Promise<number> {
  const file = await open(path, "wx");
  try {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      await writeAll(file, chunk);
    }
    await file.sync();
    return size;
  } finally {
    await file.close();
  }
}

async function* contentOf(paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) yield* createReadStream(path, { highWaterMark: 256 * 1024 });
}
