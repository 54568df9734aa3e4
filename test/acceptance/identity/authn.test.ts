// Signing in and out over HTTP: tokens, refresh families, sessions, passwords (service.md "Authentication", attacks 1–17, 20, 24).
import { systemClock } from "../../../runtime/ports/clock.js";
import { createHmac, generateKeyPairSync, randomBytes, sign as signWith } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { service as reference } from "../../../generated/service.js";
import { tokenIssuer } from "../../../runtime/families/identity/access-token.js";
import { localTokenKeys } from "../../../runtime/operations/token-keys.js";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { engines } from "../../support/engines.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";

const password = "correct horse battery staple";
const secret = randomBytes(32);
const bearer = (token: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${token}`,
});
const refused = {
  detail: "The credentials were not accepted.",
  code: "core.authentication",
  kind: "authentication",
  context: {},
};

/** A JWT of any header and claims, signed or not. */
function forge(header: unknown, claims: unknown, key: Buffer | null = secret): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${key === null ? "" : createHmac("sha256", key).update(text).digest("base64url")}`;
}

const decoded = (part: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(part ?? "", "base64url").toString()) as Record<string, unknown>;

/** The schemes that the reference service takes. */
const offered = 'Bearer realm="tracker", ApiKey realm="tracker"';

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people = 0;
    beforeAll(async () => {
      service = await startTestService(engine, {
        signsIn: false,
        environment: { SECRETS_ACCESS_TOKEN: secret.toString("base64url") },
      });
    });
    afterAll(() => service.stop());

    const newLogin = async (): Promise<string> => {
      const login = `p${(people += 1)}@example.test`;
      await createPrincipal(service.running.connection.context("test.people"), { login, password });
      return login;
    };
    const signIn = async (login?: string): Promise<Answer["body"]> =>
      (await service.post("/auth/login", { login: login ?? (await newLogin()), password })).body;
    const sessions = (token: string): Promise<Answer> =>
      service.call("GET", "/auth/sessions", { headers: bearer(token) });
    const isLive = async (token: string): Promise<boolean> =>
      (await sessions(token)).status === 200;
    const refresh = (token: string): Promise<Answer> =>
      service.post("/auth/refresh", { refresh_token: token });

    test("a login answers tokens that open guarded operations", async () => {
      const login = await newLogin();
      const { status, headers, body } = await service.post("/auth/login", {
        login: ` ${login.toUpperCase()} `,
        password,
      });
      expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(body).toEqual({
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        refresh_token: expect.stringMatching(/^[\w-]{43}$/),
        access_token_type: "Bearer",
        access_expires_in: 900,
        refresh_expires_in: 604_800,
      });
      const [header, claims] = (body.access_token as string).split(".").slice(0, 2).map(decoded);
      expect(header).toEqual({ alg: "HS256", typ: "at+jwt", kid: expect.any(String) });
      expect(Object.keys(claims ?? {}).sort()).toEqual([
        "aud",
        "exp",
        "gen",
        "iat",
        "iss",
        "jti",
        "sid",
        "sub",
      ]);
      const { body: list } = await sessions(body.access_token);
      expect(list.sessions).toEqual([
        { id: claims?.["sid"], created_at: expect.any(String), is_current: true },
      ]);
    });

    test("every failed login is the same 401", async () => {
      const login = await newLogin();
      const gone = await newLogin();
      const { connection } = service.running;
      await connection.write("test.deactivate", async (context) => {
        const store = context.transaction.of(identityStore);
        const principal = await store.findPrincipalByLogin(gone);
        await store.deactivate(principal?.id ?? "", Date.now());
      });
      const answers = await Promise.all([
        service.post("/auth/login", { login, password: "wrong password" }),
        service.post("/auth/login", { login: "nobody@example.test", password }),
        service.post("/auth/login", { login: gone, password }),
        service.post("/auth/login", { login, password: `${password} ` }),
        service.post("/auth/login", { login, password: `${password}\u0001` }),
      ]);
      for (const { status, headers, body } of answers) {
        expect([status, headers.get("www-authenticate"), body]).toEqual([401, offered, refused]);
      }
    });

    test("an unknown login takes as long as a wrong password", async () => {
      const login = await newLogin();
      const time = async (body: object): Promise<number> => {
        const started = performance.now();
        await service.post("/auth/login", body);
        return performance.now() - started;
      };
      const known: number[] = [];
      const unknown: number[] = [];
      for (let round = 0; round < 40; round += 1) {
        known.push(await time({ login, password: "wrong password" }));
        unknown.push(
          await time({ login: `nobody${round}@example.test`, password: "wrong password" }),
        );
      }
      // Mann-Whitney: how often a known login took longer than an unknown one. Half the time means no difference.
      const wins = known.reduce(
        (sum, left) => sum + unknown.filter((right) => left > right).length,
        0,
      );
      const share = wins / (known.length * unknown.length);
      expect(share).toBeGreaterThan(0.2);
      expect(share).toBeLessThan(0.8);
    });

    test("passwords are compared in NFC and never cut", async () => {
      const { connection } = service.running;
      const composed = "pässwörd-ünïcode";
      await createPrincipal(connection.context("test.people"), {
        login: `nfc-${engine.name}`,
        password: composed.normalize("NFD"),
      });
      expect(
        (await service.post("/auth/login", { login: `nfc-${engine.name}`, password: composed }))
          .status,
      ).toBe(200);
      const long = "x".repeat(1_024);
      await createPrincipal(connection.context("test.people"), {
        login: `long-${engine.name}`,
        password: long,
      });
      expect(
        (
          await service.post("/auth/login", {
            login: `long-${engine.name}`,
            password: long.slice(1),
          })
        ).status,
      ).toBe(401);
      expect(
        (await service.post("/auth/login", { login: "x", password: "y".repeat(10_000) })).status,
      ).toBe(422);
      await expect(
        createPrincipal(connection.context("test.people"), { login: "short", password: "1234567" }),
      ).rejects.toThrow();
    });

    test("a login has one form: case, width and space around it make no difference, other letters do", async () => {
      const login = await newLogin();
      const wide = login.replaceAll(/[a-z0-9]/g, (c) =>
        String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0),
      );
      const spelt = async (given: string): Promise<number> =>
        (await service.post("/auth/login", { login: given, password })).status;
      expect([await spelt(wide), await spelt(`\t${login.toUpperCase()}\u3000`)]).toEqual([
        200, 200,
      ]);
      // A Cyrillic letter, and one of no width, are other logins.
      expect([await spelt(login.replace("e", "\u0435")), await spelt(`\u200b${login}`)]).toEqual([
        401, 401,
      ]);
      const { connection } = service.running;
      const taken = createPrincipal(connection.context("test.people"), { login: wide, password });
      await expect(taken).rejects.toMatchObject({ code: "core.conflict" });
    });

    test("a password of a megabyte is refused before it is hashed", async () => {
      const answer = await service.post("/auth/login", {
        login: "x",
        password: "y".repeat(1_000_000),
      });
      expect([answer.status, answer.body.context.errors[0].keyword]).toEqual([422, "maxLength"]);
      expect(JSON.stringify(answer.body)).not.toContain("yyy");
    });

    describe("forged tokens", () => {
      const now = (): number => Math.floor(Date.now() / 1000);
      const cases: readonly (readonly [
        string,
        (header: Record<string, unknown>, claims: Record<string, unknown>, token: string) => string,
      ])[] = [
        ["no algorithm", (header, claims) => forge({ ...header, alg: "none" }, claims, null)],
        [
          "no algorithm, spelt otherwise",
          (header, claims) => forge({ ...header, alg: "nOnE" }, claims, null),
        ],
        ["an empty signature", (header, claims) => forge(header, claims, null)],
        ["another key", (header, claims) => forge(header, claims, Buffer.alloc(32, 6))],
        [
          "HS384 under the right key",
          (header, claims) => forge({ ...header, alg: "HS384" }, claims),
        ],
        [
          "RS256",
          (header, claims) => {
            const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
            const text = forge({ ...header, alg: "RS256" }, claims)
              .split(".")
              .slice(0, 2)
              .join(".");
            return `${text}.${signWith("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
          },
        ],
        [
          "a kid that is a path",
          (header, claims) => forge({ ...header, kid: "../../dev/null" }, claims),
        ],
        ["a kid that is SQL", (header, claims) => forge({ ...header, kid: "' OR 1=1" }, claims)],
        ["a kid that is a list", (header, claims) => forge({ ...header, kid: ["x"] }, claims)],
        [
          "a kid that is __proto__",
          (header, claims) => forge({ ...header, kid: "__proto__" }, claims),
        ],
        ["no kid", ({ kid: _kid, ...header }, claims) => forge(header, claims)],
        [
          "a key in the header",
          (header, claims) => forge({ ...header, jwk: { kty: "oct", k: "AA" } }, claims),
        ],
        [
          "a key address in the header",
          (header, claims) => forge({ ...header, jku: "http://127.0.0.1/x" }, claims),
        ],
        [
          "a certificate in the header",
          (header, claims) => forge({ ...header, x5c: ["x"] }, claims),
        ],
        [
          "a critical extension",
          (header, claims) => forge({ ...header, crit: ["b64"], b64: true }, claims),
        ],
        ["another type", (header, claims) => forge({ ...header, typ: "JWT" }, claims)],
        ["no type", ({ typ: _typ, ...header }, claims) => forge(header, claims)],
        ["another issuer", (header, claims) => forge(header, { ...claims, iss: "x" })],
        ["another audience", (header, claims) => forge(header, { ...claims, aud: "x" })],
        ["an expiry long past", (header, claims) => forge(header, { ...claims, exp: now() - 60 })],
        [
          "an expiry as text",
          (header, claims) => forge(header, { ...claims, exp: String(now() + 60) }),
        ],
        ["no expiry", (header, { exp: _exp, ...claims }) => forge(header, claims)],
        ["an issue far ahead", (header, claims) => forge(header, { ...claims, iat: now() + 600 })],
        ["a start far ahead", (header, claims) => forge(header, { ...claims, nbf: now() + 600 })],
        ["no session", (header, { sid: _sid, ...claims }) => forge(header, claims)],
        ["a generation to come", (header, claims) => forge(header, { ...claims, gen: 1 })],
        [
          "a generation that is no number",
          (header, claims) => forge(header, { ...claims, gen: "0" }),
        ],
        ["a session that is a number", (header, claims) => forge(header, { ...claims, sid: 1 })],
        [
          "another subject",
          (header, claims) =>
            forge(header, { ...claims, sub: "01890000-0000-7000-8000-000000000009" }),
        ],
        ["a tenant of one's own", (header, claims) => forge(header, { ...claims, tid: "globex" })],
        ["padding", (_header, _claims, token) => `${token}=`],
        ["a foreign character", (_header, _claims, token) => `${token.slice(0, -1)}+`],
        [
          "another spelling of the same bytes",
          (_header, _claims, token) => {
            const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            const last = alphabet.indexOf(token.at(-1) ?? "A");
            return `${token.slice(0, -1)}${alphabet[last ^ 1]}`;
          },
        ],
        ["seven parts", (_header, _claims, token) => `${token}.a.b.c.d`],
        ["five parts", (_header, _claims, token) => `${token}.a.b`],
        ["10 KB", (header, claims) => forge(header, { ...claims, x: "x".repeat(7_500) })],
        ["nothing but dots", () => ".."],
        ["a refresh token", () => "A".repeat(43)],
      ];
      test.each(cases)(
        "%s is the one 401, on a guarded and on an open operation",
        async (_what, make) => {
          const { access_token: token } = await signIn();
          const [header, claims] = (token as string).split(".").slice(0, 2).map(decoded);
          const forged = make(header ?? {}, claims ?? {}, token);
          for (const path of ["/auth/sessions", "/places/01890000-0000-7000-8000-000000000001"]) {
            const answer = await service.call("GET", path, { headers: bearer(forged) });
            expect([answer.status, answer.body, answer.headers.get("www-authenticate")]).toEqual([
              401,
              refused,
              'Bearer realm="tracker", error="invalid_token"',
            ]);
          }
          expect(await isLive(token)).toBe(true);
        },
      );

      test("a token is good within ten seconds of its end, and other schemes are no credential of ours", async () => {
        const { access_token: token } = await signIn();
        const [header, claims] = (token as string).split(".").slice(0, 2).map(decoded);
        expect(await isLive(forge(header, { ...claims, exp: now() - 5 }))).toBe(true);
        for (const value of ["Basic eDp5", "Bearer", "Bearer a b", token, `bearer  ${token}`]) {
          const answer = await service.call("GET", "/auth/sessions", {
            headers: { authorization: value },
          });
          expect([value.slice(0, 12), answer.status]).toEqual([value.slice(0, 12), 401]);
        }
      });
    });

    test("a credential is not looked at where the body authenticates", async () => {
      const login = await newLogin();
      const answer = await service.post("/auth/login", { login, password }, bearer("nonsense"));
      expect(answer.status).toBe(200);
    });

    test("refreshing gives a successor; a lost answer can be asked for again; the session goes on", async () => {
      const first = await signIn();
      const second = await refresh(first.refresh_token);
      const again = await refresh(first.refresh_token);
      expect([second.status, again.status]).toEqual([200, 200]);
      expect(again.body.refresh_token).toBe(second.body.refresh_token);
      expect(second.body.refresh_token).not.toBe(first.refresh_token);
      expect(await isLive(second.body.access_token)).toBe(true);
    });

    test("a refresh ends the access token before it once the grace is over", async () => {
      const first = await signIn();
      const second = (await refresh(first.refresh_token)).body;
      // Requests that are under way still have the grace.
      expect(await isLive(first.access_token)).toBe(true);
      const third = (await refresh(second.refresh_token)).body;
      expect(
        await Promise.all([first, second, third].map((one) => isLive(one.access_token))),
      ).toEqual([false, true, true]);
      const strict = await startTestService(engine, {
        signsIn: false,
        definition: { ...reference, identity: { ...identitySpec, refreshGraceSeconds: 0 } },
      });
      try {
        const login = "strict@example.test";
        await createPrincipal(strict.running.connection.context("test"), { login, password });
        const before = (await strict.post("/auth/login", { login, password })).body;
        const after = (await strict.post("/auth/refresh", { refresh_token: before.refresh_token }))
          .body;
        const statusOf = async (token: string): Promise<number> =>
          (await strict.call("GET", "/auth/sessions", { headers: bearer(token) })).status;
        // The grace is measured in whole milliseconds.
        await expect.poll(() => statusOf(before.access_token)).toBe(401);
        expect(await statusOf(after.access_token)).toBe(200);
      } finally {
        await strict.stop();
      }
    });

    test("50 parallel refreshes with one token give one successor", async () => {
      const { refresh_token: token } = await signIn();
      const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(token)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    });

    test("a token whose successor was used is a theft: the whole session ends", async () => {
      const first = await signIn();
      const second = (await refresh(first.refresh_token)).body;
      const third = (await refresh(second.refresh_token)).body;
      const theft = await refresh(first.refresh_token);
      expect([theft.status, theft.body]).toEqual([401, refused]);
      expect(await isLive(third.access_token)).toBe(false);
      expect((await refresh(third.refresh_token)).status).toBe(401);
    });

    test.each(["", "x", "A".repeat(43), "'; DROP TABLE opwright_sessions; --"])(
      "the refresh token %j is refused",
      async (token) => {
        expect([401, 422]).toContain((await refresh(token)).status);
      },
    );

    test("a token is dead on the next request after logout, and so is its refresh token", async () => {
      const first = await signIn();
      const answer = await service.call("POST", "/auth/logout", {
        headers: bearer(first.access_token),
      });
      expect([answer.status, answer.body]).toEqual([204, undefined]);
      expect([
        await isLive(first.access_token),
        (await refresh(first.refresh_token)).status,
      ]).toEqual([false, 401]);
      expect(
        (await service.call("POST", "/auth/logout", { headers: bearer(first.access_token) }))
          .status,
      ).toBe(401);
    });

    test("logout of all ends every session of the caller and nobody else's", async () => {
      const login = await newLogin();
      const [one, two, other] = [await signIn(login), await signIn(login), await signIn()];
      await service.call("POST", "/auth/logout", {
        headers: bearer(one.access_token),
        body: { scope: "all" },
      });
      expect([
        await isLive(one.access_token),
        await isLive(two.access_token),
        await isLive(other.access_token),
      ]).toEqual([false, false, true]);
    });

    test("a session is ended by its owner alone", async () => {
      const login = await newLogin();
      const [mine, second, other] = [await signIn(login), await signIn(login), await signIn()];
      const { sid } = decoded((second.access_token as string).split(".")[1]);
      const end = (token: string): Promise<Answer> =>
        service.call("DELETE", `/auth/sessions/${String(sid)}`, { headers: bearer(token) });
      expect((await end(other.access_token)).status).toBe(404);
      expect((await end(mine.access_token)).status).toBe(204);
      expect((await end(mine.access_token)).status).toBe(404);
      expect([await isLive(mine.access_token), await isLive(second.access_token)]).toEqual([
        true,
        false,
      ]);
    });

    test("changing the password needs the current one and ends every session", async () => {
      const login = await newLogin();
      const [one, two] = [await signIn(login), await signIn(login)];
      const change = (current: string): Promise<Answer> =>
        service.post(
          "/auth/change-password",
          { current_password: current, new_password: "another long password" },
          bearer(one.access_token),
        );
      const wrong = await change("wrong password");
      expect([wrong.status, wrong.body.code]).toEqual([403, "current_password_wrong"]);
      expect(wrong.headers.get("www-authenticate")).toBeNull();
      expect(await isLive(one.access_token)).toBe(true);
      expect((await change(password)).status).toBe(204);
      expect([await isLive(one.access_token), await isLive(two.access_token)]).toEqual([
        false,
        false,
      ]);
      expect((await service.post("/auth/login", { login, password })).status).toBe(401);
      expect(
        (await service.post("/auth/login", { login, password: "another long password" })).status,
      ).toBe(200);
    });

    test("a deactivated principal's tokens are dead on the next request", async () => {
      const login = await newLogin();
      const { access_token: token, refresh_token: next } = await signIn(login);
      const { connection } = service.running;
      await connection.write("test.deactivate", async (context) => {
        const principal = await context.transaction.of(identityStore).findPrincipalByLogin(login);
        await context.transaction.of(identityStore).deactivate(principal?.id ?? "", Date.now());
      });
      expect([await isLive(token), (await refresh(next)).status]).toEqual([false, 401]);
    });

    test("guarded operations are 401 without a credential, never 403", async () => {
      const routes = [
        ["GET", "/auth/sessions"],
        ["POST", "/auth/logout"],
        ["DELETE", "/auth/sessions/01890000-0000-7000-8000-000000000001"],
      ] as const;
      for (const [method, path] of routes) {
        const answer = await service.call(method, path);
        const nobody = { ...refused, detail: "Authentication is required." };
        expect([answer.status, answer.body]).toEqual([401, nobody]);
      }
    });

    test("tokens of a rotated secret go on while it is listed, and end when it is not", async () => {
      const { access_token: token } = await signIn();
      const fresh = Buffer.alloc(32, 9).toString("base64url");
      const issuerWith = async (...secrets: readonly Buffer[]) =>
        tokenIssuer("HS256", await localTokenKeys("HS256", secrets), "tracker", systemClock);
      const newer = Buffer.from(fresh, "base64url");
      expect((await (await issuerWith(newer, secret)).verify(token)).sid).toBeDefined();
      const rotated = await issuerWith(newer);
      await expect(async () => rotated.verify(token)).rejects.toThrow();
    });
  });
}
