// Key material of access tokens: from bytes to the keys that sign and verify, each pinned to one
// algorithm (RFC 8725 §3.1).
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  sign,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import type { TokenAlgorithm, TokenSigner } from "../ports/tokens.js";
import { drawBytes } from "../ports/ambient.js";

/** The keys of one service: one signs, all verify. */
export interface TokenKeys {
  readonly signer: TokenSigner;
  /** By kid. */
  readonly verifying: ReadonlyMap<string, KeyObject>;
  readonly publicKeys: readonly JsonWebKey[];
}

export type AsymmetricAlgorithm = Exclude<TokenAlgorithm, "HS256">;

/** New key material: 32 random bytes, or a PKCS#8 private key in DER. */
export function newTokenKey(algorithm: TokenAlgorithm): Buffer {
  switch (algorithm) {
    case "HS256":
      return drawBytes(32);
    case "RS256":
      return exportPrivateKey(generateKeyPairSync("rsa", { modulusLength: 2048 }));
    case "ES256":
      return exportPrivateKey(generateKeyPairSync("ec", { namedCurve: "prime256v1" }));
    case "EdDSA":
      return exportPrivateKey(generateKeyPairSync("ed25519"));
  }
}

function exportPrivateKey({ privateKey }: { readonly privateKey: KeyObject }): Buffer {
  return privateKey.export({ type: "pkcs8", format: "der" });
}

/**
 * What is wrong with key material, or null: a shared secret has 32 bytes at least, a key what
 * `keyFault` says.
 */
export function tokenKeyFault(algorithm: TokenAlgorithm, bytes: Buffer): string | null {
  if (algorithm === "HS256") return bytes.length < 32 ? "needs at least 32 bytes" : null;
  const key = publicKeyOf(bytes);
  if (key === null) return "must be a key in DER: PKCS#8, or SPKI for one that only verifies";
  return keyFault(algorithm, key);
}

/**
 * What is wrong with a key, or null. RS256 needs RSA of 2 048 bits with an exponent that is odd and
 * 65 537 at least (SP 800-56B §6.2), ES256 the curve P-256, EdDSA Ed25519.
 */
export function keyFault(algorithm: AsymmetricAlgorithm, key: KeyObject): string | null {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  switch (algorithm) {
    case "RS256": {
      if (type !== "rsa" || (details?.modulusLength ?? 0) < 2048)
        return "must be an RSA key of at least 2048 bits";
      const exponent = details?.publicExponent ?? 0n;
      const isSound = exponent >= 65_537n && exponent % 2n === 1n;
      return isSound ? null : "must have an odd exponent of at least 65537";
    }
    case "ES256":
      return type === "ec" && details?.namedCurve === "prime256v1"
        ? null
        : "must be a key on the curve P-256";
    case "EdDSA":
      return type === "ed25519" ? null : "must be an Ed25519 key";
  }
}

/** Whether key material can sign, and not verify alone. */
export function canSign(algorithm: TokenAlgorithm, bytes: Buffer): boolean {
  return algorithm === "HS256" || privateKeyOf(bytes) !== null;
}

/** The same for two entries that are one key, such as a private key and its public key. */
export function tokenKeyIdentity(algorithm: TokenAlgorithm, bytes: Buffer): string {
  const key = algorithm === "HS256" ? null : publicKeyOf(bytes);
  return (key?.export({ type: "spki", format: "der" }) ?? bytes).toString("base64");
}

/**
 * Keys of an ordered list of material: the first signs, all verify. Throws if the first cannot
 * sign.
 */
export async function localTokenKeys(
  algorithm: TokenAlgorithm,
  material: readonly Buffer[],
): Promise<TokenKeys> {
  const [first] = material;
  if (first === undefined) throw new Error("access tokens need at least one key");
  if (algorithm === "HS256") return sharedSecrets(material, first);
  const keys = await Promise.all(material.map((bytes) => verifyingKey(algorithm, bytes)));
  const [newest] = keys;
  const privateKey = createPrivateKey({ key: first, format: "der", type: "pkcs8" });
  return {
    signer: {
      kid: newest?.kid ?? "",
      sign: (data) =>
        sign(algorithm === "EdDSA" ? null : "sha256", data, {
          key: privateKey,
          dsaEncoding: "ieee-p1363",
        }),
    },
    verifying: new Map(keys.map(({ kid, key }) => [kid, key])),
    publicKeys: keys.map(({ jwk }) => jwk),
  };
}

function sharedSecrets(secrets: readonly Buffer[], first: Buffer): TokenKeys {
  const kid = (secret: Buffer): string =>
    createHash("sha256").update("kid").update(secret).digest("base64url").slice(0, 12);
  return {
    signer: {
      kid: kid(first),
      sign: (data) => createHmac("sha256", first).update(data).digest(),
    },
    verifying: new Map(secrets.map((secret) => [kid(secret), createSecretKey(secret)])),
    publicKeys: [],
  };
}

async function verifyingKey(algorithm: AsymmetricAlgorithm, bytes: Buffer) {
  const key = publicKeyOf(bytes);
  const fault = tokenKeyFault(algorithm, bytes);
  if (key === null || fault !== null) throw new Error(`a key of access tokens ${fault ?? ""}`);
  // Imported only when needed: the default, HS256, doesn't use it.
  const { calculateJwkThumbprint } = await import("jose/jwk/thumbprint");
  const kid = await calculateJwkThumbprint(key.export({ format: "jwk" }) as { kty: string });
  return { kid, key, jwk: publishKeys(algorithm, kid, key) };
}

/** The JWK of a public key; `createPublicKey` has left no private member. */
export function publishKeys(algorithm: TokenAlgorithm, kid: string, key: KeyObject): JsonWebKey {
  return { ...key.export({ format: "jwk" }), kid, alg: algorithm, use: "sig" };
}

/** The public key of PKCS#8 or SPKI bytes, or null. */
function publicKeyOf(bytes: Buffer): KeyObject | null {
  const privateKey = privateKeyOf(bytes);
  if (privateKey !== null) return createPublicKey(privateKey);
  try {
    return createPublicKey({ key: bytes, format: "der", type: "spki" });
  } catch {
    return null;
  }
}

function privateKeyOf(bytes: Buffer): KeyObject | null {
  try {
    return createPrivateKey({ key: bytes, format: "der", type: "pkcs8" });
  } catch {
    return null;
  }
}
