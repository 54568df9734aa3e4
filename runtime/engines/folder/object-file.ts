// One object as one file: its bytes, and behind them its metadata, so that both are replaced by one rename.
import { randomBytes } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { fail } from "../../contract/errors.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import { privateFile } from "../private-files.js";
import { writeAll } from "./durable-files.js";

/** What stands behind the bytes: JSON, its length in four bytes, and a mark. */
interface Trailer extends ObjectDescription {
  readonly etag: string;
  readonly modifiedAt: number;
}

const mark = Buffer.from("OPWOBJ01");
const tailBytes = mark.length + 4;

/** Writes an object to a new file, durably. Where `body` fails the file is left for the caller to remove. */
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
    const etag = randomBytes(16).toString("hex");
    const trailer = { ...description, etag, modifiedAt: Date.now() };
    await writeAll(file, trailerBytes(trailer));
    await file.sync();
    return { ...trailer, key, size, contentSize: size };
  } finally {
    await file.close();
  }
}

/** The bytes of a trailer. */
function trailerBytes(trailer: Trailer): Buffer {
  const json = Buffer.from(JSON.stringify(trailer), "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, mark]);
}

/** The trailer of an open file, and how many bytes stand before it. Throws `core.infrastructure` where it has none. */
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
