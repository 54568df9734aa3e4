// Passwords: argon2id with bounded concurrency; an unknown login costs what a known one does (service.md "Login and credential rules").
import { fail } from "../contract/errors.js";
import type { Lifetime } from "../operations/lifetime.js";

/** OWASP's first choice for argon2id (type 2): 19 MiB, two passes, one lane. */
const parameters = { type: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const maxConcurrent = 4;
const minBytes = 8;
const maxBytes = 1_024;

/** Beyond these the answer is 503: a queue without an end would delay everybody, and fill the memory. */
const maxWaiting = 256;
const maxWaitingPerAddress = 32;

interface Waiting {
  readonly address: string;
  readonly go: () => void;
}

let running = 0;
const waiting: Waiting[] = [];
let decoy: Promise<string> | undefined;

/** For whom is hashed: an invocation. */
interface Hashing {
  readonly clientAddress: () => string;
  readonly lifetime: Lifetime;
}

/** The native library, loaded by the first that hashes. */
const library = async () => (await import("argon2")).default;

/** The one form in which a login is stored and compared: NFKC, lower case, no space around it. */
export function canonicalLogin(login: string): string {
  return login.normalize("NFKC").toLowerCase().trim();
}

/**
 * Hashes a new password. Throws `core.validation` unless it has 8 to 1 024 bytes after NFC; `at` is the JSON Pointer
 * that the error names.
 */
export async function hashPassword(
  hashing: Hashing,
  password: string,
  at = "/password",
): Promise<string> {
  const text = password.normalize("NFC");
  const bytes = Buffer.byteLength(text);
  if (bytes < minBytes || bytes > maxBytes) {
    const message = `must have ${minBytes} to ${maxBytes} bytes`;
    throw fail("core.validation", { errors: [{ path: at, keyword: "length", message }] });
  }
  const argon2 = await library();
  return bounded(hashing, () => argon2.hash(text, parameters));
}

/** Whether the password is the one of the hash. Without a hash, the same work is done and the answer is false. */
export async function verifyPassword(
  hashing: Hashing,
  hash: string | undefined,
  password: string,
): Promise<boolean> {
  const text = password.normalize("NFC");
  if (Buffer.byteLength(text) > maxBytes) return false;
  const argon2 = await library();
  decoy ??= argon2.hash("a password that nobody has", parameters);
  const against = hash ?? (await decoy);
  const matches = await bounded(hashing, () => argon2.verify(against, text));
  return matches && hash !== undefined;
}

/** Whether the hash was made with other parameters than today's. */
export async function isOutdated(hash: string): Promise<boolean> {
  const argon2 = await library();
  return argon2.needsRehash(hash, parameters);
}

/**
 * Runs at most `maxConcurrent` hashes at a time: each takes 19 MiB. Who has gone meanwhile is not hashed for. Throws
 * `core.unavailable` where too many wait, from one address or from all.
 */
async function bounded<T>(
  { clientAddress, lifetime }: Hashing,
  work: () => Promise<T>,
): Promise<T> {
  if (running >= maxConcurrent) {
    const address = clientAddress();
    // The service's own work has no address.
    const ofAddress = waiting.filter((other) => address !== "" && other.address === address);
    if (waiting.length >= maxWaiting || ofAddress.length >= maxWaitingPerAddress)
      throw fail("core.unavailable", {}, { headers: { "Retry-After": "1" } });
    await new Promise<void>((go) => waiting.push({ address, go }));
  } else running += 1;
  try {
    lifetime.throwIfOver();
    return await work();
  } finally {
    // The place goes to who waits longest, or is free.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next.go();
  }
}
