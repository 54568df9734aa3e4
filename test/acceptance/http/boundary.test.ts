// The boundary: which credential counts, cookies and origins, tenant hints, hosts, CORS, caching, rate limits
// (service.md "Boundary middleware", "Tenant binding", attacks 20, 27, 34).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { service as reference } from "../../../generated/service.js";
import { notesSpec } from "../../../generated/documents/notes.js";
import {
  defineService,
  documents,
  identity,
  listing,
  nothing,
  rateLimit,
  route,
  type IdentitySpec,
  type ServiceDefinition,
} from "../../../runtime/index.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

/** The reference service with another identity. */
const withIdentity = (change: Partial<IdentitySpec>): ServiceDefinition =>
  defineService({ ...reference, identity: identity({ ...identitySpec, ...change }) });

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const running: TestService[] = [];
    const startWith = async (
      definition: ServiceDefinition,
      environment: Readonly<Record<string, string>> = {},
    ): Promise<readonly [TestService, People]> => {
      const service = await startTestService(engine, { definition, environment, signsIn: false });
      running.push(service);
      return [service, peopleOf(service)];
    };
    afterAll(() => Promise.all(running.map((service) => service.stop())));

    describe("several credentials", () => {
      let service: TestService;
      let people: People;
      let member: Member;
      let key = "";
      beforeAll(async () => {
        [service, people] = await startWith(reference);
        member = await people.member("", "tasks.read");
        key = (await people.as(member.token, "POST", "/api-keys")).body.api_key;
      });
      const list = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
        service.call("POST", "/tasks/query", { body: {}, headers });

      test("the first that is present is taken, and an invalid one is never skipped", async () => {
        const good = { authorization: `Bearer ${member.token}` };
        const origin = { origin: service.url };
        expect((await list({ ...good, "x-api-key": "nonsense", cookie: "session=x" })).status).toBe(
          200,
        );
        expect((await list({ "x-api-key": key, cookie: "session=x" })).status).toBe(200);
        for (const headers of [
          { authorization: "Bearer nonsense", "x-api-key": key },
          { authorization: "Basic eDp5", "x-api-key": key },
          {
            authorization: "Bearer",
            "x-api-key": key,
            cookie: `session=${member.token}`,
            ...origin,
          },
          { "x-api-key": "nonsense", cookie: `session=${member.token}`, ...origin },
        ])
          expect((await list(headers)).status).toBe(401);
      });

      test("an identical cookie that stands there twice is refused", async () => {
        const cookie = `session=${member.token}; session=${member.token}`;
        expect((await list({ cookie, origin: service.url })).status).toBe(401);
        expect(
          (await list({ cookie: `a=b; session=${member.token};x`, origin: service.url })).status,
        ).toBe(200);
        expect(
          (await list({ cookie: `xsession=${member.token}`, origin: service.url })).status,
        ).toBe(401);
      });

      test.each([
        ["the service's own origin", (own: string) => ({ origin: own }), 200],
        ["a browser that says same-origin", () => ({ "sec-fetch-site": "same-origin" }), 200],
        ["another origin", () => ({ origin: "https://evil.test" }), 403],
        ["another port", (own: string) => ({ origin: `${own}0` }), 403],
        ["the origin null", () => ({ origin: "null" }), 403],
        [
          "another origin that claims same-origin",
          () => ({ origin: "https://evil.test", "sec-fetch-site": "same-origin" }),
          403,
        ],
        [
          "the same host over plain HTTP, as the browser says",
          (own: string) => ({ origin: own, "sec-fetch-site": "cross-site" }),
          403,
        ],
        ["a sibling site", () => ({ "sec-fetch-site": "same-site" }), 403],
        ["a foreign site", () => ({ "sec-fetch-site": "cross-site" }), 403],
        ["nothing said", () => ({}), 403],
      ] as const)("a cookie in an unsafe request from %s", async (_what, headers, status) => {
        const answer = await list({ cookie: `session=${member.token}`, ...headers(service.url) });
        expect(answer.status).toBe(status);
        if (status === 403) expect(answer.body.code).toBe("origin_forbidden");
      });

      test("a safe request needs no origin", async () => {
        const headers = { cookie: `session=${member.token}`, origin: "https://evil.test" };
        const answer = await service.call("GET", "/tenants", { headers });
        expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
          200,
          null,
        ]);
      });

      test("answers to somebody are for nobody else's cache", async () => {
        const own = await people.member("", "notes.read");
        const { body } = await people.as(own.token, "POST", "/notes/create", { text: "n" });
        const answer = await people.as(own.token, "GET", `/notes/get?id=${body.id}`);
        expect(answer.headers.get("cache-control")).toBe("private, no-cache");
        expect(answer.headers.get("vary")).toBe("Authorization, X-API-Key, Cookie");
        const list_ = await people.as(own.token, "GET", "/tenants");
        expect(list_.headers.get("cache-control")).toBe("no-store");
      });
    });

    describe("a verifier and a resolver of the author's", () => {
      test("decide who is calling", async () => {
        const [service, people] = await startWith(
          withIdentity({
            routes: {
              api: {
                verifier: (token: string) => (token === "partner" ? { company: "acme" } : null),
                resolver: async (claims: { readonly company: string }, stores) => {
                  const identities = stores.of(identityStore);
                  const principal = await identities.findPrincipalByLogin(claims.company);
                  if (principal === null) return null;
                  const { id: principalId } = principal;
                  const nothing = { actorId: null, sessionId: null, tenant: null, expiresAt: null };
                  return { principalId, ...nothing };
                },
              },
            },
          }),
        );
        // Who is known lacks a tenant; who is not lacks everything.
        const codeFor = async (token: string): Promise<string> =>
          (await people.as(token, "POST", "/tasks/query", {})).body.code;
        expect(await codeFor("partner")).toBe("core.authentication");
        const { createPrincipal } = await import("../../../runtime/families/identity/provision.js");
        const given = { login: "acme", password: "a long password" };
        await createPrincipal(service.running.connection.context("test.people"), given);
        expect(await codeFor("partner")).toBe("tenant_required");
        expect(await codeFor("stranger")).toBe("core.authentication");
      });

      test("a verifier alone is refused at start, and names the route", () => {
        const verifier = (): null => null;
        const routes = { ...identitySpec.routes, partners: { verifier } };
        expect(() => identity({ ...identitySpec, routes })).toThrow(
          "identity of the route partners: a verifier needs a resolver beside it",
        );
      });
    });

    describe("tenant hints", () => {
      test("by header, where it is trusted", async () => {
        const [service, people] = await startWith(
          withIdentity({ tenantHints: { header: true, host: null } }),
        );
        const one = await people.member("", "tasks.read");
        const other = await people.member("", "tasks.read");
        const unscoped = (await people.session(one.id, null)).access_token;
        const hinted = (token: string, tenantId: string): Promise<Answer> =>
          service.call("POST", "/tasks/query", {
            body: {},
            headers: {
              authorization: token === "" ? "" : `Bearer ${token}`,
              "x-tenant-id": tenantId,
            },
          });
        expect((await hinted(one.token, one.tenantId)).status).toBe(200);
        expect((await hinted(unscoped, one.tenantId)).status).toBe(200);
        const codes = async (token: string, tenantId: string) => {
          const { status, body } = await hinted(token, tenantId);
          return [status, body.code];
        };
        expect(await codes(one.token, other.tenantId)).toEqual([401, "tenant_conflict"]);
        expect(await codes(unscoped, other.tenantId)).toEqual([401, "tenant_mismatch"]);
        expect(await codes(unscoped, "01890000-0000-7000-8000-000000000001")).toEqual([
          401,
          "tenant_mismatch",
        ]);
        expect(await codes(unscoped, "' OR 1=1")).toEqual([401, "tenant_mismatch"]);
        expect(await codes("", other.tenantId)).toEqual([401, "core.authentication"]);
        await service.running.connection.write("test.end", ({ transaction }) =>
          transaction.of(tenantStore).setTenantActive(one.tenantId, false),
        );
        expect(await codes(unscoped, one.tenantId)).toEqual([401, "tenant_inactive"]);
      });

      test("by host, forwarded only by a trusted proxy", async () => {
        const hosts = { tenantHints: { header: false, host: "{tenant}.tracker.test" } };
        const definition = withIdentity({ ...hosts, trustForwardedHost: true });
        const started = [
          await startWith(definition, { TRUSTED_PROXIES: "127.0.0.0/8, ::1/128" }),
          await startWith(definition, { TRUSTED_PROXIES: "10.0.0.0/8" }),
          await startWith(withIdentity(hosts), { TRUSTED_PROXIES: "127.0.0.0/8" }),
        ] as const;
        const statuses = [];
        for (const [service, people] of started) {
          const { id } = await people.person();
          const token = (await people.session(id, null)).access_token;
          const answer = await service.call("GET", "/tenants", {
            headers: {
              authorization: `Bearer ${token}`,
              "x-forwarded-host": "spoofed.test, globex.tracker.test:443",
            },
          });
          statuses.push([answer.status, answer.body.code]);
        }
        // The hinted tenant is not there: who believes the proxy refuses, the others see no hint.
        expect(statuses).toEqual([
          [401, "tenant_mismatch"],
          [200, undefined],
          [200, undefined],
        ]);
      });

      test("that disagree bind no tenant", async () => {
        const definition = withIdentity({
          tenantHints: { header: true, host: "{tenant}.tracker.test" },
          trustForwardedHost: true,
        });
        const [service, people] = await startWith(definition, {
          TRUSTED_PROXIES: "127.0.0.0/8, ::1/128",
        });
        const { id, tenantId } = await people.member("", "tasks.read");
        const other = await people.member("", "tasks.read");
        const keyOf = async (of: string): Promise<string> =>
          (await service.running.connection.database.reader.of(tenantStore).findTenant(of))?.key ??
          "";
        const token = (await people.session(id, null)).access_token;
        const told = async (header: string, key: string): Promise<readonly unknown[]> => {
          const { status, body } = await service.call("POST", "/tasks/query", {
            body: {},
            headers: {
              authorization: `Bearer ${token}`,
              "x-tenant-id": header,
              "x-forwarded-host": `${key}.tracker.test`,
            },
          });
          return [status, body.code];
        };
        const nowhere = "01890000-0000-7000-8000-000000000001";
        const [ours, theirs] = [await keyOf(tenantId), await keyOf(other.tenantId)];
        const conflict = [401, "tenant_conflict"];
        expect(await told(tenantId, ours)).toEqual([200, undefined]);
        expect(await told(tenantId, theirs)).toEqual(conflict);
        expect(await told(other.tenantId, ours)).toEqual(conflict);
        expect(await told(tenantId, "nowhere")).toEqual(conflict);
        expect(await told(nowhere, ours)).toEqual(conflict);
        expect(await told("' OR 1=1", ours)).toEqual(conflict);
        expect(await told(nowhere, "nowhere")).toEqual([401, "tenant_mismatch"]);
      });

      test("mean nothing where they are not trusted", async () => {
        const [service, people] = await startWith(reference, { TRUSTED_PROXIES: "1" });
        const [one, other] = [
          await people.member("", "tasks.admin"),
          await people.member("", "tasks.admin"),
        ];
        await people.as(other.token, "POST", "/tasks", { title: "theirs", project: other.id });
        const answer = await service.call("POST", "/tasks/query", {
          body: {},
          headers: {
            authorization: `Bearer ${one.token}`,
            "x-tenant-id": other.tenantId,
            "x-forwarded-host": "globex.test",
            forwarded: "host=globex.test",
          },
        });
        expect([answer.status, answer.body.hits]).toEqual([200, []]);
      });
    });

    describe("other origins", () => {
      test("read nothing unless they are named, and then may send cookies", async () => {
        const app = "https://app.example";
        const [service, people] = await startWith(reference, { CORS_ORIGINS: app });
        const { token } = await people.member("", "tasks.read");
        const list = (origin: string): Promise<Answer> =>
          service.call("POST", "/tasks/query", {
            body: {},
            headers: { cookie: `session=${token}`, origin },
          });
        const allowed = await list(app);
        expect([
          allowed.status,
          allowed.headers.get("access-control-allow-origin"),
          allowed.headers.get("access-control-allow-credentials"),
        ]).toEqual([200, app, "true"]);
        expect(allowed.headers.get("access-control-expose-headers")).toContain("X-Error-Code");
        const other = await list("https://evil.test");
        expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([
          403,
          null,
        ]);
        const preflight = await service.call("OPTIONS", "/tasks/query", {
          headers: { origin: app, "access-control-request-method": "POST" },
        });
        expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
          204,
          app,
        ]);
        const refused = await service.call("OPTIONS", "/tasks/query", {
          headers: { origin: "https://evil.test", "access-control-request-method": "POST" },
        });
        expect(refused.headers.get("access-control-allow-origin")).toBeNull();
      });

      test("are none of ours, but for other names of the address in development", async () => {
        const readers = async (environment: Readonly<Record<string, string>>) => {
          const [service] = await startWith(reference, environment);
          const { port } = new URL(service.url);
          const origins = [
            `http://localhost:${port}`,
            `http://127.0.0.1:${port}`,
            `http://[::1]:${port}`,
            `https://localhost:${port}`,
            `http://localhost:${Number(port) + 1}`,
            `http://localhost.evil.test:${port}`,
            "http://localhost",
            "null",
          ];
          const told = origins.map(async (origin) => {
            const { headers } = await service.call("GET", "/livez", { headers: { origin } });
            const answer = await service.call("OPTIONS", "/_objects/x", {
              headers: {
                origin,
                host: `evil.test:${port}`,
                "access-control-request-method": "PUT",
              },
            });
            expect(headers.get("access-control-allow-origin")).toBeNull();
            return answer.headers.get("access-control-allow-origin");
          });
          return (await Promise.all(told)).map((told, at) => told === origins[at]);
        };
        const none = Array.from({ length: 8 }, () => false);
        expect(await readers({})).toEqual([true, true, true, ...none.slice(3)]);
        expect(await readers({ PUBLIC_URL: "https://api.example" })).toEqual(none);
      });
    });

    test("a rate limit is each caller's own, and says when to come again", async () => {
      const [service, people] = await startWith(
        defineService({
          ...reference,
          routes: [
            ...reference.routes,
            route({
              operationId: "notes.slow",
              method: "POST",
              path: "/slow",
              status: 200,
              input: listing.page(notesSpec),
              hooks: [rateLimit(3, 60)],
              transaction: "read",
              run: documents.list(notesSpec),
            }),
            route({
              operationId: "notes.other",
              method: "GET",
              path: "/other",
              status: 204,
              input: nothing,
              hooks: [rateLimit(3, 60)],
              transaction: "read",
              run: () => undefined,
            }),
          ],
        }),
      );
      const [one, two] = [await people.member(""), await people.member("")];
      const attempts = async (token: string): Promise<readonly number[]> => {
        const statuses: number[] = [];
        for (let index = 0; index < 5; index += 1)
          statuses.push((await people.as(token, "POST", "/slow", {})).status);
        return statuses;
      };
      for (const token of [one.token, two.token, ""])
        expect(await attempts(token)).toEqual([200, 200, 200, 429, 429]);
      const refused = await people.as(one.token, "POST", "/slow", {});
      expect(refused.body.code).toBe("core.throttled");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
      expect((await people.as(one.token, "GET", "/other")).status).toBe(204);
      expect(service.url).toContain("http");
    });
  });
}

test.each([
  ["TRUSTED_PROXIES", "0.0.0.0/0"],
  ["TRUSTED_PROXIES", "::/0"],
  ["TRUSTED_PROXIES", "::ffff:0:0/96"],
  ["TRUSTED_PROXIES", "::ffff:0:0/95"],
  ["TRUSTED_PROXIES", "0.0.0.0/1,128.0.0.0/1"],
  ["TRUSTED_PROXIES", "128.0.0.0/1, 64.0.0.0/2, 0.0.0.0/2"],
  ["TRUSTED_PROXIES", "0.0.0.0/1, ::ffff:128.0.0.0/97"],
  ["TRUSTED_PROXIES", "2000::/4,3000::/4"],
  ["TRUSTED_PROXIES", "true"],
  ["TRUSTED_PROXIES", "17"],
  ["TRUSTED_PROXIES", "10.0.0.0/8, everything"],
  ["TRUSTED_PROXIES", "10.0.0.0/33"],
  ["CORS_ORIGINS", "*"],
  ["CORS_ORIGINS", "https://a.test/"],
  ["CORS_ORIGINS", "a.test"],
])("%s does not take %s", (name, value) => {
  expect(() => readSettings({ name: "t" }, { [name]: value })).toThrow(name);
});
