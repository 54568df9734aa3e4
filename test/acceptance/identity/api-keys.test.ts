// API keys over HTTP: issue, list, revoke, expiry, delegation (service.md "API-key management", attacks 19, 20, 23).
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

/** A form with a small file. */
function smallForm(): FormData {
  const form = new FormData();
  form.set("file", new Blob(["x"]), "x.txt");
  return form;
}

const nobody = "01890000-0000-7000-8000-000000000001";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    beforeAll(async () => {
      service = await startTestService(engine, { signsIn: false });
      people = peopleOf(service);
    });
    afterAll(() => service.stop());

    const issue = async (token: string, body?: unknown): Promise<Answer["body"]> =>
      (await people.as(token, "POST", "/api-keys", body)).body;
    const withKey = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
      service.call(method, path, {
        headers: { "x-api-key": key },
        ...(body === undefined ? {} : { body }),
      });
    const list = (key: string): Promise<Answer> => withKey(key, "POST", "/tasks/query", {});

    test("a key is shown once, opens what its owner may do in its tenant, and is listed without its secret", async () => {
      const { token, id } = await people.member("", "tasks.read");
      const answer = await people.as(token, "POST", "/api-keys", { label: "laptop" });
      expect(answer.status).toBe(201);
      const { api_key: key, key_id: keyId, hint } = answer.body;
      expect(key).toMatch(/^tracker_[0-9a-f]{72}$/);
      expect(answer.body).toEqual({
        api_key: key,
        key_id: expect.any(String),
        prefix: "tracker",
        hint: `tracker_${key.slice(8, 12)}…${key.slice(-4)}`,
        label: "laptop",
      });
      expect((await list(key)).status).toBe(200);
      expect((await withKey(key, "POST", "/tasks", { title: "t", project: nobody })).status).toBe(
        403,
      );
      const listed = async (): Promise<Answer["body"]> =>
        (await people.as(token, "GET", "/api-keys")).body.keys;
      await expect.poll(async () => (await listed())[0].last_used_at).toBeDefined();
      expect(await listed()).toEqual([
        {
          key_id: keyId,
          prefix: "tracker",
          hint,
          label: "laptop",
          created_at: expect.any(String),
          last_used_at: expect.any(String),
        },
      ]);
      expect(JSON.stringify(await listed())).not.toContain(key.slice(12, 40));
      expect(id).not.toBe(keyId);
    });

    test("a change of the password revokes its owner's keys, and nobody else's", async () => {
      const [owner, other] = [await people.person(), await people.person()];
      const tokenOf = async (id: string): Promise<string> =>
        (await people.session(id, null)).access_token;
      const { api_key: key } = await issue(await tokenOf(owner.id));
      const { api_key: others } = await issue(await tokenOf(other.id));
      const me = async (secret: string): Promise<number> =>
        (await withKey(secret, "GET", "/auth/me")).status;
      expect([await me(key), await me(others)]).toEqual([200, 200]);
      const wrong = { current_password: "not the password", new_password: "another long password" };
      await people.as(await tokenOf(owner.id), "POST", "/auth/change-password", wrong);
      expect(await me(key)).toBe(200);
      const right = { ...wrong, current_password: password };
      const changed = await people.as(
        await tokenOf(owner.id),
        "POST",
        "/auth/change-password",
        right,
      );
      expect([changed.status, await me(key), await me(others)]).toEqual([204, 401, 200]);
      const again = await people.as(await tokenOf(owner.id), "GET", "/api-keys");
      expect(again.body).toEqual({ keys: [] });
    });

    test("keys that are not good are one 401, on open operations too", async () => {
      const { token } = await people.member("", "tasks.read");
      const { api_key: key, key_id: id } = await issue(token);
      const { api_key: short } = await issue(token, { expires_in: 1 });
      const { api_key: revoked, key_id: revokedId } = await issue(token);
      expect((await people.as(token, "DELETE", `/api-keys/${revokedId}`)).status).toBe(204);
      const body = `tracker_${"a".repeat(64)}`;
      const unknown = `${body}${crc32(body).toString(16).padStart(8, "0")}`;
      const flipped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      const answers = await Promise.all(
        [
          flipped,
          key.slice(0, -1),
          "tracker_",
          "",
          id,
          unknown,
          short,
          revoked,
          key.toUpperCase(),
        ].flatMap((bad) => [list(bad), withKey(bad, "POST", "/places/list", {})]),
      );
      for (const { status, body: refused, headers } of answers)
        expect([status, refused.code, headers.get("www-authenticate")]).toEqual([
          401,
          "core.authentication",
          'Bearer realm="tracker", ApiKey realm="tracker"',
        ]);
      expect((await list(key)).status).toBe(200);
    });

    test("the document offers each scheme where it is taken, and nowhere else", async () => {
      interface Documented {
        readonly operationId: string;
        readonly security?: readonly object[];
        readonly "x-required-permissions"?: readonly string[];
        readonly parameters?: readonly {
          readonly name?: string;
          readonly in?: string;
          readonly required?: boolean;
          readonly schema?: { readonly type: string; readonly format?: string };
        }[];
        readonly requestBody?: {
          readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
        };
      }
      const { paths } = (await service.call("GET", "/openapi.json")).body as {
        readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
      };
      const needed = Object.values(paths)
        .flatMap((methods) => Object.values(methods))
        .flatMap((operation) => operation["x-required-permissions"] ?? []);
      const { id, tenantId } = await people.member("");
      for (const permission of new Set(needed)) await people.grant(null, id, permission);
      const freshToken = async (): Promise<string> =>
        (await people.session(id, tenantId)).access_token;
      const { api_key: key } = await issue(await freshToken());
      /** Each call has a session of its own, which it may end. */
      const credentials: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
        bearer: async () => ({ authorization: `Bearer ${await freshToken()}` }),
        cookie: async () => ({
          cookie: `session=${await freshToken()}`,
          "sec-fetch-site": "same-origin",
        }),
        api_key: async () => ({ "x-api-key": key }),
      };
      /** The path with a value for each placeholder, and the query with each parameter that is needed. */
      const targetOf = (path: string, { parameters = [], operationId }: Documented): string => {
        const valueOf = (name: string): string => {
          const schema = parameters.find((one) => one.name === name)?.schema;
          return schema?.type === "integer" ? "1" : nobody;
        };
        const names = parameters.flatMap(({ in: place, name = "", required }) =>
          place === "query" && required === true ? [name] : [],
        );
        // One of two parameters is needed, which the document says in words.
        if (operationId === "principals.list_permissions") names.push("principal_id");
        const query = names.map((name) => `${name}=${valueOf(name)}`).join("&");
        return `${path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => valueOf(name))}?${query}`;
      };
      const missing = "a session of the caller's own";
      const seen: Record<string, number> = {};
      const unread: string[] = [];
      for (const [path, methods] of Object.entries(paths))
        for (const [method, operation] of Object.entries(methods)) {
          const { operationId, security = [], requestBody } = operation;
          if (security.length === 0) continue;
          const target = targetOf(path, operation);
          for (const [scheme, headersOf] of Object.entries(credentials)) {
            const headers = await headersOf();
            const content = requestBody?.content ?? {};
            const body =
              "multipart/form-data" in content ? smallForm() : content["application/json"]?.example;
            const send = (query: string): Promise<Answer> =>
              service.call(method.toUpperCase(), `${target}${query}`, {
                headers: { ...headers, "idempotency-key": `${operationId}-${scheme}` },
                ...(body === undefined ? {} : { body }),
              });
            const first = await send("");
            // Input is read before the guards run; a revision is the only other thing that is needed.
            const answer = first.status === 428 ? await send("&rev=1") : first;
            const isOffered = security.some((one) => scheme in one);
            const { code, context } = answer.body ?? {};
            if (["core.validation", "parameter_malformed"].includes(code)) unread.push(operationId);
            const isRefused = code === "core.authentication" || context?.missing === missing;
            expect([operationId, scheme, isRefused]).toEqual([operationId, scheme, !isOffered]);
            const name = `${scheme} ${isOffered ? "offered" : "refused"}`;
            seen[name] = (seen[name] ?? 0) + 1;
          }
        }
      expect([...new Set(unread)]).toEqual([]);
      expect(Object.keys(seen).sort()).toEqual([
        "api_key offered",
        "api_key refused",
        "bearer offered",
        "cookie offered",
      ]);
      expect(Math.min(...Object.values(seen))).toBeGreaterThan(15);
    });

    test("a key that is unknown, revoked or another's is the same 404", async () => {
      const [one, two] = [await people.member(""), await people.member("")];
      const { key_id: id } = await issue(one.token);
      const foreign = await people.as(two.token, "DELETE", `/api-keys/${id}`);
      const unknown = await people.as(two.token, "DELETE", `/api-keys/${nobody}`);
      await people.as(one.token, "DELETE", `/api-keys/${id}`);
      const again = await people.as(one.token, "DELETE", `/api-keys/${id}`);
      for (const answer of [foreign, unknown, again])
        expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    });

    test("a key is dead on the next request after its owner, membership or tenant ends", async () => {
      const { connection } = service.running;
      const ends = {
        "core.authentication": ({ id }: { readonly id: string }) =>
          connection.write("test.end", ({ transaction }) =>
            transaction
              .of(identityStore)
              .deactivate(id, Date.now())
              .then(() => undefined),
          ),
        tenant_mismatch: ({ id, tenantId }: { readonly id: string; readonly tenantId: string }) =>
          connection.write("test.end", ({ transaction }) =>
            transaction
              .of(tenantStore)
              .removeMember(tenantId, id, Date.now())
              .then(() => undefined),
          ),
        tenant_inactive: ({ tenantId }: { readonly tenantId: string }) =>
          connection.write("test.end", ({ transaction }) =>
            transaction
              .of(tenantStore)
              .setTenantActive(tenantId, false)
              .then(() => undefined),
          ),
      };
      for (const [code, end] of Object.entries(ends)) {
        const member = await people.member("", "tasks.read");
        const { api_key: key } = await issue(member.token);
        expect((await list(key)).status).toBe(200);
        await end(member);
        const refused = await list(key);
        expect([refused.status, refused.body.code]).toEqual([401, code]);
      }
    });

    test("somebody who acts for another may do only what both may", async () => {
      const owner = await people.member("", "tasks.read", "tasks.write");
      const agent = await people.member(owner.tenantId, "tasks.read");
      const { api_key: key } = await issue(owner.token, { actor_principal_id: agent.id });
      const [entry] = (await people.as(owner.token, "GET", "/api-keys")).body.keys;
      expect(entry.actor_principal_id).toBe(agent.id);
      const create = (): Promise<Answer> =>
        withKey(key, "POST", "/tasks", { title: "t", project: nobody });
      expect([(await list(key)).status, (await create()).status]).toEqual([200, 403]);
      await people.grant(owner.tenantId, agent.id, "tasks.write");
      expect((await create()).status).toBe(201);
      // An actor who leaves takes the key with it.
      await service.running.connection.write("test.end", ({ transaction }) =>
        transaction.of(tenantStore).removeMember(owner.tenantId, agent.id, Date.now()),
      );
      expect((await list(key)).body.code).toBe("tenant_mismatch");
    });

    test("an actor must be active, and a member of the tenant", async () => {
      const owner = await people.member("");
      const stranger = await people.person();
      for (const id of [stranger.id, nobody]) {
        const refused = await people.as(owner.token, "POST", "/api-keys", {
          actor_principal_id: id,
        });
        expect([refused.status, refused.body.code]).toEqual([404, "core.not_found"]);
      }
    });

    test("neither a key nor who acts for somebody manages credentials", async () => {
      const owner = await people.member("", "admin");
      const agent = await people.member(owner.tenantId, "admin");
      const { api_key: key } = await issue(owner.token);
      const acting = (await people.session(owner.id, owner.tenantId, agent.id)).access_token;
      const attempts = [
        ["POST", "/api-keys", undefined],
        ["GET", "/api-keys", undefined],
        ["DELETE", `/api-keys/${nobody}`, undefined],
        ["GET", "/auth/sessions", undefined],
        ["DELETE", `/auth/sessions/${nobody}`, undefined],
        ["POST", "/auth/logout", { scope: "all" }],
        [
          "POST",
          "/auth/change-password",
          { current_password: "x", new_password: "a long password" },
        ],
        ["POST", `/tenants/${owner.tenantId}/activate`, undefined],
        ["DELETE", `/tenants/${owner.tenantId}`, undefined],
      ] as const;
      for (const [method, path, body] of attempts) {
        for (const answer of [
          await withKey(key, method, path, body),
          await people.as(acting, method, path, body),
        ])
          expect([path, answer.status, answer.body.code, answer.body.context]).toEqual([
            path,
            403,
            "core.authorization",
            { missing: "a session of the caller's own" },
          ]);
      }
      expect((await list(key)).status).toBe(200);
      expect((await people.as(acting, "POST", "/tasks/query", {})).status).toBe(200);
    });

    test("a session of who acts for somebody may end itself, and a key has none", async () => {
      const owner = await people.member("");
      const agent = await people.member(owner.tenantId);
      const acting = (await people.session(owner.id, owner.tenantId, agent.id)).access_token;
      const { api_key: key } = await issue(owner.token);
      expect((await withKey(key, "POST", "/auth/logout", undefined)).status).toBe(403);
      expect((await people.as(acting, "POST", "/auth/logout")).status).toBe(204);
      expect((await people.as(acting, "GET", "/auth/me")).status).toBe(401);
      expect((await people.as(owner.token, "GET", "/auth/me")).status).toBe(200);
    });

    test("the parameters of a key are checked", async () => {
      const { token } = await people.member("");
      for (const body of [{ expires_in: 0 }, { expires_in: 1.5 }, { label: "" }, { secret: "x" }])
        expect((await people.as(token, "POST", "/api-keys", body)).status).toBe(422);
    });
  });
}
