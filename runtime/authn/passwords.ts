// Passwords: argon2id with bounded concurrency; an unknown login costs what a known one does (service.md "Login and credential rules").
import argon2 from "argon2";
import { fail } from "../contract/errors.js";

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const maxConcurrent = 4;
const minBytes = 8;
const maxBytes = 1_024;

let running = 0;
const waiting: (() => void)[] = [];
let decoy: Promise<string> | undefined;

/** The one form in which a login is stored and compared: NFKC, lower case, no space around it. */
export function canonicalLogin(login: string): string {
  return login.normalize("NFKC").toLowerCase().trim();
}

/**
 * Hashes a new password. Throws `core.validation` unless it has 8 to 1 024 bytes after NFC; `at` is the JSON Pointer
 * that the error names.
 */
export async function hashPassword(password: string, at = "/password"): Promise<string> {
  const text = password.normalize("NFC");
  const bytes = Buffer.byteLength(text);
  if (bytes < minBytes || bytes > maxBytes) {
    const message = `must have ${minBytes} to ${maxBytes} bytes`;
    throw fail("core.validation", { errors: [{ path: at, keyword: "length", message }] });
  }
  return bounded(() => argon2.hash(text, parameters));
}

/** Whether the password is the one of the hash. Without a hash, the same work is done and the answer is false. */
export async function verifyPassword(hash: string | undefined, password: string): Promise<boolean> {
  const text = password.normalize("NFC");
  if (Buffer.byteLength(text) > maxBytes) return false;
  decoy ??= argon2.hash("a password that nobody has", parameters);
  const against = hash ?? (await decoy);
  const matches = await bounded(() => argon2.verify(against, text));
  return matches && hash !== undefined;
}

/** Whether the hash was made with other parameters than today's. */
export function isOutdated(hash: string): boolean {
  return argon2.needsRehash(hash, parameters);
}

/** Runs at most `maxConcurrent` hashes at a time: each takes 19 MiB. */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
