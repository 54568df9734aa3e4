// A token in the query of a WebSocket's handshake: taken where an ingress declares it, and nowhere else; no log has it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Log } from "../../../runtime/ports/log.js";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { peopleOf, type People } from "../../support/people.js";
import { ask } from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const registryOf = (ingress: string): string => `
registry: 1
service: {name: tracker, title: Queries, version: 1.0.0}
identity:
  methods: [token, password]
  routes:
    api: {}
    partner: {verifier: registry/partner.ts#verify, resolver: registry/partner.ts#resolve}
  ingress:
    - {bearer: Authorization}
    - {cookie: partner, route: partner}
${ingress}
policies: {known: [principal]}
documents:
  notes: {type: {text: string}, guard: known}
realtime:
  transports: [sse, websocket]
  events: {note.seen: {data: {note: uuid}, audience: [principal], delivery: durable}}
`;
const partner = `
import type { Identity } from "opwright/runtime";
const known = "01890000-0000-7000-8000-0000000000aa";
export const verify = (token: string): { readonly id: string } | null => token === "partner-token" ? { id: known } : null;
export const resolve = ({ id }: { readonly id: string }): Identity =>
  ({ principalId: id, actorId: null, sessionId: null, tenant: null, expiresAt: null });
`;
const filesOf = (ingress: string) => ({
  "registry/service.yaml": registryOf(ingress),
  "registry/partner.ts": partner,
});
const declaring = `    - {query: access_token}
    - {query: partner_token, route: partner}`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const lines: string[] = [];
    const write = (fields: object, text: string): void => {
      const plain = (_key: string, value: unknown): unknown =>
        value instanceof Error ? `${value.stack} ${JSON.stringify({ ...value })}` : value;
      lines.push(`${JSON.stringify(fields, plain)} ${text}`);
    };
    const log: Log = {
      debug: write,
      info: write,
      warn: write,
      error: write,
    };
    const made: (DeclaredService | TestService)[] = [];
    let service: TestService;
    let without: TestService;
    let people: People;
    let token = "";
    beforeAll(async () => {
      const begin = async (ingress: string): Promise<TestService> => {
        const declared = await declaredService(filesOf(ingress));
        made.push(declared);
        const running = await startTestService(engine, { ...declared, log, signsIn: false });
        made.push(running);
        return running;
      };
      service = await begin(declaring);
      without = await begin("");
      people = peopleOf(service);
      const { id } = await people.person();
      token = (await people.session(id, null)).access_token;
    });
    afterAll(async () => {
      for (const one of made.toReversed()) await ("stop" in one ? one.stop() : one.remove());
    });

    const open = async (at: TestService, query: string, headers: Record<string, string> = {}) => {
      const socket = new WebSocket(`${at.url.replace("http", "ws")}/realtime/ws${query}`, {
        headers,
      });
      const closed = new Promise<string>((resolve) => {
        socket.once("close", (code, reason) => resolve(`${code} ${reason.toString()}`));
      });
      await new Promise((resolve) => socket.once("open", resolve));
      return { socket, closed };
    };
    /** "admitted", or how it was closed. */
    const told = async (...given: Parameters<typeof open>): Promise<string> => {
      const { socket, closed } = await open(...given);
      const admitted = ask(socket, { event: "nothing" }).then(() => "admitted");
      const answer = await Promise.race([closed, admitted]);
      socket.close();
      return answer;
    };

    test("it is taken where an ingress declares it, each by its own route", async () => {
      expect(await told(service, `?device_id=d&access_token=${token}`)).toBe("admitted");
      expect(await told(service, "?partner_token=partner-token")).toBe("admitted");
      for (const query of [
        "?access_token=",
        "?access_token=partner-token",
        `?partner_token=${token}`,
        "",
      ])
        expect(await told(service, query)).toMatch(/^1008 core.authentication/);
      expect(await told(service, `?access_token=${token}&access_token=${token}`)).toMatch(
        /^1008 parameter_malformed/,
      );
    });

    test("the first ingress that is present decides", async () => {
      const query = `?access_token=${token}`;
      expect(await told(service, query, { authorization: "Bearer x" })).toMatch(
        /^1008 core.authentication/,
      );
      const headers = { authorization: `Bearer ${token}` };
      expect(await told(service, "?access_token=x", headers)).toBe("admitted");
    });

    test("no name of it is taken that nobody declares", async () => {
      for (const name of ["token", "bearer", "authorization", "auth", "Access_Token"])
        expect(await told(service, `?${name}=${token}`)).toMatch(/^1008 core.validation/);
      const people = peopleOf(without);
      const { id } = await people.person();
      const { access_token: other } = await people.session(id, null);
      expect(await told(without, `?access_token=${other}`)).toMatch(/^1008 core.validation/);
      expect(await told(without, "", { authorization: `Bearer ${other}` })).toBe("admitted");
    });

    test("no other request is looked at for it", async () => {
      const query = `access_token=${token}`;
      for (const path of ["/auth/me", "/auth/sessions"])
        expect([401, 422]).toContain((await service.call("GET", `${path}?${query}`)).status);
      for (const path of ["/realtime/sse", "/realtime/history"])
        expect((await service.call("GET", `${path}?${query}`)).status).toBe(422);
      const acked = await service.post(`/realtime/sse/ack?${query}`, { up_to: "x" });
      expect(acked.status).toBe(422);
      expect((await service.call("GET", `/realtime/ws?${query}`)).status).toBe(426);
    });

    test("it can be renewed, by its own route, and ends with its session", async () => {
      const { id } = await people.person();
      const [one, two] = [await people.session(id, null), await people.session(id, null)];
      const { socket, closed } = await open(service, `?access_token=${one.access_token}`);
      const renew = (given: string): Promise<Record<string, unknown>> =>
        ask(socket, { type: "realtime.reauth", auth: { token: given } });
      expect(await renew("partner-token")).toHaveProperty("error");
      expect(await renew(two.access_token)).toMatchObject({ data: { ok: true } });
      await people.as(one.access_token, "POST", "/auth/logout", {});
      expect(await ask(socket, { event: "nothing" })).toHaveProperty("error");
      await people.as(two.access_token, "POST", "/auth/logout", {});
      expect(await closed).toMatch(/^1008 core.authentication/);
    });

    test("OpenAPI, which describes HTTP, does not offer it", async () => {
      const { body } = await service.call("GET", "/openapi.json");
      expect(Object.keys(body.components.securitySchemes)).toEqual(["bearer", "cookie"]);
    });

    test("no line of the log has it", async () => {
      await service.call("GET", `/nothing/here?access_token=${token}`);
      await expect.poll(() => lines.some((line) => line.includes("/nothing/here"))).toBe(true);
      const signature = token.split(".")[2] ?? "";
      expect(signature).not.toBe("");
      expect(lines.filter((line) => line.includes(signature) || line.includes("_token="))).toEqual(
        [],
      );
    });
  });
}
