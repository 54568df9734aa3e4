// The audit trail: who has changed what in a tenant, whichever way it was done.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { password, type Member } from "../../support/people.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  member: [principal, tenant]
  auditor: [principal, tenant, {authorize: audit.read}]
  admin: [principal, {authorize: platform.admin}]
audit: {guard: auditor, keep: 30d, except: [drafts]}
roles:
  owner: {permissions: [members.read, members.write, audit.read], gives: [owner, agent]}
  agent: [tickets.read]
tenancy: {members: {}, selector: {create: {roles: [owner]}}, admin: {guard: admin}}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  sign_up: {verify: none}
  api_keys: {}
  erase: {guard: admin}
outbox: {events: {tenancy.member_invited: {destination: mail}}}
storage: {files: {guard: member}}
jobs: {tickets.close: {in: {id: uuid}, run: registry/tickets.ts#close}}
documents:
  queues: {type: {name: string}, guard: member, soft_delete: true}
  drafts: {type: {text: string}, guard: member}
  tickets:
    type: {title: string, status: string?, queue: {ref: "queues?", on_delete: cascade}}
    guard: member
    bulk: {max: 500}
    soft_delete: true
    history: true
    unique: [[title]]
operations:
  tickets.escalate: {post: "/tickets/{id}/escalate", in: {id: uuid, secret: string}, run: registry/tickets.ts#escalate, guard: member}
  tickets.look: {get: "/tickets/{id}/look", in: {id: uuid}, out: {title: string}, run: registry/tickets.ts#look, guard: member}
  tickets.try: {post: /try, run: registry/tickets.ts#attempt, guard: member}
  tickets.later: {post: "/tickets/{id}/later", in: {id: uuid}, run: registry/tickets.ts#later, guard: member}
`,
  "registry/tickets.ts": `import { collection, objects } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { filesSpec } from "../generated/storage/files.js";
import { enqueue } from "../generated/jobs.js";
export const escalate = async ({ id }, context) => {
  context.note({ reason: "loud" });
  await collection(ticketsSpec, context).update(id, "any", { status: "escalated" });
};
export const look = async ({ id }, context) => ({ title: (await collection(ticketsSpec, context).get(id)).title });
export const attempt = async (_input, context) => {
  const tickets = collection(ticketsSpec, context);
  await tickets.create({ title: "kept" });
  try {
    await context.commit(async () => {
      await tickets.create({ title: "undone" });
      throw new Error("not this one");
    });
  } catch {}
  await objects(filesSpec, context).put("notes/one.txt", Buffer.from("one"), { content_type: "text/plain" });
};
export const later = ({ id }, context) => enqueue(context, "tickets.close", { id });
export const close = async ({ id }, _context, { commit }) => {
  await commit("close", (context) => collection(ticketsSpec, context).update(id, "any", { status: "closed" }));
};
`,
};

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly operation: string;
  readonly principal_id: string | null;
  readonly credential: string | null;
  readonly change: string;
  readonly resource: string | null;
  readonly resource_id: string | null;
  readonly rev: number | null;
  readonly fields: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

const permissions = ["audit.read", "members.read", "members.write", "role:owner"];

onEachEngine(files, ({ service, people }) => {
  const as = (who: Member, method: string, path: string, body?: unknown): Promise<Answer> =>
    people.as(who.token, method, path, body);
  const trail = async (who: Member, query = ""): Promise<readonly Entry[]> => {
    const answer = await as(who, "GET", `/audit${query}`);
    expect([answer.status, answer.body.code]).toEqual([200, undefined]);
    return answer.body.entries;
  };
  /** The newest entries in short. */
  const newest = async (who: Member, count: number): Promise<readonly unknown[]> =>
    (await trail(who))
      .slice(0, count)
      .map((one) => [one.operation, one.change, one.resource, one.rev, one.fields.join()]);
  const ticket = async (who: Member, title: string, more = {}): Promise<string> =>
    (await as(who, "POST", "/tickets", { title, ...more })).body.id;

  test("each change of a document is an entry, with what is new and who did it", async () => {
    const ann = await people.member("", ...permissions);
    const id = await ticket(ann, "one");
    await as(ann, "PATCH", `/tickets/${id}?rev=1`, { title: "two", status: "open" });
    // What changes nothing, and what is refused, has changed nothing.
    await as(ann, "PATCH", `/tickets/${id}?rev=2`, { title: "two" });
    expect((await as(ann, "PATCH", `/tickets/${id}?rev=1`, { title: 7 })).status).toBe(422);
    await as(ann, "POST", `/tickets/${id}/delete?rev=2`);
    await as(ann, "POST", `/tickets/${id}/restore?rev=3`);
    await as(ann, "DELETE", `/tickets/${id}?rev=4`);
    expect((await as(ann, "POST", "/drafts", { text: "not told" })).status).toBe(201);
    const entries = await trail(ann);
    expect(entries.map(({ change, rev, fields }) => [change, rev, fields])).toEqual([
      ["kill", 4, []],
      ["restore", 4, []],
      ["delete", 3, []],
      ["update", 2, ["title", "status"]],
      ["create", 1, []],
    ]);
    for (const one of entries)
      expect(one).toMatchObject({
        resource: "tickets",
        resource_id: id,
        principal_id: ann.id,
        actor_id: null,
        credential: "session",
        details: {},
      });
    expect(entries.map((one) => one.operation)).toEqual([
      "tickets.kill",
      "tickets.restore",
      "tickets.delete",
      "tickets.update",
      "tickets.create",
    ]);
  });

  test("handlers, jobs, bulk writes and what goes along have entries as well", async () => {
    const ann = await people.member("", ...permissions);
    const queue = (await as(ann, "POST", "/queues", { name: "first" })).body.id;
    const id = await ticket(ann, "three", { queue });
    await as(ann, "POST", `/tickets/${id}/escalate`, { secret: "hunter2" });
    expect((await as(ann, "GET", `/tickets/${id}/look`)).status).toBe(200);
    expect(await newest(ann, 3)).toEqual([
      ["tickets.escalate", "call", null, null, ""],
      ["tickets.escalate", "update", "tickets", 2, "status"],
      ["tickets.create", "create", "tickets", 1, ""],
    ]);
    const [, escalated] = await trail(ann);
    expect(escalated?.details).toEqual({ reason: "loud" });
    expect((await as(ann, "POST", "/try")).status).toBe(204);
    expect(await newest(ann, 3)).toEqual(
      expect.arrayContaining([
        ["tickets.try", "call", null, null, ""],
        ["tickets.try", "write", "files", null, ""],
        ["tickets.try", "create", "tickets", 1, ""],
      ]),
    );
    await as(ann, "POST", `/queues/${queue}/delete?rev=1`);
    expect(await newest(ann, 2)).toEqual(
      expect.arrayContaining([
        ["queues.delete", "delete", "tickets", 3, ""],
        ["queues.delete", "delete", "queues", 2, ""],
      ]),
    );
    const other = await ticket(ann, "four");
    await as(ann, "POST", `/tickets/${other}/later`);
    // Its job may be done by now.
    expect(await newest(ann, 2)).toContainEqual(["tickets.later", "call", null, null, ""]);
    await expect
      .poll(async () => (await newest(ann, 1))[0], { timeout: 10_000 })
      .toEqual(["jobs.tickets.close", "update", "tickets", 2, "status"]);
    expect(JSON.stringify(await trail(ann))).not.toContain("hunter2");
  });

  test("objects, keys, members and roles have entries, in the tenant that they are of", async () => {
    const ann = await people.member("", ...permissions);
    const bob = await people.member(ann.tenantId);
    const sent = await fetch(`${service.url}/files/files/notes/a.txt`, { method: "GET" });
    expect(sent.status).toBe(401);
    const form = new FormData();
    form.append("file", new Blob(["one"], { type: "text/plain" }), "a.txt");
    const headers = { authorization: `Bearer ${ann.token}` };
    const uploaded = await fetch(`${service.url}/files/files`, {
      method: "POST",
      headers,
      body: form,
    });
    expect(uploaded.status).toBe(201);
    const { key: object } = (await uploaded.json()) as { readonly key: string };
    await as(ann, "DELETE", `/files/files/${object}`);
    const objects = await trail(ann, `?resource=files&resource_id=${object}`);
    expect(objects.map((one) => [one.operation, one.change])).toEqual([
      ["files.delete", "kill"],
      ["files.upload", "write"],
    ]);
    const key = await as(ann, "POST", "/api-keys", { label: "mine" });
    expect(key.status).toBe(201);
    const [issued] = await trail(ann, "?operation=api_keys.issue");
    expect(issued).toMatchObject({ change: "call", details: { key_id: key.body.key_id } });
    await as(ann, "PUT", `/members/${bob.id}/roles`, { roles: ["agent"] });
    await as(ann, "DELETE", `/members/${bob.id}`);
    const [removed, given] = await trail(ann);
    expect(given).toMatchObject({
      operation: "members.set_roles",
      details: { member_id: bob.id, given: ["agent"], taken: [] },
    });
    expect(removed).toMatchObject({ details: { member_id: bob.id, is_member: false } });
  });

  test("who joins and leaves is told where they do, and nowhere else", async () => {
    const ann = await people.member("", ...permissions);
    const bob = await people.member("", ...permissions);
    const admin = await people.person("platform.admin");
    const { access_token: ofAdmin } = await people.session(admin.id, null);
    const joined = { tenant_id: ann.tenantId, principal_id: bob.id };
    expect((await people.as(ofAdmin, "POST", "/admin/memberships", joined)).status).toBe(204);
    expect((await trail(ann))[0]).toMatchObject({
      operation: "tenant_admin.invite_member",
      principal_id: admin.id,
      details: { member_id: bob.id, is_member: true },
    });
    expect((await as(bob, "POST", `/tenants/${ann.tenantId}/activate?keep=true`)).status).toBe(200);
    expect((await as(bob, "DELETE", `/tenants/${ann.tenantId}`)).status).toBe(204);
    expect((await trail(ann)).slice(0, 2).map((one) => [one.operation, one.principal_id])).toEqual([
      ["tenants.leave_tenant", bob.id],
      ["tenants.switch_tenant", bob.id],
    ]);
    expect(await trail(bob)).toEqual([]);
  });

  test("only who may reads it, page by page, narrowed, and as a file", async () => {
    const ann = await people.member("", ...permissions);
    const bob = await people.member(ann.tenantId);
    const stranger = await people.member("", ...permissions);
    expect((await as(bob, "GET", "/audit")).status).toBe(403);
    expect((await as(bob, "GET", "/audit/download")).status).toBe(403);
    const items = Array.from({ length: 250 }, (_, at) => ({ title: `many ${at}` }));
    expect((await as(bob, "POST", "/tickets/create_many", { items })).status).toBe(200);
    await ticket(ann, "mine");
    const seen: string[] = [];
    for (let before = ""; ;) {
      const page = await as(ann, "GET", `/audit${before === "" ? "" : `?before=${before}`}`);
      seen.push(...page.body.entries.map((one: Entry) => one.id));
      before = page.body.entries.at(-1)?.id ?? "";
      if (!page.body.has_more) break;
    }
    expect([seen.length, new Set(seen).size]).toEqual([251, 251]);
    expect(await trail(ann, `?principal_id=${ann.id}`)).toHaveLength(1);
    const [first] = await trail(ann);
    const at = encodeURIComponent(first?.at ?? "");
    expect((await trail(ann, `?until=${at}`)).map((one) => one.id)).not.toContain(first?.id);
    expect((await trail(ann, `?since=${at}`)).map((one) => one.id)).toContain(first?.id);
    expect((await as(ann, "GET", "/audit?since=yesterday")).body.code).toBe("core.validation");
    const exported = await as(ann, "GET", "/audit/download");
    expect(exported.headers.get("content-type")).toBe("application/jsonl");
    const lines: readonly Entry[] = String(exported.body)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((one) => one.id)).toEqual(seen.toReversed());
    expect(await trail(stranger)).toEqual([]);
    expect((await as(stranger, "GET", "/audit/download")).body ?? "").toBe("");
  });

  test("what somebody did stays who is erased, under an id that is nobody's", async () => {
    const ann = await people.member("", ...permissions);
    const bob = await people.member(ann.tenantId);
    const id = await ticket(bob, "bob's");
    await as(bob, "POST", `/tickets/${id}/escalate`, { secret: "x" });
    const admin = await people.person("platform.admin");
    const { access_token: ofAdmin } = await people.session(admin.id, null);
    const erased = await people.as(ofAdmin, "POST", "/auth/erase", { principal_id: bob.id });
    expect(erased.body.erased).toMatchObject({ audit_details: 2 });
    const entries = await trail(ann, `?principal_id=${bob.id}`);
    expect(entries.map((one) => [one.change, one.details])).toEqual([
      ["call", {}],
      ["update", {}],
      ["create", {}],
    ]);
  });

  test("a tenant that its founder has just created begins with that", async () => {
    const { body } = await service.post("/auth/sign-up", {
      login: "founder@example.test",
      password,
    });
    const made = await people.as(body.access_token, "POST", "/tenants", { tenant_key: "founded" });
    const { access_token: token } = (
      await people.as(
        body.access_token,
        "POST",
        `/tenants/${made.body.tenant_id}/activate?keep=true`,
      )
    ).body;
    const { entries } = (await people.as(token, "GET", "/audit")).body;
    expect(entries.map((one: Entry) => one.operation)).toEqual([
      "tenants.switch_tenant",
      "tenants.create_tenant",
      "tenants.create_tenant",
    ]);
  });
});
