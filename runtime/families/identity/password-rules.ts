// The rules for a new password: long enough, not a common one, and not the login (NIST SP 800-63B-4
// §3.1.1.2).
import { canonicalLogin } from "./canonical-login.js";

/** Code points, as JSON Schema counts, so that every script counts alike. */
const minCharacters = 8;
/** Bytes, which is what hashing costs. */
const maxBytes = 1_024;

/** The rule that a new password breaks; it never holds the password. */
export interface PasswordFault {
  readonly keyword: "minLength" | "maxLength" | "login" | "common";
  readonly message: string;
}

/** The one form in which a password is hashed and counted. */
export function canonicalPassword(password: string): string {
  return password.normalize("NFC");
}

/** Whether a password is too long to have been accepted. */
export function isTooLong(canonical: string): boolean {
  return Buffer.byteLength(canonical) > maxBytes;
}

/** The rule that a canonical password breaks as the new one of a login, or null. */
export async function passwordFault(
  canonical: string,
  login: string,
): Promise<PasswordFault | null> {
  // The bytes first, so that the characters of a megabyte aren't counted.
  if (isTooLong(canonical))
    return { keyword: "maxLength", message: `must have at most ${maxBytes} bytes` };
  if ([...canonical].length < minCharacters)
    return { keyword: "minLength", message: `must have at least ${minCharacters} characters` };
  if (isLogin(canonical, login)) return { keyword: "login", message: "must not be the login" };
  common ??= commonPasswords();
  return (await common).has(foldText(canonical))
    ? { keyword: "common", message: "is one of the most common passwords" }
    : null;
}

/**
 * Whether it is the login, or the part before its @, ignoring case and everything but letters and
 * digits.
 */
function isLogin(password: string, login: string): boolean {
  const [name = ""] = login.split("@");
  return [login, name].some(
    (one) =>
      foldText(one) === foldText(password) || (bare(one) !== "" && bare(one) === bare(password)),
  );
}

function foldText(text: string): string {
  return canonicalLogin(text);
}

function bare(text: string): string {
  return foldText(text).replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, "");
}

let common: Promise<ReadonlySet<string>> | undefined;

/** The common passwords that are long enough, about 18 000; loaded with the first new password. */
async function commonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  const list = dictionary["passwords-common"].filter((one) => one.length >= minCharacters);
  return new Set(list.map(foldText));
}
