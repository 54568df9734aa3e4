// Erasing somebody, over HTTP: a text that only they have is in no table, no file and no line of the log afterwards.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { benchOf, type Bench } from "../../support/bench-database.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  open: []
  own: [principal, {scope: own_rows}]
  member: [principal, tenant]
  admin: [principal, {authorize: platform.admin}]
roles: {owner: {permissions: [members.write], gives: [owner]}}
tenancy:
  selector: {create: {roles: [owner]}}
  members: {}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  sign_up: {verify: none, profile: profiles}
  api_keys: {}
  erase: {guard: admin, also: registry/people.ts#eraseFiles}
  export: {guard: admin, also: registry/people.ts#exportFiles}
audit: {guard: member}
outbox:
  events:
    tenancy.member_invited: {destination: nowhere}
    tickets.told: {destination: nowhere, data: {text: string}, guard: member}
webhooks: {guard: member}
realtime:
  transports: [sse]
  events: {tickets.seen: {data: {text: string}, audience: [principal], delivery: durable}}
search:
  ticket_search: {of: tickets, text: [body], guard: member, mount: {at: /ticket_search}}
storage:
  files: {guard: member}
jobs:
  tickets.copy: {in: {text: string}, run: registry/people.ts#copy}
documents:
  profiles:
    type: {name: string, phone: string?}
    guard: own
    tenant: false
    unique: [[owner_id]]
    personal: {name: Somebody, phone: null}
  tickets:
    type: {title: string, body: string?, email: string?}
    guard: member
    history: true
    soft_delete: true
    unique: [[email]]
    personal: {title: "(erased)", body: null, email: null}
  # What is personal goes, also where a condition asks for a text.
  comments:
    type:
      text: string?
      told: boolean
      if: {properties: {told: {const: true}}}
      then: {properties: {text: {type: string}}}
    defaults: {told: true}
    guard: member
    personal: {text: "(erased)"}
  notes:
    type: {text: string?, length: integer, author: {ref: profiles}, editor: {ref: profiles}}
    guard: member
    tenant: false
    set:
      length: registry/people.ts#length
      author: {from: $profile, on: create}
      editor: {from: $profile, on: write}
    personal: [text]
  counts: {type: {of: string}, guard: member}
operations:
  tickets.forget: {post: "/tickets/{id}/forget", in: {id: uuid}, out: {removed: integer}, run: registry/people.ts#forget, guard: member}
  tickets.tell: {post: /tell, in: {text: string}, run: registry/people.ts#tell, guard: member}
`,
  "registry/people.ts": `import { callerOf, collection, objects } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { filesSpec } from "../generated/storage/files.js";
import { enqueue } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import { stageSignal } from "../generated/signals.js";
export const tell = async ({ text }, context) => {
  await stageEvent(context, "tickets.told", { text });
  await stageSignal(context, "tickets.seen", { text }, { principals: [callerOf(context).principalId] });
  await enqueue(context, "tickets.copy", { text }, { delay: "1h" });
  const key = callerOf(context).principalId + "/note.txt";
  await objects(filesSpec, context).put(key, Buffer.from(text), { content_type: "text/plain" });
};
export const length = ({ text }) => text?.length ?? 0;
export const copy = () => undefined;
export const forget = async ({ id }, context) => ({
  removed: await collection(ticketsSpec, context).purgeRevisions(id),
});
export const exportFiles = async ({ principalId, tenants }, context) => {
  const lines = [];
  for (const tenant of tenants) {
    const { hits } = await objects(filesSpec, context.inTenant(tenant)).list({ prefix: principalId + "/" });
    for (const { key } of hits) lines.push({ kind: "file", tenant_id: tenant, data: { key } });
  }
  return lines;
};
export const eraseFiles = async ({ principalId, tenants }, context) => {
  for (const tenant of tenants) {
    const files = objects(filesSpec, context.inTenant(tenant));
    const { hits } = await files.list({ prefix: principalId + "/" });
    for (const { key } of hits) await files.delete(key);
  }
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let database: FreshDatabase;
    let bench: Bench;
    let admin = "";
    const log: string[] = [];
    const data = mkdtempSync(join(tmpdir(), "opwright-erasure-"));
    beforeAll(async () => {
      database = await engine.create();
      const { service: definition } = await project.load("generated/service.ts");
      const line = (fields: unknown, message: string) =>
        void log.push(`${message} ${inspect(fields, { depth: 9 })}`);
      service = await startTestService(engine, {
        definition,
        folder: `${project.root}/generated`,
        signsIn: false,
        log: { debug: line, info: line, warn: line, error: line },
        environment: {
          ...database.environment,
          DATA_DIR: data,
          // Nobody listens there, so that what is told waits.
          DESTINATION_NOWHERE: "http://127.0.0.1:9/",
          SIGN_UP_ATTEMPTS_PER_ADDRESS: "1000",
        },
      });
      const { identitySpec } = await project.load("generated/identity.ts");
      people = peopleOf(service, identitySpec);
      bench = await benchOf(engine, database.url);
      const { id } = await people.person("platform.admin");
      admin = (await people.session(id, null)).access_token;
    });
    afterAll(async () => {
      await bench.close();
      await service.stop();
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    });

    const as = (token: string, method: string, path: string, body?: object): Promise<Answer> =>
      people.as(token, method, path, body);
    const done = async (answer: Promise<Answer>): Promise<Answer["body"]> => {
      const { status, body } = await answer;
      expect([status, status < 300 ? "" : body]).toEqual([
        expect.toSatisfy((one) => one < 300),
        "",
      ]);
      return body;
    };
    /** Somebody with an account and a tenant; `canary` stands in all that they leave. */
    const register = async (canary: string) => {
      const login = `${canary}@example.test`;
      const profile = { name: canary, phone: canary };
      const signedUp = await done(service.post("/auth/sign-up", { login, password, profile }));
      const { principal_id: id } = await done(as(signedUp.access_token, "GET", "/auth/me"));
      const made = await done(
        as(signedUp.access_token, "POST", "/tenants", { tenant_key: `t-${id}` }),
      );
      const scoped = await done(
        as(signedUp.access_token, "POST", `/tenants/${made.tenant_id}/activate?keep=true`),
      );
      return { id, login, tenant: made.tenant_id as string, token: scoped.access_token as string };
    };
    const erase = (id: string) => as(admin, "POST", "/auth/erase", { principal_id: id });
    /** Where a text is in the database: tables and columns. */
    const tablesWith = async (text: string): Promise<readonly string[]> => {
      const tables = await bench.query(
        engine.name === "sqlite"
          ? `SELECT "name" FROM "sqlite_master" WHERE "type" = 'table'`
          : `SELECT "table_name" AS "name" FROM "information_schema"."tables" WHERE "table_schema" = current_schema()`,
      );
      const found: string[] = [];
      for (const name of tables.map((row) => String(row["name"]))) {
        const rows = await bench.query(
          engine.name === "sqlite"
            ? `SELECT * FROM "${name}"`
            : `SELECT "${name}"::text AS "row" FROM "${name}"`,
        );
        if (rows.some((row) => Object.values(row).join(" ").toLowerCase().includes(text)))
          found.push(name);
      }
      return found.toSorted();
    };
    const filesWith = (text: string, folder = data): readonly string[] =>
      readdirSync(folder).flatMap((name) => {
        const path = join(folder, name);
        if (statSync(path).isDirectory()) return filesWith(text, path);
        return readFileSync(path).includes(text) ? [path] : [];
      });

    test("nothing of them is left, and others keep what is theirs", async () => {
      const canary = `canary${engine.name}`;
      const person = await register(canary);
      const other = await register(`other${engine.name}`);
      const { token } = person;
      await done(as(token, "POST", "/api-keys", { label: "mine" }));
      const ticket = await done(
        as(token, "POST", "/tickets", { title: canary, body: `hello ${canary}`, email: canary }),
      );
      await done(as(token, "PATCH", `/tickets/${ticket.id}?rev=1`, { title: `again ${canary}` }));
      const gone = await done(as(token, "POST", "/tickets", { title: `gone ${canary}` }));
      await done(as(token, "POST", `/tickets/${gone.id}/delete?rev=1`));
      await done(as(token, "POST", "/comments", { text: canary }));
      await done(
        as(token, "POST", "/webhooks", { url: "https://example.com/", events: ["tickets.told"] }),
      );
      await done(as(token, "POST", "/tell", { text: `${canary} ${ticket.id}` }));
      await done(as(token, "POST", "/members/invitations", { login: "x@example.test", roles: [] }));
      await done(
        as(other.token, "POST", "/members/invitations", { login: person.login, roles: [] }),
      );
      await done(as(other.token, "POST", "/tickets", { title: "kept", email: "kept" }));
      expect((await tablesWith(canary)).length).toBeGreaterThan(5);

      const report = await done(erase(person.id));
      expect(report).toMatchObject({
        principal_id: person.id,
        erased: { accounts: 1, profiles: 1, tickets: 2, comments: 1, revisions: 4, job_runs: 1 },
      });
      expect(await tablesWith(canary)).toEqual([]);
      expect(
        filesWith(canary).filter((one) => !one.endsWith("-wal") && !one.includes(".db")),
      ).toEqual([]);
      expect(log.filter((one) => one.includes(canary))).toEqual([]);

      expect((await as(token, "GET", "/auth/me")).status).toBe(401);
      const again = await service.post("/auth/login", { login: person.login, password });
      expect(again.status).toBe(401);
      const theirs = await done(as(other.token, "POST", "/tickets/list", {}));
      expect(theirs.hits).toMatchObject([{ title: "kept", email: "kept" }]);
      // A second time finds nothing, and the address may register again, as somebody else.
      expect((await done(erase(person.id))).erased).toEqual({});
      expect((await register(canary)).id).not.toBe(person.id);
      expect(await erase("00000000-0000-7000-8000-000000000000")).toMatchObject({
        status: 404,
        body: { code: "core.not_found" },
      });
    });

    test("whoever asks gets all that is kept of them, and nothing of others", async () => {
      const canary = `asks${engine.name}`;
      const person = await register(canary);
      const other = await register(`asked${engine.name}`);
      const { token, tenant } = person;
      await done(as(token, "POST", "/api-keys", { label: "mine" }));
      const gone = await done(as(token, "POST", "/tickets", { title: canary }));
      await done(as(token, "POST", `/tickets/${gone.id}/delete?rev=1`));
      await done(as(token, "POST", "/notes", { text: "three" }));
      await done(
        as(token, "POST", "/webhooks", { url: "https://example.com/", events: ["tickets.told"] }),
      );
      await done(as(token, "POST", "/tell", { text: canary }));
      await done(as(other.token, "POST", "/tickets", { title: "theirs" }));
      const linesOf = async (answer: Promise<Answer>) => {
        const { status, headers, body } = await answer;
        expect([status, headers.get("content-type")]).toEqual([200, "application/jsonl"]);
        return String(body)
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
      };
      await expect
        .poll(async () => (await linesOf(as(token, "GET", "/auth/export"))).map((one) => one.kind))
        .toContain("signal");
      const lines = await linesOf(as(token, "GET", "/auth/export"));
      const kinds = [...new Set(lines.map((one) => one.kind))].toSorted();
      expect(kinds).toEqual(
        "account api_key audit_entry file job_run membership notes profiles session signal tickets webhook".split(
          " ",
        ),
      );
      const find = (kind: string) => lines.find((one) => one.kind === kind);
      expect(find("account").data).toEqual({
        principal_id: person.id,
        login: person.login,
        is_active: true,
        has_password: true,
      });
      expect(find("tickets")).toMatchObject({
        tenant_id: tenant,
        data: { id: gone.id, title: canary, is_deleted: true },
      });
      expect(find("notes").tenant_id).toBeUndefined();
      expect(find("membership").data.granted).toContain("role:owner");
      expect(find("job_run").data.input).toEqual({ text: canary });
      expect(find("signal").data).toEqual({ name: "tickets.seen", data: { text: canary } });
      const text = JSON.stringify(lines);
      for (const secret of ["theirs", other.id, other.login, "whsec_", "$argon2"])
        expect(text).not.toContain(secret);
      const theirs = await linesOf(as(admin, "GET", `/auth/export/${person.id}`));
      expect(theirs.map((one) => one.kind)).toEqual(lines.map((one) => one.kind));
      expect((await as(token, "GET", `/auth/export/${other.id}`)).status).toBe(403);
      const missing = await as(admin, "GET", "/auth/export/00000000-0000-7000-8000-000000000000");
      expect(missing.body.code).toBe("core.not_found");
      const key = await done(as(token, "POST", "/api-keys", { label: "other" }));
      const byKey = await service.call("GET", "/auth/export", {
        headers: { "x-api-key": key.api_key },
      });
      expect(byKey.status).toBe(403);
    });

    test("they ask ten times an hour", async () => {
      const { token } = await register(`often${engine.name}`);
      const statuses: number[] = [];
      for (let at = 0; at < 11; at += 1)
        statuses.push((await as(token, "GET", "/auth/export")).status);
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    });

    test("revisions go without their document", async () => {
      const { token } = await register(`third${engine.name}`);
      const made = await done(as(token, "POST", "/tickets", { title: "one" }));
      await done(as(token, "PATCH", `/tickets/${made.id}?rev=1`, { title: "two" }));
      await done(as(token, "PATCH", `/tickets/${made.id}?rev=2`, { title: "three" }));
      const forget = () => as(token, "POST", `/tickets/${made.id}/forget`);
      expect((await done(forget())).removed).toBe(2);
      expect((await done(forget())).removed).toBe(0);
      expect(await done(as(token, "GET", `/tickets/${made.id}`))).toMatchObject({
        title: "three",
        rev: 3,
      });
      const late = await as(token, "PATCH", `/tickets/${made.id}?rev=1`, { body: "late" });
      expect(late.body.code).toBe("history_not_found_retry");
    });

    test("what remains of documents is what the registry says, at the next revision", async () => {
      const person = await register(`second${engine.name}`);
      const helper = await people.member(person.tenant);
      const ticket = await done(
        as(person.token, "POST", "/tickets", { title: "one", body: "two", email: person.login }),
      );
      const theirs = await done(as(helper.token, "POST", "/tickets", { title: "theirs" }));
      const note = await done(as(person.token, "POST", "/notes", { text: "three" }));
      expect(note.length).toBe(5);
      await done(erase(person.id));
      // Computed anew, and written by whoever had written it.
      expect(await done(as(helper.token, "GET", `/notes/${note.id}`))).toMatchObject({
        text: null,
        length: 0,
        author: note.author,
        editor: note.editor,
        rev: 2,
      });
      const found = await done(as(helper.token, "GET", `/tickets/${ticket.id}`));
      expect(found).toMatchObject({ title: "(erased)", body: null, email: null, rev: 2 });
      const searched = await done(
        as(helper.token, "POST", "/ticket_search/typed", { query: "two" }),
      );
      expect(searched.hits).toEqual([]);
      expect(await done(as(helper.token, "GET", `/tickets/${theirs.id}`))).toMatchObject({
        title: "theirs",
        rev: 1,
      });
    });
  });
}
