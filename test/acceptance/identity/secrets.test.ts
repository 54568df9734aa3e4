// Secrets of the environment and keys of external signers: the weak, the malformed and the shared are refused at start, by name (attack 86).
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  type JsonWebKey,
} from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { externalTokenKeys } from "../../../runtime/families/identity/external-keys.js";
import { newTokenKey } from "../../../runtime/operations/token-keys.js";
import type { TokenAlgorithm } from "../../../runtime/ports/tokens.js";
import { readSettings, SettingsError } from "../../../runtime/server/settings.js";

const names = [
  "SECRETS_SIGNING",
  "SECRETS_ACCESS_TOKEN",
  "SECRETS_REFRESH_PEPPER",
  "SECRETS_RESET_PEPPER",
] as const;
const drawn = (): string => randomBytes(32).toString("base64url");
const production = (given: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  NODE_ENV: "production",
  ...Object.fromEntries(names.map((name) => [name, drawn()])),
  ...given,
});

/** What a service with these settings says at start: nothing, or its faults. */
function refusal(
  environment: Readonly<Record<string, string>>,
  algorithm: TokenAlgorithm = "HS256",
): string {
  try {
    readSettings({ name: "t", identity: { ...identitySpec, algorithm } }, environment);
    return "";
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message;
  }
}

test("work on the database alone needs no secret, but a database that can be read", () => {
  const definition = { name: "t", identity: identitySpec };
  const read = (given: object) =>
    readSettings(definition, { NODE_ENV: "production", ...given }, "database");
  expect(read({ DATABASE_URL: "postgres://a/b" }).databaseUrl).toBe("postgres://a/b");
  expect(() => read({ DATABASE_URL: "mysql://a/b" })).toThrow("DATABASE_URL");
});

describe("a shared secret", () => {
  const ofText = (text: string): string => Buffer.from(text).toString("base64url");
  test.each([
    ["zeros", Buffer.alloc(32).toString("base64url"), "needs random bytes"],
    ["one letter", "a".repeat(64), "needs random bytes"],
    ["two letters", "ab".repeat(32), "needs random bytes"],
    [
      "one half twice",
      Buffer.concat([randomBytes(16)])
        .toString("hex")
        .repeat(2),
      "random bytes",
    ],
    ["a phrase again and again", ofText("change-me-".repeat(4)), "needs random bytes"],
    [
      "counted bytes",
      Buffer.from(Array.from({ length: 40 }, (_, at) => at)).toString("base64url"),
      "random",
    ],
    ["the alphabet", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV", "needs random bytes"],
    ["digits in words", ofText("0123456789012345678901234567890123456789"), "needs random bytes"],
    ["31 bytes", randomBytes(31).toString("base64url"), "needs at least 32 bytes"],
    ["nothing between two commas", `${drawn()},,${drawn()}`, "must be canonical base64url"],
    ["padding", `${drawn()}=`, "must be canonical base64url"],
    ["the other alphabet", `${Buffer.alloc(32, 0xff).toString("base64")}`, "canonical base64url"],
    ["a foreign character", `!${drawn()}`, "must be canonical base64url"],
    ["bits beyond the last byte", `${drawn().slice(0, -1)}B`, "must be canonical base64url"],
  ])("of %s is refused by name, and not printed", (_what, secret, fault) => {
    for (const environment of [
      production({ SECRETS_SIGNING: secret }),
      { SECRETS_SIGNING: secret },
    ]) {
      const message = refusal(environment);
      expect(message).toMatch(/SECRETS_SIGNING .* in entry \d/);
      expect(message).toContain(fault);
      expect(message).not.toContain(secret);
    }
  });

  test("drawn at random is taken, as bytes or as hexadecimal digits of 16 bytes or more", () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 32 });
    fc.assert(
      fc.property(bytes, (more) => {
        const secret = Buffer.concat([randomBytes(32), more]);
        const digits = Buffer.from(randomBytes(16).toString("hex"));
        const list = [secret, digits].map((item) => item.toString("base64url")).join(", ");
        expect(refusal(production({ SECRETS_SIGNING: list }))).toBe("");
      }),
      { numRuns: 200 },
    );
  });

  test("serves one purpose, once", () => {
    const secret = drawn();
    const six = refusal(production(Object.fromEntries(names.map((name) => [name, secret]))));
    for (const name of names.slice(1))
      expect(six).toContain(`${name} has a secret of SECRETS_SIGNING`);
    expect(six).not.toContain(secret);
    expect(
      refusal(
        production({
          SECRETS_REFRESH_PEPPER: `${drawn()},${secret}`,
          SECRETS_RESET_PEPPER: secret,
        }),
      ),
    ).toContain("SECRETS_RESET_PEPPER has a secret of SECRETS_REFRESH_PEPPER in entry 1");
    expect(refusal(production({ SECRETS_SIGNING: `${secret},${drawn()},${secret}` }))).toContain(
      "SECRETS_SIGNING has the same secret again in entry 3",
    );
  });
});

