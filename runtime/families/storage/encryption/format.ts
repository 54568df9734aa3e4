// The format of encrypted objects, version 1: a header, then chunks of AES-256-GCM (NIST SP
// 800-38D), each bound to its place and to the header, so that what is reordered, cut off or
// spliced does not open.
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { WrappedKey } from "./key-ring.js";

/** Bytes before the first chunk, whatever the key ring wraps a key into. */
export const headerBytes = 512;
/** Bytes of content in a chunk; the last one may have fewer. */
export const chunkBytes = 64 * 1024;
const tagBytes = 16;
/** Bytes of a full chunk as it is stored. */
export const sealedBytes = chunkBytes + tagBytes;

/** Chunks, or the form of old: the whole content under one tag. */
export type Form = "chunked" | "whole";

const magics: Readonly<Record<Form, Buffer>> = {
  chunked: Buffer.from("OPWAEAD1"),
  whole: Buffer.from("OPWWHOL1"),
};
/** Bytes that tell an encrypted object from another. */
export const magicBytes = 8;
const version = 1;
const aes256Gcm = 1;

/**
 * The header: magic (8), version (1), algorithm (1), chunk size (4), key id (16), length of the
 * wrapped key (2), the wrapped key, zeros.
 */
export function printHeader(form: Form, { keyId, wrapped }: WrappedKey): Buffer {
  const header = Buffer.alloc(headerBytes);
  magics[form].copy(header, 0);
  header.writeUInt8(version, 8);
  header.writeUInt8(aes256Gcm, 9);
  header.writeUInt32BE(form === "chunked" ? chunkBytes : 0, 10);
  keyId.copy(header, 14);
  header.writeUInt16BE(wrapped.length, 30);
  wrapped.copy(header, 32);
  return header;
}

/** Whether bytes begin as the header of an encrypted object does. */
export function isSealed(beginning: Buffer): boolean {
  return Object.values(magics).some((magic) => magic.equals(beginning.subarray(0, magicBytes)));
}

/** Reads a header. Throws if it is none of ours. */
export function readHeader(header: Buffer): { readonly form: Form; readonly key: WrappedKey } {
  const form = (["chunked", "whole"] as const).find((one) =>
    magics[one].equals(header.subarray(0, 8)),
  );
  const length = header.length === headerBytes ? header.readUInt16BE(30) : Infinity;
  const isKnown =
    form !== undefined &&
    header.readUInt8(8) === version &&
    header.readUInt8(9) === aes256Gcm &&
    header.readUInt32BE(10) === (form === "chunked" ? chunkBytes : 0) &&
    length <= headerBytes - 32;
  if (!isKnown) throw new Error("an object that is not encrypted as this version does");
  const wrapped = header.subarray(32, 32 + length);
  return { form, key: { keyId: header.subarray(14, 30), wrapped } };
}

/** Bytes of content in an object of so many bytes. */
export function contentBytes(form: Form, storedBytes: number): number {
  const body = Math.max(0, storedBytes - headerBytes);
  if (form === "whole") return Math.max(0, body - tagBytes - nonceBytes);
  return Math.max(0, body - chunkCount(storedBytes) * tagBytes);
}

/** Chunks in an object of so many bytes; one at least. */
export function chunkCount(storedBytes: number): number {
  return Math.max(1, Math.ceil((storedBytes - headerBytes) / sealedBytes));
}

const nonceBytes = 12;

/**
 * Seals and opens chunks of one object. The data key is the object's own: the index makes the nonce
 * unique.
 */
export class ChunkCipher {
  readonly #dataKey: Buffer;
  readonly #header: Buffer;

  constructor(dataKey: Buffer, header: Buffer) {
    this.#dataKey = dataKey;
    this.#header = createHash("sha256").update(header).digest();
  }

  seal(content: Buffer, index: number, isLast: boolean): Buffer {
    const cipher = createCipheriv("aes-256-gcm", this.#dataKey, nonceOf(index)).setAAD(
      this.#about(index, isLast),
    );
    return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws if the chunk was changed, or stood elsewhere; no byte of it is given out then. */
  open(sealed: Buffer, index: number, isLast: boolean): Buffer {
    const end = sealed.length - tagBytes;
    if (end < 0) throw new Error("a chunk that is cut off");
    const decipher = createDecipheriv("aes-256-gcm", this.#dataKey, nonceOf(index), {
      authTagLength: tagBytes,
    })
      .setAAD(this.#about(index, isLast))
      .setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
  }

  /** The header, the index and whether it is the last chunk. */
  #about(index: number, isLast: boolean): Buffer {
    const place = Buffer.alloc(9);
    place.writeBigUInt64BE(BigInt(index), 0);
    place.writeUInt8(isLast ? 1 : 0, 8);
    return Buffer.concat([this.#header, place]);
  }
}

function nonceOf(index: number): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeBigUInt64BE(BigInt(index), 4);
  return nonce;
}

/** Opens the form of old: nonce (12), content, tag (16). */
export function openWhole(dataKey: Buffer, header: Buffer, body: Buffer): Buffer {
  const end = body.length - tagBytes;
  if (end < nonceBytes) throw new Error("an object that is cut off");
  const nonce = body.subarray(0, nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", dataKey, nonce, { authTagLength: tagBytes })
    .setAAD(header)
    .setAuthTag(body.subarray(end));
  return Buffer.concat([decipher.update(body.subarray(nonceBytes, end)), decipher.final()]);
}
