// API keys that are for some permissions of their owner only, over HTTP and in jobs.
import { expect, test } from "vitest";
import { silentLog, type Log } from "../../../runtime/ports/log.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { password } from "../../support/people.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  open: []
  member: [principal]
  reader: [principal, {authorize: "{resource}.read"}]
  writer: [principal, {authorize: "{resource}.write"}]
  own: [principal, {authorize: "{resource}.read"}, {scope: own_rows, override: [admin, "{resource}.admin"]}]
  admin: [principal, {authorize: platform.admin}]
roles: {editor: [notes.read, notes.write]}
tenancy: {}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  api_keys: {}
  sign_up: {verify: none, profile: profiles}
  provisioning: {guard: admin}
documents:
  notes: {type: {text: string, secret: {ref: "secrets?"}}, guard: {read: reader, write: writer}}
  secrets: {type: {title: string}, guard: member}
  profiles: {type: {name: string}, guard: member, tenant: false, unique: [[owner_id]]}
  pages: {type: {title: string}, guard: {read: own, write: writer}}
realtime:
  transports: [sse]
  events: {notes.told: {data: {text: string}, audience: [principal], delivery: durable}}
jobs:
  notes.copy: {in: {text: string}, run: registry/notes.ts#copy}
operations:
  pages.first: {post: /pages/first, out: {title: string}, run: registry/notes.ts#first, guard: own, idempotency: true}
  open.hello: {get: /hello, out: {text: string}, run: registry/notes.ts#hello, guard: open}
  me.hello: {get: /me/hello, out: {text: string}, run: registry/notes.ts#hello, guard: member}
  notes.asks: {get: /may, out: {read: boolean, write: boolean}, run: registry/notes.ts#asks, guard: reader}
  notes.enqueue: {post: /enqueue, in: {text: string}, run: registry/notes.ts#enqueueCopy, guard: reader}
`,
  "registry/notes.ts": `import { may } from "../generated/identity.js";
import { collection } from "opwright/runtime";
import { pagesSpec } from "../generated/documents/pages.js";
import { enqueue } from "../generated/jobs.js";
export const first = async (_input, context) => {
  const found = await collection(pagesSpec, context).first();
  return { title: found === null ? "none" : found.title };
};
export const hello = () => ({ text: "hello" });
export const asks = async (_input, context) => ({
  read: await may("notes.read", context),
  write: await may("notes.write", context),
});
export const enqueueCopy = async ({ text }, context) => {
  await enqueue(context, "notes.copy", { text });
};
export const copy = async ({ text }, context) => {
  const isAllowed = await may("notes.write", context);
  context.log.warn({ text, isAllowed }, "copied");
};
`,
};

/** What jobs were allowed, by their texts. */
const said = new Map<string, boolean>();
const log: Log = {
  ...silentLog,
  warn: (fields, message) => {
    const { text, isAllowed } = fields as { readonly text: string; readonly isAllowed: boolean };
    if (message === "copied") said.set(text, isAllowed);
  },
};
onEachEngine(
  files,
  ({ engine, service, people }) => {
    const by = (key: string, method: string, path: string, body?: object): Promise<Answer> =>
      service.call(method, path, { headers: { "x-api-key": key }, body });
    const issue = (token: string, scopes?: readonly string[]): Promise<Answer> =>
      people.as(token, "POST", "/api-keys", scopes === undefined ? {} : { scopes });
    const keyOf = async (token: string, ...scopes: readonly string[]): Promise<string> => {
      const { status, body } = await issue(token, scopes);
      expect([status, body]).toMatchObject([201, { scopes }]);
      return body.api_key;
    };
    const missing = (what: string) => ({
      status: 403,
      body: { code: "core.authorization", context: { missing: what } },
    });
    const whole = missing("a credential without scopes");

    test("a key does what it is for, as long as its owner may", async () => {
      const owner = await people.member("", "role:editor", "pages.read");
      const key = await keyOf(owner.token, "notes.read");
      expect((await people.as(owner.token, "POST", "/notes", { text: "one" })).status).toBe(201);
      expect((await by(key, "POST", "/notes/list", {})).body.count).toBe(1);
      expect(await by(key, "POST", "/notes", { text: "two" })).toMatchObject(
        missing("notes.write"),
      );
      expect(await by(key, "POST", "/pages/list", {})).toMatchObject(missing("pages.read"));
      expect((await by(key, "GET", "/may")).body).toEqual({ read: true, write: false });
      const me = await by(key, "GET", "/auth/me");
      expect([me.status, me.body.scopes]).toEqual([200, ["notes.read"]]);
      expect((await by(key, "GET", "/hello")).status).toBe(200);
      // What asks for no permission is for nobody in particular.
      expect(await by(key, "GET", "/me/hello")).toMatchObject(whole);
      expect((await by(key, "GET", "/api-keys")).status).toBe(403);
      const listed = await people.as(owner.token, "GET", "/api-keys");
      expect(listed.body.keys).toMatchObject([{ scopes: ["notes.read"] }]);
      const all = await issue(owner.token);
      expect("scopes" in all.body).toBe(false);
      expect((await by(all.body.api_key, "GET", "/me/hello")).status).toBe(200);
      expect((await by(all.body.api_key, "GET", "/auth/me")).body.scopes).toBe(null);
      await service.running.connection.write("test.revoke", ({ transaction }) =>
        transaction.of(tenantStore).revoke(owner.tenantId, owner.id, "role:editor"),
      );
      expect(await by(key, "POST", "/notes/list", {})).toMatchObject(missing("notes.read"));
    });

    test("nobody issues a key for what they may not do themselves", async () => {
      const owner = await people.member("", "notes.read");
      expect(await issue(owner.token, ["notes.read", "notes.write"])).toMatchObject(
        missing("notes.write"),
      );
      expect(await issue(owner.token, ["admin"])).toMatchObject(missing("admin"));
      for (const scopes of [[], ["role:editor"], ["Notes"], ["notes.read", "notes.read"]])
        expect((await issue(owner.token, scopes)).status).toBe(422);
    });

    test("a permission above others is a scope above theirs; a scope of rows asks for it", async () => {
      const owner = await people.member("", "admin");
      const other = await people.member(owner.tenantId, "pages.read", "pages.write");
      await people.as(other.token, "POST", "/pages", { title: "theirs" });
      const count = async (...scopes: readonly string[]): Promise<number> =>
        (await by(await keyOf(owner.token, ...scopes), "POST", "/pages/list", {})).body.count;
      expect(await count("admin")).toBe(1);
      expect(await count("pages.admin")).toBe(1);
      expect(await count("pages.read")).toBe(0);
      const key = await keyOf(owner.token, "notes.admin");
      expect((await by(key, "POST", "/notes", { text: "one" })).status).toBe(201);
    });

    test("platform permissions hold everywhere or not at all", async () => {
      const staff = await people.person("platform.admin", "notes.read");
      const { access_token: token } = await people.session(staff.id, null);
      const key = await keyOf(token, "notes.read");
      expect((await by(key, "GET", "/admin/principals?login=x")).status).toBe(403);
    });

    test("realtime is for whole credentials", async () => {
      const owner = await people.member("", "notes.read");
      const connect = async (key: string): Promise<number> => {
        const headers = { "x-api-key": key };
        const { status, body } = await fetch(`${service.url}/realtime/sse`, { headers });
        await body?.cancel();
        return status;
      };
      expect(await connect((await issue(owner.token)).body.api_key)).toBe(200);
      expect(await connect(await keyOf(owner.token, "notes.read"))).toBe(403);
    });

    test("nor does a reference lead where the key does not", async () => {
      const owner = await people.member("", "role:editor");
      const secret = await people.as(owner.token, "POST", "/secrets", { title: "hidden" });
      const note = { text: "one", secret: secret.body.id };
      expect((await people.as(owner.token, "POST", "/notes", note)).status).toBe(201);
      const key = await keyOf(owner.token, "notes.read");
      const list = (body: object) => by(key, "POST", "/notes/list", body);
      expect((await list({})).body.count).toBe(1);
      expect(await list({ expand: ["secret"] })).toMatchObject(whole);
      const filters = { $values: { "secret.title": "hidden" } };
      expect(await list({ filters })).toMatchObject(whole);
      const sorts = { "secret.title": "asc" };
      expect(await list({ sorts })).toMatchObject(whole);
    });

    test("nor is it told what a whole credential was told before", async () => {
      const owner = await people.member("", "admin");
      const other = await people.member(owner.tenantId, "pages.write");
      await people.as(other.token, "POST", "/pages", { title: "theirs" });
      const headers = { "idempotency-key": "the-same" };
      const first = async (credential: Readonly<Record<string, string>>) =>
        (await service.call("POST", "/pages/first", { headers: { ...headers, ...credential } }))
          .body;
      const all = await issue(owner.token);
      expect(await first({ "x-api-key": all.body.api_key })).toEqual({ title: "theirs" });
      const scoped = await keyOf(owner.token, "pages.read");
      expect(await first({ "x-api-key": scoped })).toEqual({ title: "none" });
      expect(await first({ "x-api-key": all.body.api_key })).toEqual({ title: "theirs" });
    });

    test("who is calling is said without the profile", async () => {
      const signedUp = await service.post("/auth/sign-up", {
        login: `${engine.name}@example.test`,
        password,
        profile: { name: "Ann" },
      });
      const token: string = signedUp.body.access_token;
      const { body } = await people.as(token, "GET", "/auth/me");
      expect(body.profile.name).toBe("Ann");
      await people.grant(null, body.principal_id, "notes.read");
      const me = await by(await keyOf(token, "notes.read"), "GET", "/auth/me");
      expect(me.body).toMatchObject({ scopes: ["notes.read"], profile: null });
    });

    test("a job that a key has enqueued does no more than the key", async () => {
      const owner = await people.member("", "role:editor");
      const run = async (key: string, text: string): Promise<unknown> => {
        expect((await by(key, "POST", "/enqueue", { text })).status).toBe(204);
        await expect.poll(() => said.has(text), { timeout: 10_000 }).toBe(true);
        return said.get(text);
      };
      expect(await run((await issue(owner.token)).body.api_key, `whole ${owner.id}`)).toBe(true);
      expect(await run(await keyOf(owner.token, "notes.read"), `scoped ${owner.id}`)).toBe(false);
    });
  },
  { log, signsIn: false },
);
