// Keys of a signer outside this process: the rules for our own keys apply to its public keys
// (attack 86).
import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { fail } from "../../contract/errors.js";
import { keyFault, publishKeys, type TokenKeys } from "../../operations/token-keys.js";
import type { ExternalSigner, TokenAlgorithm } from "../../ports/tokens.js";

const keyTypes = { RS256: "RSA", ES256: "EC", EdDSA: "OKP" } as const;
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/**
 * Keys of a signer outside this process. Throws `core.configuration`, whose cause names the kid,
 * where a key is weak, of another kind or private, where two have one kid, and where the signer's
 * own is missing.
 */
export function externalTokenKeys(algorithm: TokenAlgorithm, signer: ExternalSigner): TokenKeys {
  const verifying = new Map<string, KeyObject>();
  for (const [index, jwk] of signer.publicKeys.entries()) {
    const kid = jwk["kid"];
    if (typeof kid !== "string" || kid === "")
      throw refuseSigner(`public key ${index + 1} has no kid`);
    if (verifying.has(kid)) throw refuseSigner(`two public keys have the kid ${kid}`);
    const key = importedKey(algorithm, jwk);
    if (typeof key === "string") throw refuseSigner(`the public key ${kid} ${key}`);
    verifying.set(kid, key);
  }
  if (!verifying.has(signer.kid)) throw refuseSigner(`no public key has its kid ${signer.kid}`);
  const publicKeys = [...verifying].map(([kid, key]) => publishKeys(algorithm, kid, key));
  return { signer, verifying, publicKeys };
}

/** The key of a JWK, or what is wrong with it. */
function importedKey(algorithm: TokenAlgorithm, jwk: JsonWebKey): KeyObject | string {
  if (algorithm === "HS256") return "cannot be public: HS256 has shared secrets alone";
  const kty = keyTypes[algorithm];
  if (jwk.kty !== kty) return `must have the kty ${kty}, as ${algorithm} needs`;
  const told = privateMembers.find((member) => member in jwk);
  if (told !== undefined) return `has the private member ${told}`;
  if ((jwk["alg"] ?? algorithm) !== algorithm) return `has another alg than ${algorithm}`;
  if ((jwk["use"] ?? "sig") !== "sig") return "has another use than sig";
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    return keyFault(algorithm, key) ?? key;
  } catch {
    // A point that is not on the curve, or malformed base64url.
    return `is no ${kty} key`;
  }
}

function refuseSigner(fault: string): Error {
  return fail("core.configuration", {}, { cause: new Error(`identity.signing.signer: ${fault}`) });
}
