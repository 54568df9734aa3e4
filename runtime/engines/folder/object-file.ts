// One object as one file: its bytes followed by its metadata, so that one rename replaces both.
import { open, type FileHandle } from "node:fs/promises";
import { fail } from "../../contract/errors.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import { privateFile } from "../private-files.js";
import { writeAll } from "./durable-files.js";
import { drawBytes, epochMillis } from "../../ports/ambient.js";

/**
 * The metadata after the bytes: JSON, its length in four bytes, and a mark. `modifiedAt` is epoch
 * milliseconds.
 */
interface Trailer extends ObjectDescription {
  readonly etag: string;
  readonly modifiedAt: number;
}

const mark = Buffer.from("OPWOBJ01");
const tailBytes = mark.length + 4;

/**
 * Writes an object to a new file and syncs it. If this rejects, the caller must remove the file.
 */
export async function writtenFile(
  path: string,
  key: string,
  body: AsyncIterable<Buffer>,
  description: ObjectDescription,
): Promise<ObjectHead> {
  const file = await open(path, "wx", privateFile);
  try {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      await writeAll(file, chunk);
    }
    const etag = drawBytes(16).toString("hex");
    const trailer = { ...description, etag, modifiedAt: epochMillis() };
    await writeAll(file, trailerBytes(trailer));
    await file.sync();
    return { ...trailer, key, size, contentSize: size };
  } finally {
    await file.close();
  }
}

function trailerBytes(trailer: Trailer): Buffer {
  const json = Buffer.from(JSON.stringify(trailer), "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, mark]);
}

/**
 * The trailer of an open file, and how many bytes come before it. Throws `core.infrastructure` if
 * there is no trailer.
 */
export async function readTrailer(
  file: FileHandle,
): Promise<{ readonly trailer: Trailer; readonly size: number }> {
  const { size: whole } = await file.stat();
  const tail = await readAt(file, Math.max(0, whole - tailBytes), tailBytes);
  const length = tail.length === tailBytes ? tail.readUInt32BE(0) : Infinity;
  const size = whole - tailBytes - length;
  if (size < 0 || !tail.subarray(4).equals(mark))
    throw fail("core.infrastructure", {}, { cause: new Error("a file that is no object") });
  const json = await readAt(file, size, length);
  return { trailer: JSON.parse(json.toString("utf8")) as Trailer, size };
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
