// Members of a tenant who look after each other, over HTTP: roles of the registry, invitations by a token that a real webhook gets,
// and what somebody must always be there to give.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const registry = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  own: [principal, {scope: own_rows}]
  admin: [principal, {authorize: platform.admin}]
  reader: [principal, tenant, {authorize: "{resource}.read"}]
  writer: [principal, tenant, {authorize: "{resource}.write"}]
roles:
  owner:
    permissions: [members.read, members.write, notes.admin]
    gives: [owner, agent, viewer, chief]
  agent: {permissions: [members.read, members.write, notes.read, notes.write], gives: [viewer]}
  viewer: [notes.read]
  chief: [members.admin]
tenancy:
  selector: {create: {roles: [owner]}}
  members: {invitation_ttl: 3d, shows: [name]}
  admin: {guard: admin}
identity:
  methods: [token, password]
  sign_up: {verify: none, profile: profiles}
  deactivate: {guard: admin}
outbox: {events: {tenancy.member_invited: {destination: mail}}}
documents:
  profiles:
    type: {name: string, phone: string?}
    guard: own
    tenant: false
    unique: [[owner_id]]
  notes: {type: {text: string}, guard: {read: reader, write: writer}}
`;

interface Mail {
  readonly login: string;
  readonly tenant_key: string;
  readonly roles: readonly string[];
  readonly token: string;
}

let project: TestProject;
let receiver: Server;
const mails: Mail[] = [];
beforeAll(async () => {
  project = await testProject({ "registry/service.yaml": registry });
  receiver = createServer((req, res) => {
    void json(req).then((message) => {
      mails.push((message as { readonly data: Mail }).data);
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  project.remove();
  receiver.close();
});

let counter = 0;
const unique = (what: string): string => `${what}${(counter += 1)}`;
const mailTo = (login: string): Promise<Mail> =>
  expect
    .poll(() => mails.findLast((one) => one.login === login), { timeout: 10_000 })
    .toBeDefined()
    .then(() => mails.findLast((one) => one.login === login) as Mail);

interface Somebody {
  readonly login: string;
  readonly id: string;
  /** Of a session without a tenant. */
  readonly token: string;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    beforeAll(async () => {
      const { service: definition } = await project.load("generated/service.ts");
      const { identitySpec } = await project.load("generated/identity.ts");
      const { port } = receiver.address() as AddressInfo;
      service = await startTestService(engine, {
        definition,
        folder: `${project.root}/generated`,
        signsIn: false,
        environment: {
          DESTINATION_MAIL: `http://127.0.0.1:${port}/`,
          SIGN_UP_ATTEMPTS_PER_ADDRESS: "1000",
        },
      });
      people = peopleOf(service, identitySpec);
    });
    afterAll(() => service.stop());

    const as = (token: string, method: string, path: string, body?: object): Promise<Answer> =>
      people.as(token, method, path, body);
    const signUp = async (): Promise<Somebody> => {
      const login = `${unique("somebody")}@example.test`;
      const profile = { name: login.split("@")[0] ?? "", phone: "secret" };
      const { body } = await service.post("/auth/sign-up", { login, password, profile });
      const me = await as(body.access_token, "GET", "/auth/me");
      return { login, id: me.body.principal_id, token: body.access_token };
    };
    const scoped = async (token: string, tenant: string): Promise<string> => {
      const { status, body } = await as(token, "POST", `/tenants/${tenant}/activate?keep=true`);
      expect([status, body]).toMatchObject([200, { access_token: expect.any(String) }]);
      return body.access_token;
    };
    /** Somebody who has a tenant of its own. */
    const founder = async () => {
      const somebody = await signUp();
      const key = unique("studio-");
      const made = await as(somebody.token, "POST", "/tenants", { tenant_key: key });
      expect([made.status, made.body]).toMatchObject([201, { tenant_key: key }]);
      const tenant = made.body.tenant_id as string;
      return { ...somebody, key, tenant, at: await scoped(somebody.token, tenant) };
    };
    /** Somebody who has been invited by `by`, and is a member. */
    const invited = async (by: string, roles: readonly string[]) => {
      const somebody = await signUp();
      const { status } = await as(by, "POST", "/members/invitations", {
        login: somebody.login,
        roles,
      });
      expect(status).toBe(201);
      const { token } = await mailTo(somebody.login);
      const joined = await as(somebody.token, "POST", "/members/invitations/accept", { token });
      expect(joined.status).toBe(200);
      return { ...somebody, at: await scoped(somebody.token, joined.body.tenant_id) };
    };
    const setRoles = (by: string, id: string, ...roles: readonly string[]): Promise<Answer> =>
      as(by, "PUT", `/members/${id}/roles`, { roles });
    const rolesOf = async (by: string): Promise<Readonly<Record<string, readonly string[]>>> => {
      const { body } = await as(by, "GET", "/members");
      return Object.fromEntries(
        body.members.map((one: { principal_id: string; roles: readonly string[] }) => [
          one.principal_id,
          one.roles,
        ]),
      );
    };
    const refused = (code: string, context: object = {}) => ({
      status: { "core.authorization": 403, "core.not_found": 404 }[code] ?? 409,
      body: { code, context },
    });

    test("who creates a tenant owns it; keys are given once", async () => {
      const owner = await founder();
      const listed = await as(owner.at, "GET", "/members");
      expect(listed.body).toEqual({
        members: [
          {
            principal_id: owner.id,
            login: owner.login,
            roles: ["owner"],
            profile: { name: owner.login.split("@")[0] },
          },
        ],
        has_more: false,
      });
      const other = await signUp();
      expect(await as(other.token, "POST", "/tenants", { tenant_key: owner.key })).toMatchObject(
        refused("core.conflict"),
      );
    });

    test("roles permit what the registry says, and nothing elsewhere", async () => {
      const owner = await founder();
      const viewer = await invited(owner.at, ["viewer"]);
      const none = await invited(owner.at, []);
      const note = (token: string) => as(token, "POST", "/notes", { text: "one" });
      // `notes.admin` stands above what is asked for.
      expect((await note(owner.at)).status).toBe(201);
      expect(await note(viewer.at)).toMatchObject(
        refused("core.authorization", { missing: "notes.write" }),
      );
      expect((await as(viewer.at, "POST", "/notes/list", {})).body.count).toBe(1);
      expect((await as(none.at, "POST", "/notes/list", {})).status).toBe(403);
      expect((await as(viewer.at, "GET", "/members")).status).toBe(403);
      const elsewhere = await founder();
      expect((await as(elsewhere.at, "POST", "/notes/list", {})).body.count).toBe(0);
      // Without a tenant nobody is anything.
      expect((await as(owner.token, "POST", "/notes/list", {})).status).toBe(401);
    });

    test("an invitation is mailed, listed, replaced, and works once", async () => {
      const owner = await founder();
      const guest = await signUp();
      const login = guest.login.toUpperCase();
      const first = await as(owner.at, "POST", "/members/invitations", {
        login,
        roles: ["viewer"],
      });
      expect([first.status, first.body]).toMatchObject([
        201,
        { login: guest.login, roles: ["viewer"], invited_by: owner.id },
      ]);
      const { token: earlier, ...mail } = await mailTo(guest.login);
      expect(mail).toMatchObject({ tenant_key: owner.key, roles: ["viewer"] });
      const second = await as(owner.at, "POST", "/members/invitations", {
        login,
        roles: ["agent"],
      });
      await expect.poll(async () => (await mailTo(guest.login)).token).not.toBe(earlier);
      const { token } = await mailTo(guest.login);
      const open = await as(owner.at, "GET", "/members/invitations");
      expect(open.body).toEqual({ invitations: [second.body] });
      const accept = (by: string, given: string) =>
        as(by, "POST", "/members/invitations/accept", { token: given });
      expect(await accept(guest.token, earlier)).toMatchObject(refused("core.not_found"));
      expect(await accept(guest.token, "nothing")).toMatchObject(refused("core.not_found"));
      expect((await accept(guest.token, token)).body).toEqual({
        tenant_id: owner.tenant,
        tenant_key: owner.key,
      });
      expect(await accept((await signUp()).token, token)).toMatchObject(refused("core.not_found"));
      expect((await as(owner.at, "GET", "/members/invitations")).body).toEqual({ invitations: [] });
      expect(await rolesOf(owner.at)).toEqual({ [owner.id]: ["owner"], [guest.id]: ["agent"] });
      expect(
        await as(owner.at, "POST", "/members/invitations", { login, roles: [] }),
      ).toMatchObject(refused("core.conflict"));
    });

    test("somebody without an account registers by an invitation", async () => {
      const owner = await founder();
      const login = `${unique("newcomer")}@example.test`;
      await as(owner.at, "POST", "/members/invitations", { login, roles: ["viewer"] });
      const { token } = await mailTo(login);
      const register = (given: object) =>
        service.post("/members/invitations/register", {
          token,
          password,
          profile: { name: "New" },
          ...given,
        });
      expect((await register({ password: "password1234" })).status).toBe(422);
      expect((await register({ profile: {} })).status).toBe(422);
      expect(await register({ token: "nothing" })).toMatchObject(refused("core.not_found"));
      const registered = await register({});
      expect(registered.status).toBe(201);
      const me = await as(registered.body.access_token, "GET", "/auth/me");
      expect(me.body).toMatchObject({ tenant_id: owner.tenant, profile: { name: "New" } });
      expect(await rolesOf(owner.at)).toMatchObject({ [me.body.principal_id]: ["viewer"] });
      expect((await service.post("/auth/login", { login, password })).status).toBe(200);
      expect(await register({})).toMatchObject(refused("core.not_found"));
      // Who has an account signs in and accepts.
      const other = await signUp();
      await as(owner.at, "POST", "/members/invitations", { login: other.login, roles: [] });
      const again = await register({ token: (await mailTo(other.login)).token });
      expect(again).toMatchObject(refused("unique_violation", { members: ["login"] }));
    });

    test("nobody gives a role that its own roles don't give, nor takes one", async () => {
      const owner = await founder();
      const agent = await invited(owner.at, ["agent"]);
      const viewer = await invited(owner.at, ["viewer"]);
      const missing = (role: string) =>
        refused("core.authorization", { missing: `a role that gives ${role}` });
      const invite = (...roles: readonly string[]) =>
        as(agent.at, "POST", "/members/invitations", { login: "a@example.test", roles });
      expect(await invite("viewer", "owner")).toMatchObject(missing("owner"));
      expect(await invite("agent")).toMatchObject(missing("agent"));
      expect((await invite("viewer")).status).toBe(201);
      expect(await setRoles(agent.at, agent.id, "owner")).toMatchObject(missing("owner"));
      expect(await setRoles(agent.at, owner.id)).toMatchObject(missing("owner"));
      expect(await as(agent.at, "DELETE", `/members/${owner.id}`)).toMatchObject(missing("owner"));
      expect((await setRoles(agent.at, viewer.id)).status).toBe(204);
      expect((await as(agent.at, "DELETE", `/members/${viewer.id}`)).status).toBe(204);
      expect((await as(viewer.at, "POST", "/notes/list", {})).status).toBe(401);
      // An invitation with roles that one doesn't give can't be taken back either.
      const open = await as(owner.at, "POST", "/members/invitations", {
        login: "b@example.test",
        roles: ["owner"],
      });
      const back = `/members/invitations/${open.body.invitation_id}`;
      expect(await as(agent.at, "DELETE", back)).toMatchObject(missing("owner"));
      expect((await as(owner.at, "DELETE", back)).status).toBe(204);
      expect(await as(owner.at, "DELETE", back)).toMatchObject(refused("core.not_found"));
      expect((await setRoles(owner.at, agent.id, "boss")).status).toBe(422);
      expect(await setRoles(owner.at, viewer.id, "viewer")).toMatchObject(
        refused("core.not_found"),
      );
    });

    test("a role that gives itself is always somebody's", async () => {
      const owner = await founder();
      const agent = await invited(owner.at, ["agent"]);
      const last = refused("last_holder", { role: "owner" });
      expect(await setRoles(owner.at, owner.id, "agent")).toMatchObject(last);
      expect(await as(owner.at, "DELETE", `/members/${owner.id}`)).toMatchObject(last);
      expect(await as(owner.token, "DELETE", `/tenants/${owner.tenant}`)).toMatchObject(last);
      const handedOver = await as(owner.at, "POST", `/members/${agent.id}/hand-over`, {
        keep: ["viewer"],
      });
      expect(handedOver.status).toBe(204);
      expect(await rolesOf(agent.at)).toEqual({
        [owner.id]: ["viewer"],
        [agent.id]: ["owner", "agent"],
      });
      expect(
        (await as(owner.at, "POST", `/members/${agent.id}/hand-over`, { keep: [] })).status,
      ).toBe(403);
      expect((await as(owner.token, "DELETE", `/tenants/${owner.tenant}`)).status).toBe(204);
    });

    test("of two owners who remove each other at once, one stays", async () => {
      for (let round = 0; round < 6; round += 1) {
        const owner = await founder();
        const second = await invited(owner.at, ["owner"]);
        const answers = await Promise.all([
          as(owner.at, "DELETE", `/members/${second.id}`),
          round % 2 === 0
            ? as(second.at, "DELETE", `/members/${owner.id}`)
            : as(second.token, "DELETE", `/tenants/${owner.tenant}`),
        ]);
        const statuses = answers.map(({ status }) => status);
        expect(statuses.filter((one) => one === 204).length).toBeGreaterThan(0);
        const left = await service.running.connection.write("test.left", ({ transaction }) =>
          transaction.of(tenantStore).listMemberPage(owner.tenant, undefined, 10),
        );
        expect(left.map(({ grants }) => grants)).toEqual([["role:owner"]]);
      }
    });

    test("invitations of somebody who may not give their roles any more are worth nothing", async () => {
      const owner = await founder();
      const second = await invited(owner.at, ["owner"]);
      const guest = await signUp();
      await as(second.at, "POST", "/members/invitations", { login: guest.login, roles: ["owner"] });
      const { token } = await mailTo(guest.login);
      expect((await setRoles(owner.at, second.id, "agent")).status).toBe(204);
      const accept = () => as(guest.token, "POST", "/members/invitations/accept", { token });
      expect(await accept()).toMatchObject(refused("core.not_found"));
      expect((await setRoles(owner.at, second.id, "owner")).status).toBe(204);
      expect((await as(owner.at, "DELETE", `/members/${second.id}`)).status).toBe(204);
      expect(await accept()).toMatchObject(refused("core.not_found"));
    });

    test("who removes a member may take all that it was granted", async () => {
      const owner = await founder();
      const agent = await invited(owner.at, ["agent"]);
      const above = await invited(owner.at, []);
      const granted = async (permission: string): Promise<Answer> => {
        await people.grant(owner.tenant, above.id, permission);
        return as(agent.at, "DELETE", `/members/${above.id}`);
      };
      const refusal = refused("core.authorization", { missing: "admin or members.admin" });
      expect(await granted("members.admin")).toMatchObject(refusal);
      expect(await granted("role:super")).toMatchObject(refusal);
      // A role that stands above all gives all.
      const chief = await invited(owner.at, ["chief"]);
      expect((await setRoles(chief.at, agent.id, "owner", "chief")).status).toBe(204);
      expect((await as(chief.at, "DELETE", `/members/${above.id}`)).status).toBe(204);
    });

    test("nobody replaces an invitation that they could not take back", async () => {
      const owner = await founder();
      const agent = await invited(owner.at, ["agent"]);
      const login = `${unique("guest")}@example.test`;
      const invite = (by: string, ...roles: readonly string[]) =>
        as(by, "POST", "/members/invitations", { login, roles });
      expect((await invite(owner.at, "owner")).status).toBe(201);
      expect((await invite(agent.at)).status).toBe(403);
      expect((await invite(owner.at, "viewer")).status).toBe(201);
      expect((await invite(agent.at)).status).toBe(201);
    });

    test("who loses a role, or leaves, has invited nobody, also once it is back", async () => {
      const owner = await founder();
      const second = await invited(owner.at, ["owner"]);
      const guest = await signUp();
      const invite = async (roles: readonly string[]): Promise<string> => {
        const sent = await as(second.at, "POST", "/members/invitations", {
          login: guest.login,
          roles,
        });
        expect(sent.status).toBe(201);
        let token = "";
        await expect
          .poll(async () => {
            const mail = await mailTo(guest.login);
            return (token = mail.token) !== known && mail.roles.join() === roles.join();
          })
          .toBe(true);
        return (known = token);
      };
      let known = "";
      const accept = async (token: string) =>
        (await as(guest.token, "POST", "/members/invitations/accept", { token })).status;
      const ofRoles = await invite(["owner"]);
      await setRoles(owner.at, second.id, "agent");
      expect((await as(owner.at, "GET", "/members/invitations")).body.invitations).toEqual([]);
      await setRoles(owner.at, second.id, "owner");
      expect(await accept(ofRoles)).toBe(404);
      const ofNone = await invite([]);
      await as(owner.at, "DELETE", `/members/${second.id}`);
      expect(await accept(ofNone)).toBe(404);
    });

    test("the only member of a tenant may leave it", async () => {
      const owner = await founder();
      expect((await as(owner.token, "DELETE", `/tenants/${owner.tenant}`)).status).toBe(204);
    });

    test("members who change each other at once wait for each other, and none fails", async () => {
      for (let round = 0; round < 6; round += 1) {
        const owner = await founder();
        const second = await invited(owner.at, ["owner"]);
        const answers = await Promise.all([
          setRoles(owner.at, second.id, "owner", "viewer"),
          setRoles(second.at, owner.id, "owner", "viewer"),
          setRoles(owner.at, second.id, "owner", "agent"),
          setRoles(second.at, owner.id, "owner", "agent"),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
      }
    });

    test("a role that is taken ends what it permitted at once", async () => {
      const owner = await founder();
      const agent = await invited(owner.at, ["agent"]);
      expect((await as(agent.at, "POST", "/notes", { text: "one" })).status).toBe(201);
      await setRoles(owner.at, agent.id);
      expect((await as(agent.at, "POST", "/notes", { text: "two" })).status).toBe(403);
    });
  });
}
