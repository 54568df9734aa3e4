// Headers that every answer of a kind has: challenges, what caches depend on, when to come again.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { peopleOf } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: headed, title: Headed, version: 1.0.0}
identity:
  ingress: [{bearer: X-Partner}, {cookie: partner}]

tenancy: {trust_tenant_header: true}
policies: {open: [], mine: [principal], scoped: [principal, tenant], slow: [{rate_limit: 1/1m}]}
documents:
  notes: {type: {text: string}, guard: open}
operations:
  mine.read: {get: /mine, out: true, run: registry/h.ts#mine, guard: mine}
  mine.scoped: {get: /scoped, out: true, run: registry/h.ts#mine, guard: scoped}
  mine.slow: {get: /slow, out: true, run: registry/h.ts#mine, guard: slow}
  mine.fails: {get: /fails, in: {code: string}, out: true, run: registry/h.ts#fails, guard: open}
`;
const handlers = `
import { fail, type ErrorCode } from "opwright/runtime";
export const mine = (): unknown => ({});
export const fails = ({ code }: { readonly code: string }): never => {
  const [name = "", after] = code.split(",");
  throw fail(name as ErrorCode, {}, after === undefined ? {} : { headers: { "retry-after": after } });
};
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let declared: DeclaredService;
    let own: TestService;
    beforeAll(async () => {
      service = await startTestService(engine);
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/h.ts": handlers,
      });
      own = await startTestService(engine, declared);
    });
    afterAll(async () => {
      await service.stop();
      await own.stop();
      declared.remove();
    });

    const challenge = ({ status, headers }: Answer): readonly unknown[] => [
      status,
      headers.get("www-authenticate"),
    ];

    const offered = 'Bearer realm="tracker", ApiKey realm="tracker"';

    test("a 401 names the schemes of the service's own ingress, and its realm", async () => {
      const paths = { "registry/h.ts": handlers };
      const ingressOf = (ingress: string): Record<string, string> => ({
        ...paths,
        "registry/service.yaml": registry.replace(/ingress: .*/, `ingress: ${ingress}`),
      });
      const cases = [
        ["[{bearer: Authorization, scheme: Token}]", 'Token realm="headed"'],
        [
          "[{bearer: Authorization}, {bearer: Authorization, scheme: Token}]",
          'Bearer realm="headed", Token realm="headed"',
        ],
      ] as const;
      for (const [ingress, challenges] of cases) {
        const one = await declaredService(ingressOf(ingress));
        const started = await startTestService(engine, { ...one, signsIn: false });
        try {
          expect(challenge(await started.call("GET", "/mine"))).toEqual([401, challenges]);
          const bad = { authorization: "Token nonsense" };
          expect(challenge(await started.call("GET", "/mine", { headers: bad }))).toEqual([
            401,
            'Token realm="headed", error="invalid_token"',
          ]);
        } finally {
          await started.stop();
          one.remove();
        }
      }
    });

    test("a 401 blames the token only where one was given", async () => {
      const call = (headers: Record<string, string>): Promise<Answer> =>
        service.call("GET", "/tenants", { headers: { authorization: "", ...headers } });
      expect(challenge(await call({}))).toEqual([401, offered]);
      expect(challenge(await call({ "x-api-key": "nonsense" }))).toEqual([401, offered]);
      expect(challenge(await call({ authorization: "Basic eDp5" }))).toEqual([401, offered]);
      const blamed = 'Bearer realm="tracker", error="invalid_token"';
      expect(challenge(await call({ authorization: "Bearer nonsense" }))).toEqual([401, blamed]);
      expect(challenge(await call({ cookie: "session=nonsense" }))).toEqual([401, blamed]);
      const login = { login: "nobody@example.test", password: "not a password" };
      const refused = await service.post("/auth/login", login, { authorization: "" });
      expect(challenge(refused)).toEqual([401, offered]);
      const token = { refresh_token: "nonsense" };
      expect(challenge(await service.post("/auth/refresh", token))).toEqual([401, offered]);
    });

    test("a wrong current password keeps its caller's session", async () => {
      const people = peopleOf(service);
      const member = await people.member("", "tasks.read");
      const body = { current_password: "not this one", new_password: "another long password" };
      const answer = await people.as(member.token, "POST", "/auth/change-password", body);
      expect([answer.status, answer.body.code, answer.headers.get("www-authenticate")]).toEqual([
        403,
        "current_password_wrong",
        null,
      ]);
      expect((await people.as(member.token, "GET", "/tenants")).status).toBe(200);
    });

    test("Vary names what the service declares, and nothing else", async () => {
      const { body } = await own.post("/notes", { text: "n" }, { authorization: "" });
      const note = await own.call("GET", `/notes/${body.id}`, { headers: { authorization: "" } });
      expect(note.headers.get("vary")).toBe("X-Partner, Cookie, X-Tenant-Id");
      const unchanged = await own.call("GET", `/notes/${body.id}`, {
        headers: { authorization: "", "if-none-match": '"1"' },
      });
      expect([unchanged.status, unchanged.headers.get("vary")]).toEqual([
        304,
        "X-Partner, Cookie, X-Tenant-Id",
      ]);
    });

    test("304 carries the security headers of its 200", async () => {
      const form = new FormData();
      form.set("file", new Blob(["text"]), "x.txt");
      const { body: file } = await service.post("/files", form);
      const { body: task } = await service.post("/tasks", { title: "t", project: file.key });
      for (const path of [`/files/${file.key}`, `/tasks/${task.id}`, "/openapi.json"]) {
        const whole = await service.call("GET", path);
        const etag = whole.headers.get("etag") ?? "";
        const unchanged = await service.call("GET", path, { headers: { "if-none-match": etag } });
        expect([path, unchanged.status]).toEqual([path, 304]);
        for (const name of [
          "etag",
          "cache-control",
          "content-security-policy",
          "x-content-type-options",
          "vary",
        ])
          expect([name, unchanged.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
      }
    });

    test("every 429 and 503 says when to come again, a handler's own too", async () => {
      const after = async (code: string): Promise<readonly unknown[]> => {
        const { status, headers } = await own.call("GET", `/fails?code=${code}`);
        return [status, headers.get("retry-after")];
      };
      expect(await after("core.throttled")).toEqual([429, "1"]);
      expect(await after("core.unavailable")).toEqual([503, "1"]);
      expect(await after("core.throttled,30")).toEqual([429, "30"]);
      const headers = { authorization: "" };
      expect((await own.call("GET", "/slow", { headers })).status).toBe(200);
      const slow = await own.call("GET", "/slow", { headers });
      expect([slow.status, Number(slow.headers.get("retry-after"))]).toEqual([
        429,
        expect.toSatisfy((seconds: number) => seconds >= 1 && seconds <= 60),
      ]);
    });
  });
}
