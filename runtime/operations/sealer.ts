// Sealing (encryption with authentication) of texts that are stored in the database: AES-256-GCM
// (NIST SP 800-38D), keys by HKDF (RFC 5869).
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { drawBytes } from "../ports/ambient.js";

/**
 * Seals text for one purpose. `about` names what the text belongs to, and must be the same when it
 * is opened.
 */
export interface Sealer {
  seal(text: string, about: string): string;
  /**
   * Throws if the text was not sealed with one of the secrets, for this purpose and about this.
   */
  open(sealed: string, about: string): string;
  /** Whether there are secrets that open and don't seal any more. */
  readonly hasFormer: boolean;
  /**
   * The text sealed with the present secret; null if it is so already, or nothing opens it.
   */
  renew(sealed: string, about: string): string | null;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/**
 * A sealer over an ordered list of secrets: the first seals, all open. Throws if the list is
 * empty.
 */
export function aesSealer(secrets: readonly Buffer[], purpose: string): Sealer {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync("sha256", secret, "", purpose, 32)));
  const [first] = keys;
  if (first === undefined) throw new Error("a sealer needs at least one secret");
  const seal = (text: string, about: string): string => {
    const nonce = drawBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, first, nonce).setAAD(Buffer.from(about));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  };
  const openWith = (among: readonly Buffer[], sealed: string, about: string): string | null => {
    const bytes = Buffer.from(sealed, "base64url");
    for (const key of among) {
      const text = openSealed(key, bytes, about);
      if (text !== null) return text;
    }
    return null;
  };
  return {
    seal,
    open(sealed, about) {
      const text = openWith(keys, sealed, about);
      if (text !== null) return text;
      throw new Error("a sealed text does not open: its secret is gone, or it was changed");
    },
    hasFormer: keys.length > 1,
    renew(sealed, about) {
      if (openWith([first], sealed, about) !== null) return null;
      const text = openWith(keys.slice(1), sealed, about);
      return text === null ? null : seal(text, about);
    },
  };
}

function openSealed(key: Buffer, bytes: Buffer, about: string): string | null {
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const sealed = bytes.subarray(nonceBytes + tagBytes);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}
