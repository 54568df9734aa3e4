// Access tokens of every algorithm, their public keys, rotation and an external signer (service.md "Keys and secrets", attacks 2, 3, 5, 6, 25).
import { identityResources } from "../../../runtime/families/identity/resources.js";
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from "node:crypto";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { service as reference } from "../../../generated/service.js";
import { newTokenKey } from "../../../runtime/operations/token-keys.js";
import { tokenAlgorithms, type TokenAlgorithm } from "../../../runtime/ports/tokens.js";
import { defineService, type ExternalSigner } from "../../../runtime/index.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const [engine] = engines;
if (engine === undefined) throw new Error("no engine");

const withAlgorithm = (algorithm: TokenAlgorithm) =>
  defineService({ ...reference, identity: { ...identitySpec, algorithm } });
const base64url = (keys: readonly Buffer[]): string =>
  keys.map((key) => key.toString("base64url")).join(",");
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs as RFC 7518 says, with whatever header. */
function signed(header: object, claims: object, key: KeyObject): string {
  const text = `${part(header)}.${part(claims)}`;
  const digest = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  const signature = sign(digest, Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

describe.each(tokenAlgorithms)("%s", (algorithm) => {
  const [older, newer] = [newTokenKey(algorithm), newTokenKey(algorithm)];
  let service: TestService;
  let people: People;
  let token = "";
  let personId = "";
  beforeAll(async () => {
    service = await startTestService(engine, {
      definition: withAlgorithm(algorithm),
      signsIn: false,
      environment: { SECRETS_ACCESS_TOKEN: base64url([newer, older]) },
    });
    people = peopleOf(service);
    personId = (await people.person()).id;
    token = (await people.session(personId, null)).access_token;
  });
  afterAll(() => service.stop());

  const statusOf = async (given: string): Promise<number> =>
    (await people.as(given, "GET", "/auth/sessions")).status;
  const claimsOf = (given: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(given.split(".")[1] ?? "", "base64url").toString()) as Record<
      string,
      unknown
    >;
  const keySet = async (): Promise<Answer["body"]> => service.call("GET", "/.well-known/jwks.json");

  test("a token opens what is guarded, and has the algorithm and a key id", async () => {
    expect(await statusOf(token)).toBe(200);
    expect(decodeProtectedHeader(token)).toEqual({
      alg: algorithm,
      typ: "at+jwt",
      kid: expect.any(String),
    });
  });

  test("the key set has the public keys alone, of the newest key and of those before it", async () => {
    const { status, headers, body } = await keySet();
    expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=300"]);
    if (algorithm === "HS256") {
      expect(body).toEqual({ keys: [] });
      return;
    }
    expect(body.keys).toHaveLength(2);
    for (const key of body.keys) {
      const secret = ["d", "p", "q", "dp", "dq", "qi", "k"].filter((name) => name in key);
      expect([key.alg, key.use, secret]).toEqual([algorithm, "sig", []]);
    }
    expect(body.keys[0].kid).toBe(decodeProtectedHeader(token).kid);
    // Somebody else verifies it with nothing but the key set.
    const remote = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(token, remote, {
      issuer: "tracker",
      audience: "tracker",
      typ: "at+jwt",
    });
    expect(payload.sub).toBe(personId);
  });

  test("a token of the key before verifies, and one of a key that is gone does not", async () => {
    const restart = (keys: readonly Buffer[]) =>
      startTestService(engine, {
        definition: withAlgorithm(algorithm),
        signsIn: false,
        environment: { SECRETS_ACCESS_TOKEN: base64url(keys) },
      });
    const before = await restart([older]);
    const early = await peopleOf(before).session((await peopleOf(before).person()).id, null);
    const verified = await service.running.connection
      .of(identityResources)
      .tokens.verify(early.access_token);
    expect(verified.sid).toEqual(expect.any(String));
    const { tokens } = before.running.connection.of(identityResources);
    await expect(async () => tokens.verify(token)).rejects.toThrow();
    await before.stop();
  });

  if (algorithm === "HS256") return;

  test("forged tokens are the one 401", async () => {
    const header = decodeProtectedHeader(token);
    const claims = claimsOf(token);
    const [jwk] = (await keySet()).body.keys;
    const publicKey = createPublicKey({ key: jwk, format: "jwk" });
    const pem = publicKey.export({ type: "spki", format: "pem" }) as string;
    const der = publicKey.export({ type: "spki", format: "der" });
    const confused = (secret: string | Buffer): string => {
      const text = `${part({ ...header, alg: "HS256" })}.${part(claims)}`;
      return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
    };
    const another = createPrivateKey({ key: newTokenKey(algorithm), format: "der", type: "pkcs8" });
    const own = createPrivateKey({ key: newer, format: "der", type: "pkcs8" });
    const [head = "", body = "", signature = ""] = token.split(".");
    const zero = Buffer.alloc(Buffer.from(signature, "base64url").length).toString("base64url");
    const forged = {
      "the public key in PEM as a secret": confused(pem),
      "the same without its last line break": confused(pem.trimEnd()),
      "the public key in DER as a secret": confused(der),
      "the public key as JWK as a secret": confused(JSON.stringify(jwk)),
      "no algorithm": `${part({ ...header, alg: "none" })}.${body}.`,
      "another key under our key id": signed(header, claims, another),
      "another key in the header": signed(
        { ...header, jwk: createPublicKey(another).export({ format: "jwk" }) },
        claims,
        another,
      ),
      "a critical extension": signed({ ...header, crit: ["b64"], b64: true }, claims, own),
      "an unknown key id": signed({ ...header, kid: "nobody" }, claims, own),
      "no type": signed({ alg: header.alg, kid: header.kid }, claims, own),
      "a signature of zeros": `${head}.${body}.${zero}`,
      "an empty signature": `${head}.${body}.`,
      "another payload under the signature": `${head}.${part({ ...claims, sub: "x" })}.${signature}`,
      "an actor chain": signed(header, { ...claims, act: { sub: "a", act: { sub: "b" } } }, own),
      "an actor that the session does not have": signed(
        header,
        { ...claims, act: { sub: personId } },
        own,
      ),
    };
    for (const [what, bad] of Object.entries(forged)) {
      const answer = await people.as(bad, "GET", "/auth/sessions");
      expect([what, answer.status, answer.body.code]).toEqual([what, 401, "core.authentication"]);
    }
    expect(await statusOf(signed(header, claims, own))).toBe(200);
  });
});

test("an ES256 signature in DER, and one of another curve, are refused", async () => {
  const key = newTokenKey("ES256");
  const service = await startTestService(engine, {
    definition: withAlgorithm("ES256"),
    signsIn: false,
    environment: { SECRETS_ACCESS_TOKEN: base64url([key]) },
  });
  const people = peopleOf(service);
  const { access_token: token } = await people.session((await people.person()).id, null);
  const [head = "", body = ""] = token.split(".");
  const own = createPrivateKey({ key, format: "der", type: "pkcs8" });
  const other = generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey;
  const data = Buffer.from(`${head}.${body}`);
  const signatures = [
    sign("sha256", data, { key: own, dsaEncoding: "der" }),
    sign("sha256", data, { key: other, dsaEncoding: "ieee-p1363" }),
  ];
  for (const signature of signatures) {
    const forged = `${head}.${body}.${signature.toString("base64url")}`;
    expect((await people.as(forged, "GET", "/auth/sessions")).status).toBe(401);
  }
  await service.stop();
});

test("a signer outside the process signs, and its public keys verify", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  let calls = 0;
  const signer: ExternalSigner = {
    kid: "kms-1",
    async sign(data) {
      calls += 1;
      return sign("sha256", data, { key: privateKey, dsaEncoding: "ieee-p1363" });
    },
    publicKeys: [{ ...publicKey.export({ format: "jwk" }), kid: "kms-1" }],
  };
  const definition = (given: ExternalSigner) =>
    defineService({
      ...reference,
      identity: { ...identitySpec, algorithm: "ES256", signer: given },
    });
  const service = await startTestService(engine, {
    definition: definition(signer),
    signsIn: false,
  });
  const people = peopleOf(service);
  const { access_token: token } = await people.session((await people.person()).id, null);
  expect([calls, decodeProtectedHeader(token).kid]).toEqual([1, "kms-1"]);
  expect((await people.as(token, "GET", "/auth/sessions")).status).toBe(200);
  expect((await service.call("GET", "/.well-known/jwks.json")).body.keys[0].kid).toBe("kms-1");
  await service.stop();
  await expect(
    startTestService(engine, { definition: definition({ ...signer, kid: "kms-2" }) }),
  ).rejects.toMatchObject({
    cause: { message: "identity.signing.signer: no public key has its kid kms-2" },
  });
});

test("keys that are too weak or of another kind are refused at start, by name", () => {
  const der = (key: KeyObject): Buffer => key.export({ type: "pkcs8", format: "der" });
  const rsa1024 = der(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey);
  const p384 = der(generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey);
  const cases = [
    ["HS256", Buffer.alloc(31), "needs at least 32 bytes"],
    ["RS256", rsa1024, "must be an RSA key of at least 2048 bits"],
    ["ES256", p384, "must be a key on the curve P-256"],
    ["EdDSA", newTokenKey("ES256"), "must be an Ed25519 key"],
    ["RS256", Buffer.alloc(64), "must be a key in DER"],
  ] as const;
  for (const [algorithm, key, fault] of cases) {
    const environment = { SECRETS_ACCESS_TOKEN: key.toString("base64url") };
    expect(() => readSettings(withAlgorithm(algorithm), environment)).toThrow(
      `SECRETS_ACCESS_TOKEN ${fault}`,
    );
  }
});
