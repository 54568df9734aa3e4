// Schemas of what proves who somebody is. The audit log never names members that have one of them.
import type { JsonSchema } from "../model/json-schema.js";

/** The text of a login, password or token. */
export const credentialText: JsonSchema = { type: "string", minLength: 1, maxLength: 4_096 };

/** The login of a new principal: not only white space. */
export const newLoginText: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 4_096,
  pattern: "\\S",
};

/** The login of a new principal that mail reaches (RFC 5321 §4.5.3.1.3 leaves 254 characters). */
export const emailText: JsonSchema = { type: "string", format: "email", maxLength: 254 };

/**
 * The text of a password that somebody chooses. A schema can't express its further rules
 * (runtime/families/identity/password-rules.ts).
 */
export const newPasswordText: JsonSchema = {
  type: "string",
  minLength: 8,
  maxLength: 1_024,
  description:
    "At least 8 characters after NFC and at most 1,024 bytes; not a common one, and not the login.",
};

export const credentials: readonly JsonSchema[] = [
  credentialText,
  newLoginText,
  emailText,
  newPasswordText,
];
