// Sessions and API keys of requests that come in one turn are one query: what is wrong with one request is no other's, and
// none waits longer than it may.
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

const password = "correct horse battery staple";
const secret = randomBytes(32);

describe.each(engines)("on $name", (engine) => {
  describe.skipIf(!engine.isAvailable)("requests that come at once", () => {
    let service: TestService;
    let database: Awaited<ReturnType<typeof engine.create>>;
    const people = ["a@example.test", "b@example.test"];
    beforeAll(async () => {
      database = await engine.create();
      const SECRETS_ACCESS_TOKEN = secret.toString("base64url");
      const environment = { ...database.environment, SECRETS_ACCESS_TOKEN };
      service = await startTestService(engine, { signsIn: false, environment });
      for (const login of people)
        await createPrincipal(service.running.connection.context("test.people"), {
          login,
          password,
        });
    }, 60_000);
    afterAll(async () => {
      await service.stop();
      await database.drop();
    });

    const signIn = async (login: string): Promise<string> =>
      (await service.post("/auth/login", { login, password })).body.access_token;
    const ask = async (token: string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(`${service.url}/auth/sessions`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      return { status: answer.status, body: (await answer.json()) as { readonly code?: string } };
    };

    /** The token with another session, signed as ours are. */
    const forge = (token: string, sid: string): string => {
      const [head = "", claims = ""] = token.split(".");
      const all: object = JSON.parse(Buffer.from(claims, "base64url").toString());
      const forged = Buffer.from(JSON.stringify({ ...all, sid })).toString("base64url");
      const text = `${head}.${forged}`;
      return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
    };

    test.each(["nope", "a\u0000", "01890000-0000-7000-8000-000000000000"])(
      "a token of the session %j is refused, and no other request is",
      async (sid) => {
        const token = await signIn("a@example.test");
        for (let round = 0; round < 10; round += 1) {
          const [forged, ...honest] = await Promise.all([
            ask(forge(token, sid)),
            ...Array.from({ length: 8 }, () => ask(token)),
          ]);
          expect(forged?.status).toBe(401);
          expect(honest.map(({ status }) => status)).toEqual(honest.map(() => 200));
        }
      },
    );

    test("each is answered as its own caller, and none after its session has ended", async () => {
      const tokens = await Promise.all(
        Array.from({ length: 12 }, (_none, index) => signIn(people[index % 2] ?? "")),
      );
      const told = async (token: string): Promise<string> => {
        const answer = await fetch(`${service.url}/auth/me`, {
          headers: { authorization: `Bearer ${token}` },
        });
        return answer.text();
      };
      const expected: string[] = [];
      for (const token of tokens) expected.push(await told(token));
      expect(new Set(expected).size).toBeGreaterThan(1);
      expect(await Promise.all(tokens.map(told))).toEqual(expected);
      await Promise.all(
        tokens.slice(0, 6).map(async (token) => {
          await service.post("/auth/logout", {}, { authorization: `Bearer ${token}` });
          // From the answer on, whoever else asks in the same turn.
          expect((await ask(token)).status).toBe(401);
        }),
      );
      expect(await Promise.all(tokens.slice(6).map(told))).toEqual(expected.slice(6));
    });

    test("each key is answered as its own, beside keys that are unknown, revoked or over", async () => {
      const tokens = await Promise.all(people.map(signIn));
      const issue = async (token: string, body: object = {}) =>
        (await service.post("/api-keys", body, { authorization: `Bearer ${token}` })).body;
      const keys = [];
      for (let at = 0; at < 8; at += 1) keys.push(await issue(tokens[at % 2] ?? ""));
      const brief = await issue(tokens[0] ?? "", { expires_in: 1 });
      const revoked = await issue(tokens[0] ?? "");
      await service.call("DELETE", `/api-keys/${revoked.key_id}`, {
        headers: { authorization: `Bearer ${tokens[0]}` },
      });
      const known: string = keys[0].api_key;
      const unknown = known.slice(0, -1) + (known.endsWith("0") ? "1" : "0");
      await sleep(1_100);
      const refused = [unknown, `tracker_${"0".repeat(72)}`, "x", revoked.api_key, brief.api_key];
      const ask = async (key: string) => {
        const answer = await fetch(`${service.url}/auth/me`, { headers: { "x-api-key": key } });
        return {
          status: answer.status,
          id: ((await answer.json()) as { principal_id?: string }).principal_id,
        };
      };
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all([
          ...keys.map((key) => ask(key.api_key)),
          ...refused.map(ask),
        ]);
        const served = answers.slice(0, keys.length);
        expect(served.map(({ status }) => status)).toEqual(keys.map(() => 200));
        expect(new Set(served.map(({ id }) => id)).size).toBe(2);
        expect(served.map(({ id }) => id)).toEqual(keys.map((_key, at) => served[at % 2]?.id));
        expect(answers.slice(keys.length).map(({ status }) => status)).toEqual(
          refused.map(() => 401),
        );
      }
    });

    // A table of SQLite can't be locked against reads.
    if (engine.name === "sqlite") return;
    test("while sessions can't be read, each waits as long as it may, and nothing waits behind it", async () => {
      const token = await signIn("a@example.test");
      const admin = new pg.Client({ connectionString: database.url });
      await admin.connect();
      try {
        await admin.query("BEGIN; LOCK TABLE opwright_sessions IN ACCESS EXCLUSIVE MODE");
        const patient = ask(token, { "X-Deadline-Budget": "20" });
        const hasty: ReturnType<typeof ask>[] = [];
        for (let turn = 0; turn < 40; turn += 1) {
          hasty.push(
            ask(token, { "X-Deadline-Budget": "0.3" }),
            ask(token, { "X-Deadline-Budget": "0.4" }),
          );
          await sleep(5);
        }
        const codes = (await Promise.all(hasty)).map(({ body }) => body.code);
        expect(new Set(codes)).toEqual(new Set(["deadline_exceeded"]));
        // The connections of the service itself are free again.
        await expect
          .poll(
            async () => {
              const text =
                "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
              return (await admin.query<{ n: number }>(text)).rows[0]?.n;
            },
            { timeout: 20_000 },
          )
          .toBe(1);
        await admin.query("COMMIT");
        expect((await patient).status).toBe(200);
      } finally {
        await admin.end();
      }
    }, 60_000);
  });
});
