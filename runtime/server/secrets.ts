// Secrets from the environment: ordered lists in base64url. Each entry must be well-formed, strong,
// and used for one purpose only (attack 86).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canSign, newTokenKey, tokenKeyFault, tokenKeyIdentity } from "../operations/token-keys.js";
import type { TokenAlgorithm } from "../ports/tokens.js";
import { makePrivateFolder, placePrivateFile } from "../engines/private-files.js";
import { isGuessable } from "./guessable.js";

/**
 * Where secrets come from, and where faults go. A fault names the variable and the entry, never the
 * value.
 */
export interface SecretSource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isProduction: boolean;
  /** Where development keeps the secrets that it makes. */
  readonly dataFolder: string;
  /**
   * What becomes of missing ones: they are made and kept, made for this process alone, or left out,
   * so that what is read is of no use.
   */
  readonly missing: "kept" | "made" | "left";
  readonly faults: string[];
}

/** Reads the secrets of one environment. No two variables may have the same secret. */
export class SecretReader {
  readonly #source: SecretSource;
  /** The variable that has a secret, by the secret's bytes and by the identity of its key. */
  readonly #owners = new Map<string, string>();

  constructor(source: SecretSource) {
    this.#source = source;
  }

  /**
   * The entries of a variable, the newest first: secrets of at least 32 bytes, or keys of an
   * asymmetric algorithm in DER. Outside production, one is made if the variable isn't set and
   * nothing was kept. Faults go to the source.
   */
  read(name: string, algorithm: TokenAlgorithm = "HS256"): readonly Buffer[] {
    const { environment, isProduction, dataFolder, missing, faults } = this.#source;
    const given = environment[name];
    if (given === undefined || given === "") {
      if (missing === "left") return [];
      if (!isProduction)
        return keptKeys(dataFolder, { name, algorithm, faults, isMadeKept: missing === "kept" });
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
    // Compared by its bytes as well, because another variable may use the bytes of a key as a
    // shared secret.
    const identities = [bytes.toString("base64"), tokenKeyIdentity(algorithm, bytes)];
    const owner = identities.map((identity) => this.#owners.get(identity)).find(Boolean);
    for (const identity of identities) this.#owners.set(identity, owner ?? name);
    if (owner === undefined) return null;
    return owner === name ? "has the same secret again" : `has a secret of ${owner}`;
  }
}

function entryFault(algorithm: TokenAlgorithm, text: string, bytes: Buffer): string | null {
  // `Buffer.from` skips invalid characters, and accepts the other base64 alphabet as well.
  if (bytes.length === 0 || bytes.toString("base64url") !== text)
    return "must be canonical base64url (A-Z a-z 0-9 - _, no padding)";
  const fault = tokenKeyFault(algorithm, bytes);
  if (fault !== null || algorithm !== "HS256") return fault;
  // Somebody may have typed the text, or encoded what they typed.
  const isWeak = isGuessable(bytes) || isGuessable(Buffer.from(text));
  return isWeak ? "needs random bytes" : null;
}

interface KeptKey {
  readonly name: string;
  readonly algorithm: TokenAlgorithm;
  readonly faults: string[];
  readonly isMadeKept: boolean;
}

/** The key that development uses for a variable: made once, then read from its file. */
function keptKeys(
  folder: string,
  { name, algorithm, faults, isMadeKept }: KeptKey,
): readonly Buffer[] {
  const suffix = algorithm === "HS256" ? "" : `_${algorithm.toLowerCase()}`;
  const path = join(folder, `${name.toLowerCase()}${suffix}.key`);
  try {
    if (!existsSync(path)) {
      const made = newTokenKey(algorithm);
      if (!isMadeKept) return [made];
      makePrivateFolder(folder);
      placePrivateFile(path, made.toString("base64url"));
    }
    const text = readFileSync(path, "utf8").trim();
    const bytes = Buffer.from(text, "base64url");
    // Such as one that was begun on a full disk.
    const fault = entryFault(algorithm, text, bytes);
    if (fault !== null) faults.push(`${path} ${fault}: bring it back, or remove it for a new one`);
    return [bytes];
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    faults.push(`DATA_DIR: ${said}: let this account have the folder, or set ${name}`);
    return [];
  }
}
