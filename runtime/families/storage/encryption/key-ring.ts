// The key-ring port: keys that wrap the data key of each object (decisions.md "Object storage":
// encryption).
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { drawBytes } from "../../../ports/ambient.js";

/** A data key as it rests with its object. */
export interface WrappedKey {
  /** Sixteen bytes that tell which key wrapped it. */
  readonly keyId: Buffer;
  /** 400 bytes at most. */
  readonly wrapped: Buffer;
}

/** Wraps data keys; one that a key management service keeps can take the place of the local one. */
export interface KeyRing {
  /** Wraps a data key with the newest key; `about` must be the same when it is unwrapped. */
  wrap(dataKey: Buffer, about: string): Promise<WrappedKey>;
  /** Rejects if the key is not on the ring, or the data key is of something else. */
  unwrap(wrapped: WrappedKey, about: string): Promise<Buffer>;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/**
 * A ring over an ordered list of secrets: the first wraps, all unwrap (AES-256-GCM, keys by HKDF).
 */
export function localKeyRing(secrets: readonly Buffer[]): KeyRing {
  const keys = secrets.map((secret) => {
    const key = Buffer.from(hkdfSync("sha256", secret, "", "objects", 32));
    return {
      key,
      id: createHash("sha256").update("key id\0").update(key).digest().subarray(0, 16),
    };
  });
  const [first] = keys;
  if (first === undefined) throw new Error("a key ring needs at least one secret");
  return {
    async wrap(dataKey, about) {
      const nonce = drawBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, first.key, nonce).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([cipher.update(dataKey), cipher.final()]);
      return { keyId: first.id, wrapped: Buffer.concat([nonce, cipher.getAuthTag(), sealed]) };
    },

    async unwrap({ keyId, wrapped }, about) {
      const found = keys.find(({ id }) => id.equals(keyId));
      if (found === undefined) throw new Error("the key of an object is not on the ring");
      const nonce = wrapped.subarray(0, nonceBytes);
      const tag = wrapped.subarray(nonceBytes, nonceBytes + tagBytes);
      const decipher = createDecipheriv(algorithm, found.key, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(about))
        .setAuthTag(tag);
      const sealed = wrapped.subarray(nonceBytes + tagBytes);
      return Buffer.concat([decipher.update(sealed), decipher.final()]);
    },
  };
}