describe("a list of keys", () => {
  const publicPart = (key: Buffer): string =>
    createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" }))
      .export({ type: "spki", format: "der" })
      .toString("base64url");

  test("has each key once, the private and the public one being one key", () => {
    const key = newTokenKey("EdDSA");
    const list = `${key.toString("base64url")},${publicPart(key)}`;
    expect(refusal(production({ SECRETS_ACCESS_TOKEN: list }), "EdDSA")).toContain(
      "SECRETS_ACCESS_TOKEN has the same secret again in entry 2",
    );
  });

  test("begins with one that signs", () => {
    const list = publicPart(newTokenKey("ES256"));
    expect(refusal(production({ SECRETS_ACCESS_TOKEN: list }), "ES256")).toContain(
      "SECRETS_ACCESS_TOKEN needs a private key (PKCS#8) in entry 1",
    );
  });

  test("has no RSA key with a small exponent", () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 });
    const list = privateKey.export({ type: "pkcs8", format: "der" }).toString("base64url");
    expect(refusal(production({ SECRETS_ACCESS_TOKEN: list }), "RS256")).toContain(
      "SECRETS_ACCESS_TOKEN must have an odd exponent of at least 65537 in entry 1",
    );
  });
});

describe("an external signer", () => {
  const rsa = (modulusLength: number): JsonWebKey =>
    generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ format: "jwk" });
  const curve = (namedCurve: string): JsonWebKey =>
    generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "jwk" });
  const sound = { RS256: rsa(2048), ES256: curve("P-256"), EdDSA: ed25519("publicKey") } as const;
  const keysOf = (algorithm: TokenAlgorithm, publicKeys: readonly JsonWebKey[]) =>
    externalTokenKeys(algorithm, { kid: "kms", sign: () => new Uint8Array(), publicKeys });

  test.each(["RS256", "ES256", "EdDSA"] as const)(
    "with a sound key of %s is taken",
    (algorithm) => {
      const keys = keysOf(algorithm, [
        { ...sound[algorithm], kid: "kms", alg: algorithm, use: "sig" },
      ]);
      expect([...keys.verifying.keys()]).toEqual(["kms"]);
    },
  );

  test.each<[string, TokenAlgorithm, readonly JsonWebKey[], string]>([
    [
      "RSA of 1024 bits",
      "RS256",
      [{ ...rsa(1024), kid: "kms" }],
      "the public key kms must be an RSA key of at least 2048 bits",
    ],
    [
      "e = 1",
      "RS256",
      [{ ...sound.RS256, e: "AQ", kid: "kms" }],
      "the public key kms must have an odd exponent",
    ],
    [
      "e = 3",
      "RS256",
      [{ ...sound.RS256, e: "Aw", kid: "kms" }],
      "the public key kms must have an odd exponent",
    ],
    [
      "an even e",
      "RS256",
      [{ ...sound.RS256, e: "AQAC", kid: "kms" }],
      "the public key kms must have an odd exponent",
    ],
    [
      "another curve",
      "ES256",
      [{ ...curve("P-384"), kid: "kms" }],
      "the public key kms must be a key on the curve P-256",
    ],
    [
      "X25519",
      "EdDSA",
      [{ ...generateKeyPairSync("x25519").publicKey.export({ format: "jwk" }), kid: "kms" }],
      "the public key kms must be an Ed25519 key",
    ],
    [
      "a kty of another algorithm",
      "EdDSA",
      [{ ...sound.ES256, kid: "kms" }],
      "the public key kms must have the kty OKP",
    ],
    [
      "a point that is on no curve",
      "ES256",
      [{ ...sound.ES256, y: sound.ES256.x ?? "", kid: "kms" }],
      "the public key kms is no EC key",
    ],
    [
      "a private member",
      "EdDSA",
      [{ ...ed25519("privateKey"), kid: "kms" }],
      "the public key kms has the private member d",
    ],
    [
      "a shared secret",
      "HS256",
      [{ kty: "oct", k: drawn(), kid: "kms" }],
      "the public key kms cannot be public",
    ],
    [
      "one kid twice",
      "ES256",
      [
        { ...sound.ES256, kid: "kms" },
        { ...curve("P-256"), kid: "kms" },
      ],
      "two public keys have the kid kms",
    ],
    ["no kid", "ES256", [{ ...sound.ES256 }], "public key 1 has no kid"],
    [
      "keys of others alone",
      "ES256",
      [{ ...sound.ES256, kid: "other" }],
      "no public key has its kid kms",
    ],
    ["no key", "ES256", [], "no public key has its kid kms"],
    [
      "another algorithm in the key",
      "RS256",
      [{ ...sound.RS256, alg: "PS256", kid: "kms" }],
      "the public key kms has another alg than RS256",
    ],
    [
      "a key for encryption",
      "RS256",
      [{ ...sound.RS256, use: "enc", kid: "kms" }],
      "the public key kms has another use than sig",
    ],
  ])("with %s is refused", (_what, algorithm, publicKeys, fault) => {
    const causeOf = (): unknown => {
      try {
        return keysOf(algorithm, publicKeys);
      } catch (error) {
        return error instanceof Error ? error.cause : error;
      }
    };
    expect(String(causeOf())).toContain(`identity.signing.signer: ${fault}`);
  });
});

function ed25519(which: "publicKey" | "privateKey"): JsonWebKey {
  return generateKeyPairSync("ed25519")[which].export({ format: "jwk" });
}
