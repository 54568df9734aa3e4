// What a new password must be, wherever somebody chooses one: made, changed, reset, or given to the command (decisions.md §4).
import { identityResources } from "../../../runtime/families/identity/resources.js";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";

const login = "Margaret.Hamilton@example.test";

/** What is refused, and by which rule. */
const refused: readonly (readonly [string, string, string])[] = [
  ["seven characters", "1n7&x-q", "minLength"],
  ["four emoji, of sixteen bytes", "🦊🐙🦉🐝", "minLength"],
  ["eight characters that NFC makes four of", "e\u0301".repeat(4), "minLength"],
  ["1 025 bytes", "x".repeat(1025), "maxLength"],
  ["1 024 characters of two bytes", "ж".repeat(1024), "maxLength"],
  ["one that everybody tries", "Password", "common"],
  ["the same in other letters", "PassW0rd", "common"],
  ["the same in wide letters", "ｐａｓｓｗｏｒｄ", "common"],
  ["the same with space around it", "  iloveyou1 ", "common"],
  ["keys beside each other", "qwertyuiop", "common"],
  ["the login", login, "login"],
  ["the login in other letters", login.toUpperCase(), "login"],
  ["the login before the @", "margaret.hamilton", "login"],
  ["the same, decorated", "MargaretHamilton!!", "login"],
];

/** What is taken. */
const allowed = [
  ["a phrase", password],
  ["one with ordinary words", "a long password"],
  ["1 024 bytes", `${"x".repeat(1020)}long`],
  ["eight emoji", "🦊🐙🦉🐝🦊🐙🦉🐝"],
  ["words of another script", "схема-лодка"],
  ["more than the login", "Margaret.Hamilton wrote it"],
] as const;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let id = "";
    beforeAll(async () => {
      service = await startTestService(engine);
      people = peopleOf(service);
      const context = service.running.connection.context("test.people");
      id = await createPrincipal(context, { login, password });
    });
    afterAll(() => service.stop());

    /** Puts a token of a reset where the service looks for it, and uses it. */
    const reset = async (next: string): Promise<Answer> => {
      const token = randomBytes(32).toString("base64url");
      await service.running.connection.write("test.reset", (context) =>
        context.transaction.of(identityStore).putResetToken({
          principalId: id,
          digest: context.resources
            .of(identityResources)
            .reset.sign("reset-digest", token)
            .toString("base64url"),
          expiresAt: Date.now() + 60_000,
        }),
      );
      return service.post("/auth/password-reset/confirm", { token, new_password: next });
    };
    const change = async (next: string): Promise<Answer> => {
      const { access_token: token } = await people.session(id, null);
      const body = { current_password: password, new_password: next };
      return people.as(token, "POST", "/auth/change-password", body);
    };
    const create = (next: string): Promise<Answer> =>
      service.post("/admin/principals", { login, password: next });

    test.each(refused)("%s is refused by its rule, everywhere", async (_what, next, keyword) => {
      const answers = [
        [await create(next), "/password"],
        [await change(next), "/new_password"],
        [await reset(next), "/new_password"],
      ] as const;
      for (const [{ status, body }, path] of answers) {
        expect([status, body.code]).toEqual([422, "core.validation"]);
        expect(body.context.errors).toEqual([{ path, keyword, message: expect.any(String) }]);
        expect(JSON.stringify(body)).not.toContain(next);
      }
      const context = service.running.connection.context("test.people");
      await expect(createPrincipal(context, { login, password: next })).rejects.toMatchObject({
        context: { errors: [{ path: "/password", keyword }] },
      });
    });

    test.each(allowed)("%s is taken", async (_what, next) => {
      expect((await reset(next)).status).toBe(204);
      const signedIn = await service.post("/auth/login", { login, password: next });
      expect(signedIn.status).toBe(200);
      await reset(password);
    });

    test("one from before a rule goes on signing in", async () => {
      const { hash } = (await import("argon2")).default;
      // With parameters of the past: it is hashed anew at the login.
      const old = await hash("hunter2", { type: 2, memoryCost: 8_192, timeCost: 1 });
      await service.running.connection.write("test.old", ({ transaction }) =>
        transaction.of(identityStore).setPassword(id, old),
      );
      for (const _round of [1, 2])
        expect((await service.post("/auth/login", { login, password: "hunter2" })).status).toBe(
          200,
        );
      await reset(password);
    });

    test("the document says what lengths are taken", async () => {
      const { body } = await service.call("GET", "/openapi.json");
      const text = JSON.stringify(body);
      const bounds = [...text.matchAll(/"new_password":(\{[^}]*\})/g)].map(
        ([, schema = ""]) => JSON.parse(schema) as object,
      );
      expect(bounds.length).toBeGreaterThan(1);
      for (const schema of bounds)
        expect(schema).toMatchObject({ type: "string", minLength: 8, maxLength: 1024 });
    });
  });
}
