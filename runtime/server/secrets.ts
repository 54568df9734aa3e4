// Secrets of the environment: ordered lists in base64url, each entry held to a form, a strength, and one purpose (attack 86).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  canSign,
  newTokenKey,
  tokenKeyFault,
  tokenKeyIdentity,
} from "../families/identity/token-keys.js";
import type { TokenAlgorithm } from "../ports/tokens.js";
import { makePrivateFolder, writePrivateFile } from "../engines/private-files.js";
import { isGuessable } from "./guessable.js";

/** Where secrets come from, and where faults go. A fault names the variable and the entry, never the value. */
export interface SecretSource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isProduction: boolean;
  /** Where development keeps the secrets that it makes. */
  readonly dataFolder: string;
  readonly faults: string[];
}

/** Reads secrets of one environment. What one variable has, no other may. */
export class SecretReader {
  readonly #source: SecretSource;
  /** Which variable has an entry, by what tells entries apart. */
  readonly #owners = new Map<string, string>();

  constructor(source: SecretSource) {
    this.#source = source;
  }

  /**
   * The entries of a variable, the newest first: secrets of at least 32 bytes, or keys of an asymmetric algorithm in
   * DER. Outside production one is made and kept where the variable is not set.
   */
  read(name: string, algorithm: TokenAlgorithm = "HS256"): readonly Buffer[] {
    const { environment, isProduction, dataFolder, faults } = this.#source;
    const given = environment[name];
    if (given === undefined || given === "") {
      if (!isProduction) return [keptKey(dataFolder, name, algorithm)];
      const what = algorithm === "HS256" ? "secrets" : `${algorithm} keys in DER`;
      faults.push(
        `${name} must be set in production: a comma-separated list of base64url ${what}, the newest first`,
      );
      return [];
    }
    return given.split(",").map((entry, index) => {
      const text = entry.trim();
      const bytes = Buffer.from(text, "base64url");
      const fault =
        entryFault(algorithm, text, bytes) ?? this.#sharingFault(name, algorithm, bytes);
      if (fault !== null) faults.push(`${name} ${fault} in entry ${index + 1}`);
      if (fault === null && index === 0 && !canSign(algorithm, bytes))
        faults.push(`${name} needs a private key (PKCS#8) in entry 1: it signs`);
      return bytes;
    });
  }

  #sharingFault(name: string, algorithm: TokenAlgorithm, bytes: Buffer): string | null {
    // A key is also told by its bytes, which may be a shared secret elsewhere.
    const identities = [bytes.toString("base64"), tokenKeyIdentity(algorithm, bytes)];
    const owner = identities.map((identity) => this.#owners.get(identity)).find(Boolean);
    for (const identity of identities) this.#owners.set(identity, owner ?? name);
    if (owner === undefined) return null;
    return owner === name ? "has the same secret again" : `has a secret of ${owner}`;
  }
}

function entryFault(algorithm: TokenAlgorithm, text: string, bytes: Buffer): string | null {
  // Buffer.from skips what is not base64url, and takes the other base64 alphabet as well.
  if (bytes.length === 0 || bytes.toString("base64url") !== text)
    return "must be canonical base64url (A-Z a-z 0-9 - _, no padding)";
  const fault = tokenKeyFault(algorithm, bytes);
  if (fault !== null || algorithm !== "HS256") return fault;
  // Somebody may have typed the text, or encoded what he typed.
  const isWeak = isGuessable(bytes) || isGuessable(Buffer.from(text));
  return isWeak ? "needs random bytes" : null;
}

/** A key that development has made once. */
function keptKey(folder: string, name: string, algorithm: TokenAlgorithm): Buffer {
  const suffix = algorithm === "HS256" ? "" : `_${algorithm.toLowerCase()}`;
  const path = join(folder, `${name.toLowerCase()}${suffix}.key`);
  makePrivateFolder(folder);
  if (!existsSync(path)) writePrivateFile(path, newTokenKey(algorithm).toString("base64url"));
  return Buffer.from(readFileSync(path, "utf8"), "base64url");
}
