// Attacks on identity that an earlier version fell for: races with the end of a credential, escalation by keys, floods,
// and what two engines could read differently (attacks 11, 14, 16, 22, 23, 30).
import { identityResources } from "../../../runtime/families/identity/resources.js";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notesSpec } from "../../../generated/documents/notes.js";
import { authorize, identitySpec, scope } from "../../../generated/identity.js";
import { service as reference } from "../../../generated/service.js";
import {
  before,
  collection,
  defineService,
  documents,
  fail,
  identity,
  ownRows,
  params,
  path,
  principal,
  route,
  tenant,
} from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type People, type Person } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const newPassword = "another long password";

/** Notes behind a scope, with a hook of the operation's own that tells what it reads. */
const definition = defineService({
  ...reference,
  routes: [
    ...reference.routes,
    route({
      operationId: "told.get",
      method: "GET",
      path: "/told/{id}",
      status: 200,
      input: params({ id: path.uuid }),
      hooks: [
        principal,
        tenant,
        authorize("notes.read"),
        scope(notesSpec, ownRows),
        before(async ({ id }: { readonly id: string }, context) => {
          const { text } = await collection(notesSpec, context).get(id);
          throw fail("core.domain", { text });
        }),
      ],
      transaction: "read",
      run: documents.get(notesSpec),
    }),
  ],
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let admin = "";
    beforeAll(async () => {
      service = await startTestService(engine, {
        definition,
        signsIn: false,
        environment: {
          TRUSTED_PROXIES: "1",
          LOGIN_ATTEMPTS: "1000000",
          LOGIN_ATTEMPTS_PER_ADDRESS: "1000000",
        },
      });
      people = peopleOf(service);
      admin = (await people.session((await people.person("platform.admin")).id, null)).access_token;
    });
    afterAll(() => service.stop());

    const signIn = (login: string, with_ = password): Promise<Answer> =>
      service.post("/auth/login", { login, password: with_ });
    const isLive = async (token: string): Promise<boolean> =>
      (await people.as(token, "GET", "/auth/sessions")).status === 200;
    const withKey = (key: string, method: string, at: string, body?: unknown): Promise<Answer> =>
      service.call(method, at, {
        headers: { "x-api-key": key },
        ...(body === undefined ? {} : { body }),
      });
    /** Confirms a reset whose token is put where the operation finds it. */
    const reset = async ({ id }: Person, next: string): Promise<Answer> => {
      const token = `reset ${id}`;
      await service.running.connection.write("test.reset", ({ transaction, resources }) =>
        transaction.of(identityStore).putResetToken({
          principalId: id,
          digest: resources
            .of(identityResources)
            .reset.sign("reset-digest", token)
            .toString("base64url"),
          expiresAt: Date.now() + 60_000,
        }),
      );
      return service.post("/auth/password-reset/confirm", { token, new_password: next });
    };
    /** Sends headers, waits for `meanwhile`, then sends the body; resolves with the status. */
    const held = (
      token: string,
      at: string,
      body: string,
      meanwhile: () => Promise<unknown>,
    ): Promise<number> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(service.url);
        const socket = connect(Number(port), hostname, () => {
          socket.write(
            `POST ${at} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n` +
              `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
          );
          // Long enough for the boundary to have asked about the token.
          void sleep(150)
            .then(meanwhile)
            .then(() => socket.write(body), reject);
        });
        let answer = "";
        socket.on("data", (chunk) => (answer += chunk.toString()));
        socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])));
        socket.on("error", reject);
      });

    test("a login that was proven before a reset begins no session after it", async () => {
      for (let round = 0; round < 4; round += 1) {
        const person = await people.person();
        const logins: Promise<Answer>[] = [];
        for (let index = 0; index < 8; index += 1) logins.push(signIn(person.login));
        await sleep(10 * round);
        const [confirmed, ...answers] = await Promise.all([reset(person, newPassword), ...logins]);
        expect(confirmed.status).toBe(204);
        for (const { body } of answers)
          if (body.access_token !== undefined) expect(await isLive(body.access_token)).toBe(false);
        expect((await signIn(person.login)).status).toBe(401);
      }
    });

    test("of a reset and a change of password at once, one only is done", async () => {
      for (let round = 0; round < 4; round += 1) {
        const person = await people.person();
        const { access_token: stolen } = await people.session(person.id, null);
        const confirmed = reset(person, newPassword);
        await sleep(5 * round);
        const changed = people.as(stolen, "POST", "/auth/change-password", {
          current_password: password,
          new_password: "the attacker's password",
        });
        const [first, second] = await Promise.all([confirmed, changed]);
        // A change ends what resets are outstanding, a reset ends every session: one of them only is done.
        const outcome = [first.status, second.status];
        expect([...outcome].sort()).toEqual([204, 401]);
        const answers = [
          await signIn(person.login, newPassword),
          await signIn(person.login, "the attacker's password"),
        ];
        const expected = outcome[0] === 204 ? [200, 401] : [401, 200];
        expect(answers.map(({ status }) => status)).toEqual(expected);
      }
    });

    test("a body that is held back keeps no credential alive", async () => {
      const person = await people.person();
      const { access_token: token } = await people.session(person.id, null);
      const status = await held(token, "/api-keys", "{}", () =>
        people.as(token, "POST", "/auth/change-password", {
          current_password: password,
          new_password: newPassword,
        }),
      );
      expect(status).toBe(401);
      const member = await people.member("", "notes.read");
      const deactivated = await held(member.token, "/notes/create", '{"text":"n"}', () =>
        people.as(admin, "POST", "/auth/deactivate", { principal_id: member.id }),
      );
      expect(deactivated).toBe(401);
    });

    test("an API key of an administrator makes no administrators", async () => {
      const boss = await people.person("platform.admin");
      const { access_token: token } = await people.session(boss.id, null);
      const { api_key: key } = (await people.as(token, "POST", "/api-keys", { expires_in: 60 }))
        .body;
      const attempts = [
        ["/admin/principals", { login: "evil@example.test", password }],
        ["/admin/grants", { principal_id: boss.id, permission: "admin" }],
        ["/auth/deactivate", { principal_id: boss.id }],
      ] as const;
      for (const [at, body] of attempts)
        expect([at, (await withKey(key, "POST", at, body)).status]).toEqual([at, 403]);
      // What makes no credentials is for keys too.
      expect(
        (await withKey(key, "POST", "/admin/tenants", { tenant_key: `by-key-${engine.name}` }))
          .status,
      ).toBe(201);
    });

    test("somebody who acts for another does not learn of other tenants", async () => {
      const owner = await people.member("");
      const agent = await people.member(owner.tenantId);
      const body = { actor_principal_id: agent.id };
      const { api_key: key } = (await people.as(owner.token, "POST", "/api-keys", body)).body;
      expect((await withKey(key, "GET", "/tenants")).status).toBe(403);
    });

    test("a member who is invited again has none of their former tokens and keys", async () => {
      const member = await people.member("", "tasks.read");
      const agentOf = await people.member(member.tenantId, "tasks.read");
      const { api_key: key } = (await people.as(member.token, "POST", "/api-keys")).body;
      const body = { actor_principal_id: member.id };
      const { api_key: delegated } = (await people.as(agentOf.token, "POST", "/api-keys", body))
        .body;
      const membership = { tenant_id: member.tenantId, principal_id: member.id };
      expect((await people.as(admin, "DELETE", "/admin/memberships", membership)).status).toBe(204);
      expect((await people.as(member.token, "POST", "/tasks/query", {})).body.code).toBe(
        "tenant_mismatch",
      );
      expect((await people.as(admin, "POST", "/admin/memberships", membership)).status).toBe(204);
      for (const answer of [
        await people.as(member.token, "POST", "/tasks/query", {}),
        await withKey(key, "POST", "/tasks/query", {}),
        await withKey(delegated, "POST", "/tasks/query", {}),
      ])
        expect([answer.status, answer.body.code]).toEqual([401, "core.authentication"]);
      expect((await people.as(agentOf.token, "POST", "/tasks/query", {})).status).toBe(200);
    });

    test("ids in bodies are the same in upper case", async () => {
      const { id, tenantId } = await people.member("", "admin");
      const shouted = { tenant_id: tenantId.toUpperCase(), principal_id: id.toUpperCase() };
      const grants = () =>
        service.running.connection.database.reader.of(tenantStore).listGrants(tenantId, id);
      const send = async (method: string, at: string, body: object): Promise<number> =>
        (await people.as(admin, method, at, body)).status;
      const permission = "tasks.read";
      expect(await send("POST", "/admin/grants", { ...shouted, permission })).toBe(204);
      expect(await grants()).toEqual(["admin", permission]);
      expect(await send("DELETE", "/admin/grants", { ...shouted, permission })).toBe(204);
      expect(await send("DELETE", "/admin/memberships", shouted)).toBe(204);
      expect(await grants()).toEqual([]);
      expect(await send("POST", "/admin/memberships", shouted)).toBe(204);
      expect(await send("POST", "/auth/deactivate", { principal_id: id.toUpperCase() })).toBe(204);
    });

    test("an operation's own hooks see no more than its scope", async () => {
      const one = await people.member("", "notes.read");
      const two = await people.member(one.tenantId, "notes.read");
      const { body } = await people.as(one.token, "POST", "/notes/create", { text: "secret" });
      const own = await people.as(one.token, "GET", `/told/${body.id}`);
      expect([own.status, own.body.context]).toEqual([400, { text: "secret" }]);
      const foreign = await people.as(two.token, "GET", `/told/${body.id}`);
      expect([foreign.status, foreign.body.context]).toEqual([404, {}]);
    });

    test("a flood of passwords from one address is told to come again, and others are not", async () => {
      const { login } = await people.person();
      const attempt = (from: string): Promise<Answer> =>
        service.post("/auth/login", { login, password }, { "x-forwarded-for": from });
      const flood = Array.from({ length: 200 }, () => attempt("198.51.100.1"));
      // Until no more of it are taken.
      await Promise.any(flood.map(async (answer) => expect((await answer).status).toBe(503)));
      expect((await attempt("203.0.113.9")).status).toBe(200);
      const answers = await Promise.all(flood);
      const refused = answers.filter(({ status }) => status === 503);
      expect(refused[0]?.headers.get("retry-after")).toBe("1");
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
    });

    test("ids that a resolver makes up reach no column, and are no role", async () => {
      for (const said of [
        { principalId: "role:staff" },
        { principalId: "auth0|1" },
        { actorId: "auth0|1" },
        { sessionId: "s1" },
        { issuer: "", subject: "1" },
        { issuer: "x", subject: "a\u0000b" },
        { issuer: "x", subject: "1".repeat(600) },
      ]) {
        const other = await startTestService(engine, {
          signsIn: false,
          definition: defineService({
            ...reference,
            identity: identity({
              ...identitySpec,
              routes: {
                api: {
                  verifier: (token: string) => token,
                  resolver: () => ({
                    principalId: "01890000-0000-7000-8000-0000000000aa",
                    actorId: null,
                    sessionId: null,
                    tenant: null,
                    expiresAt: null,
                    ...said,
                  }),
                },
              },
            }),
          }),
        });
        const answer = await peopleOf(other).as("any", "GET", "/auth/me");
        expect([said, answer.status, answer.body.code]).toEqual([said, 401, "core.authentication"]);
        await other.stop();
      }
    });
  });
}
