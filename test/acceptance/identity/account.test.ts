// Accounts changed by handlers of the author's own: another login and password, together with what the handler writes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const password = "correct horse battery staple";
const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], member: [principal]}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  sign_up: {verify: none, profile: profiles}
  api_keys: {}
documents:
  profiles: {type: {name: string}, guard: open, unique: [[owner_id], [name]]}
operations:
  me.token: {get: /token, out: {token: string}, run: registry/me.ts#token, guard: member}
  me.change:
    put: /account
    in: {login: string?, password: string?, name: string?}
    run: registry/me.ts#change
    guard: member
    transaction: read
`,
  "registry/me.ts": `import { account, collection } from "opwright/runtime";
import { profilesSpec } from "../generated/documents/profiles.js";
export const token = async (_input, context) => ({ token: await account.accessToken(context) });
export const change = async ({ login, password, name }, context) => {
  const profiles = collection(profilesSpec, context);
  const mine = await profiles.first({ own: true });
  await account.change({ login, password }, context, async () => {
    if (name !== undefined) await profiles.update(mine.id, "any", { name });
  });
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

let counter = 0;
const unused = (): string => `somebody${(counter += 1)}`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      const { service: definition } = await project.load("generated/service.ts");
      const environment = { SIGN_UP_ATTEMPTS_PER_ADDRESS: "1000" };
      const folder = `${project.root}/generated`;
      service = await startTestService(engine, { definition, folder, signsIn: false, environment });
    });
    afterAll(() => service.stop());

    const signUp = async (login: string): Promise<string> => {
      const given = { login, password, profile: { name: login } };
      return (await service.post("/auth/sign-up", given)).body.access_token;
    };
    const logsIn = async (login: string, secret = password): Promise<Answer> =>
      service.post("/auth/login", { login, password: secret });
    const as = (token: string) => (method: string, path: string, body?: object) =>
      service.call(method, path, {
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body }),
      });

    test("the token of an answer is of the same session, and ends with the one of the call", async () => {
      const token = await signUp(unused());
      const { body } = await as(token)("GET", "/token");
      const [mine, given] = [token, body.token].map((one: string) =>
        JSON.parse(Buffer.from(one.split(".")[1] ?? "", "base64url").toString()),
      );
      expect([given.sub, given.sid, given.exp <= mine.exp]).toEqual([mine.sub, mine.sid, true]);
      expect((await as(body.token)("GET", "/auth/me")).status).toBe(200);
    });

    test("a changed login signs in, in its one form, and the one before does not", async () => {
      const [before, after] = [unused(), unused()];
      const me = as(await signUp(before));
      expect(
        (await me("PUT", "/account", { login: ` ${after.toUpperCase()}`, name: after })).status,
      ).toBe(204);
      expect((await me("GET", "/auth/me")).body.profile.name).toBe(after);
      expect([(await logsIn(after)).status, (await logsIn(before)).status]).toEqual([200, 401]);
      expect((await me("PUT", "/account", { login: " " })).status).toBe(422);
    });

    test("a new password ends every session but the calling one", async () => {
      const login = unused();
      const me = as(await signUp(login));
      const other = as((await logsIn(login)).body.access_token);
      const next = "a password of another kind";
      expect((await me("PUT", "/account", { password: next })).status).toBe(204);
      expect([
        (await me("GET", "/auth/me")).status,
        (await other("GET", "/auth/me")).status,
      ]).toEqual([200, 401]);
      expect([(await logsIn(login, next)).status, (await logsIn(login)).status]).toEqual([
        200, 401,
      ]);
      const common = await me("PUT", "/account", { password: "password1" });
      expect(common).toMatchObject({
        status: 422,
        body: { context: { errors: [{ path: "/password", keyword: "common" }] } },
      });
    });

    test("a login that is taken changes nothing", async () => {
      const [mine, taken] = [unused(), unused()];
      await signUp(taken);
      const me = as(await signUp(mine));
      const refused = (member: string): object => ({
        status: 409,
        body: { code: "unique_violation", context: { members: [member] } },
      });
      const free = unused();
      expect(await me("PUT", "/account", { login: taken, name: free })).toMatchObject(
        refused("login"),
      );
      expect(await me("PUT", "/account", { login: free, name: taken })).toMatchObject(
        refused("name"),
      );
      expect((await me("GET", "/auth/me")).body.profile.name).toBe(mine);
      expect([(await logsIn(mine)).status, (await logsIn(free)).status]).toEqual([200, 401]);
    });

    test("of two who want one login at once, one gets it", async () => {
      const tokens = await Promise.all([unused(), unused(), unused()].map(signUp));
      const login = unused();
      const answers = await Promise.all(
        tokens.map((token) => as(token)("PUT", "/account", { login })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
    });

    test("an API key changes no account, and gets no token", async () => {
      const me = as(await signUp(unused()));
      const { api_key: key } = (await me("POST", "/api-keys", {})).body;
      const headers = { "x-api-key": String(key) };
      for (const [method, path] of [
        ["GET", "/token"],
        ["PUT", "/account"],
      ] as const) {
        const body = method === "PUT" ? { body: { login: unused() } } : {};
        expect((await service.call(method, path, { headers, ...body })).status).toBe(403);
      }
    });
  });
}
