// Passwords: argon2id in a bounded queue; an unknown login costs what a known one does (service.md
// "Login and credential rules").
import { fail } from "../../contract/errors.js";
import { inTurn, type Hashing } from "./hashing.js";
import { canonicalPassword, isTooLong, passwordFault } from "./password-rules.js";

/** OWASP's first choice for argon2id (type 2): 19 MiB, two passes, one lane. */
const parameters = { type: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

let decoy: Promise<string> | undefined;

/** The native library, loaded with the first hash. */
const library = async () => (await import("argon2")).default;

/** A password that somebody chooses. */
interface NewPassword {
  readonly password: string;
  /** The login that it will belong to. */
  readonly login: string;
  /** The JSON Pointer that an error names. */
  readonly at: string;
}

/**
 * Hashes a new password. Throws `core.validation` with the rule that it breaks
 * (`password-rules.ts`).
 */
export async function hashPassword(
  hashing: Hashing,
  { password, login, at }: NewPassword,
): Promise<string> {
  const fault = await passwordFault(canonicalPassword(password), login);
  if (fault !== null) throw fail("core.validation", { errors: [{ path: at, ...fault }] });
  return rehashPassword(hashing, password);
}

/**
 * Hashes a proven password without the rules: one from before a rule stays valid until it is
 * changed.
 */
export async function rehashPassword(hashing: Hashing, password: string): Promise<string> {
  const argon2 = await library();
  return inTurn(hashing, () => argon2.hash(canonicalPassword(password), parameters));
}

/**
 * Whether the password is the one of the hash. Without a hash, or with an empty one, the same work
 * is done and the answer is false.
 */
export async function verifyPassword(
  hashing: Hashing,
  hash: string | undefined,
  password: string,
): Promise<boolean> {
  const text = canonicalPassword(password);
  if (isTooLong(text)) return false;
  const argon2 = await library();
  decoy ??= argon2.hash("a password that nobody has", parameters);
  // A principal without a password has an empty hash.
  const isKnown = hash !== undefined && hash !== "";
  const against = isKnown ? hash : await decoy;
  const matches = await inTurn(hashing, () => argon2.verify(against, text));
  return matches && isKnown;
}

/** Whether the hash was made with other parameters than today's. */
export async function isOutdated(hash: string): Promise<boolean> {
  const argon2 = await library();
  return argon2.needsRehash(hash, parameters);
}
