// Several authentication routes in one service: the service's own tokens beside those of others (service.md "Boundary middleware").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: tracker, title: Routes, version: 1.0.0}
identity:
  methods: [token, password, api_key]
  routes:
    api: {}
    partner: {verifier: registry/partner.ts#verify, resolver: registry/partner.ts#resolve}
    guest: {verifier: registry/partner.ts#verifyGuest, resolver: registry/partner.ts#resolve}
  ingress:
    - {bearer: Authorization}
    - {bearer: X-Partner-Token, route: partner, scheme: Token}
    - {bearer: Authorization, route: guest, scheme: Guest}
    - {api_key: X-API-Key}
  api_keys: {}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
`;
const partner = `
import type { Identity } from "opwright/runtime";
const known = "01890000-0000-7000-8000-0000000000aa";
export const verify = (token: string): { readonly id: string } | null => token === "partner-token" ? { id: known } : null;
export const verifyGuest = (token: string): { readonly id: string } | null => token === "guest-token" ? { id: known } : null;
export const resolve = ({ id }: { readonly id: string }): Identity =>
  ({ principalId: id, actorId: null, sessionId: null, tenant: null, expiresAt: null });
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    let people: People;
    beforeAll(async () => {
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/partner.ts": partner,
      });
      service = await startTestService(engine, { ...declared, signsIn: false });
      people = peopleOf(service);
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });
    const me = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
      service.call("GET", "/auth/me", { headers });
    const told = async (headers: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
      const answer = await me(headers);
      return [answer.status, answer.headers.get("www-authenticate")];
    };

    test("each ingress has its own route, and the service's tokens work beside the others", async () => {
      const { id } = await people.person();
      const { access_token: token } = await people.session(id, null);
      expect((await me({ authorization: `Bearer ${token}` })).body.principal_id).toBe(id);
      for (const headers of [
        { "x-partner-token": "Token partner-token" },
        { "x-partner-token": "token partner-token" },
        { authorization: "Guest guest-token" },
      ] as const) {
        const answer = await me(headers);
        expect([answer.status, answer.body.principal_id]).toEqual([
          200,
          "01890000-0000-7000-8000-0000000000aa",
        ]);
      }
    });

    test("a token of one route is none of another's", async () => {
      const { id } = await people.person();
      const { access_token: token } = await people.session(id, null);
      expect(await told({ authorization: "Bearer partner-token" })).toEqual([
        401,
        'Bearer realm="tracker", error="invalid_token"',
      ]);
      expect(await told({ "x-partner-token": `Token ${token}` })).toEqual([
        401,
        'Token realm="tracker", error="invalid_token"',
      ]);
      expect((await told({ authorization: "Guest partner-token" }))[0]).toBe(401);
      expect((await told({ "x-partner-token": "Bearer partner-token" }))[0]).toBe(401);
      expect((await told({ "x-partner-token": "partner-token" }))[0]).toBe(401);
    });

    test("the first that is present decides, whichever scheme the header has", async () => {
      const good = { "x-partner-token": "Token partner-token" };
      expect((await me({ ...good, authorization: "Bearer nonsense" })).status).toBe(401);
      expect((await me({ ...good, authorization: "Basic eDp5" })).status).toBe(401);
      expect((await me({ ...good, authorization: "Guest nonsense" })).status).toBe(200);
    });

    test("the document has one scheme an ingress, each as it is", async () => {
      const { body } = await service.call("GET", "/openapi.json");
      expect(body.components.securitySchemes).toEqual({
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "Tokens of the route api.",
        },
        bearer_x_partner_token: {
          type: "apiKey",
          in: "header",
          name: "X-Partner-Token",
          description: "`Token <token>`. Tokens of the route partner.",
        },
        bearer_authorization: {
          type: "http",
          scheme: "guest",
          description: "Tokens of the route guest.",
        },
        api_key: { type: "apiKey", in: "header", name: "X-API-Key" },
      });
      expect(body.paths["/auth/me"].get.security).toEqual([
        { bearer: [] },
        { bearer_x_partner_token: [] },
        { bearer_authorization: [] },
        { api_key: [] },
      ]);
    });
  });
}
