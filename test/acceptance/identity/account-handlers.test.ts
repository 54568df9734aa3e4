// Accounts behind routes of the author's own: handlers register, sign in and edit with what opwright does it with.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const password = "correct horse battery staple";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], member: [principal]}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {bearer: Authorization, scheme: Token}, {api_key: X-API-Key}]
  api_keys: {}
  sign_up: {verify: none, profile: profiles}
documents:
  profiles: {type: {username: string, bio: string?}, guard: open, mount: false, unique: [[owner_id], [username]]}
types:
  Account: {token: string, username: string}
operations:
  users.register:
    post: /api/users
    in: {email: string, password: string, username: string}
    out: Account
    run: registry/users.ts#register
    guard: open
    credentials: ignore
    transaction: read
  users.login: {post: /api/login, in: {email: string, password: string}, out: Account, run: registry/users.ts#login, guard: open, credentials: ignore, transaction: read}
  users.update: {put: /api/user, in: {email: string?, password: string?}, out: Account, run: registry/users.ts#update, guard: member, transaction: read}
`,
  "registry/users.ts": `import { account, callerOf, collection, signIn, signUp } from "opwright/runtime";
import { profilesSpec } from "../generated/documents/profiles.js";
import { identitySpec } from "../generated/identity.js";
const nameOf = async (context, principal) =>
  (await collection(profilesSpec, context.onBehalfOf(principal)).first({ own: true })).username;
export const register = async ({ email, password, username }, context) => {
  const profile = { username, bio: null };
  const { access_token: token } = await signUp.signUp(identitySpec)({ login: email, password, profile }, context);
  return { token, username };
};
export const login = async ({ email, password }, context) => {
  const { principalId, tokens } = await signIn(identitySpec, context, { login: email, password });
  return { token: tokens.access_token, username: await nameOf(context, principalId) };
};
export const update = ({ email, password }, context) => {
  const change = { login: email ?? undefined, password: password ?? undefined };
  return account.change(change, context, async () => ({
    token: await account.accessToken(context),
    username: await nameOf(context, callerOf(context).principalId),
  }));
};
`,
};

onEachEngine(files, ({ service }) => {
  const register = (name: string): Promise<Answer> =>
    service.post("/api/users", { email: `${name}@example.test`, password, username: name });
  const login = async (email: string, secret = password): Promise<number> =>
    (await service.post("/api/login", { email, password: secret })).status;
  const update = (token: string, body: object): Promise<Answer> =>
    service.call("PUT", "/api/user", { body, headers: { authorization: `Token ${token}` } });

  test("a handler registers and signs in, with a profile whose name is given once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_one, at) =>
        service.post("/api/users", {
          email: `x${at}@example.test`,
          password,
          username: "wanted",
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await register("ann")).body).toMatchObject({ username: "ann" });
    const again = await service.post("/api/login", { email: "ann@example.test", password });
    expect(again).toMatchObject({ status: 200, body: { username: "ann" } });
  });

  test("a login changes to one that is free, and its session goes on", async () => {
    const { token } = (await register("bob")).body;
    await register("taken");
    expect(await update(token, { email: "Taken@example.test" })).toMatchObject({
      status: 409,
      body: { code: "unique_violation", context: { members: ["login"] } },
    });
    expect((await update(token, { email: "robert@example.test" })).status).toBe(200);
    expect((await update(token, {})).status).toBe(200);
    expect([await login("bob@example.test"), await login("robert@example.test")]).toEqual([
      401, 200,
    ]);
  });

  test("of parallel changes to one login one is done", async () => {
    const tokens = await Promise.all(
      ["c1", "c2", "c3", "c4"].map(async (name) => (await register(name)).body.token as string),
    );
    const answers = await Promise.all(
      tokens.map((token) => update(token, { email: "wanted@example.test" })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test("a new password keeps its rules, and ends every other session and every API key", async () => {
    const { token } = (await register("dan")).body;
    const authorization = `Token ${token}`;
    const issued = await service.call("POST", "/api-keys", { headers: { authorization } });
    const withKey = async (): Promise<number> => {
      const headers = { authorization: "", "x-api-key": issued.body.api_key };
      return (await service.call("GET", "/auth/me", { headers })).status;
    };
    expect(issued.status).toBe(201);
    expect(await withKey()).toBe(200);
    expect((await update(token, { password: "short" })).status).toBe(422);
    const next = "another long password";
    const other = await service.post("/api/login", { email: "dan@example.test", password });
    const { body } = await update(token, { password: next });
    expect([(await update(other.body.token, {})).status, await withKey()]).toEqual([401, 401]);
    expect((await update(body.token, {})).status).toBe(200);
    expect([await login("dan@example.test"), await login("dan@example.test", next)]).toEqual([
      401, 200,
    ]);
  });
});
