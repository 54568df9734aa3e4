// What attacks on the audit trail found: entries that were missing, or said of one what was another's.
import { expect, test } from "vitest";
import { auditStore } from "../../../runtime/ports/audit.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { password, type Member } from "../../support/people.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
hooks:
  touch: {run: registry/code.ts#touch, phase: tx_before}
  why: {run: registry/code.ts#why, phase: tx_before}
policies:
  member: [principal, tenant]
  anyone: [principal]
  tracked: [principal, tenant, touch]
  admin: [principal, {authorize: platform.admin}]
audit: {guard: member}
tenancy: {members: {}, admin: {guard: admin}}
roles: {owner: {permissions: [members.write], gives: [owner]}}
identity:
  sign_up: {verify: none}
  erase: {guard: admin}
  deactivate: {guard: admin}
  provisioning: {guard: admin, mount: {at: /admin}}
outbox: {events: {tenancy.member_invited: {destination: mail}, things.told: {destination: mail, data: {text: string}}}}
webhooks: {guard: tracked}
storage: {files: {guard: member}}
jobs: {things.wipe: {in: {who: uuid}, run: registry/code.ts#wipe, as: service}, things.mine: {run: registry/code.ts#mine}}
documents:
  things:
    type: {title: string}
    guard: member
    soft_delete: true
    bulk: {max: 10}
    personal: {title: gone}
    hooks: {create: {tx_before: [why]}}
  seen: {type: {text: string}, guard: member}
  shared: {type: {text: string}, guard: anyone, tenant: false}
operations:
  things.parts: {post: /parts, transaction: read, run: registry/code.ts#parts, guard: member}
  things.again: {post: /again, run: registry/code.ts#again, guard: member, isolation: serializable, retry: 3}
  things.wipe: {post: /wipe, in: {who: uuid}, run: registry/code.ts#wipeLater, guard: member}
  things.later: {post: /later, run: registry/code.ts#later, guard: member}
  things.elsewhere: {post: /elsewhere, in: {tenant: uuid}, run: registry/code.ts#elsewhere, guard: member}
`,
  "registry/code.ts": `import { collection, erasePrincipal, fail } from "opwright/runtime";
import { thingsSpec } from "../generated/documents/things.js";
import { seenSpec } from "../generated/documents/seen.js";
import { identitySpec } from "../generated/identity.js";
import { enqueue } from "../generated/jobs.js";
export const touch = async (_input, context) => {
  await collection(seenSpec, context).create({ text: "hook" });
};
export const why = (input, context) => context.note({ why: input.title });
const seen = (context, text) => collection(seenSpec, context).create({ text });
export const parts = async (_input, context) => {
  await context.commit(async () => { context.note({ first: "yes" }); await seen(context, "one"); });
  await context.commit(async () => { context.note({ failed: "yes" }); throw new Error("no"); }).catch(() => undefined);
  await context.commit(() => seen(context, "two"));
};
let tries = 0;
export const again = async (_input, context) => {
  tries += 1;
  context.note({ ["try" + tries]: "yes" });
  await seen(context, "again");
  if (tries < 3) throw fail("core.concurrency");
};
export const wipe = ({ who }, context) => erasePrincipal(identitySpec, context, who);
export const wipeLater = ({ who }, context) => enqueue(context, "things.wipe", { who });
export const mine = (_input, _context, { commit }) => commit("mine", (context) => seen(context, "mine"));
export const later = (_input, context) => enqueue(context, "things.mine", {});
export const elsewhere = async ({ tenant }, context) => {
  context.note({ here: "yes" });
  context.scopedTo("seen", { kind: "all", filters: [] }).note({ scoped: "yes" });
  await seen(context, "here");
  await seen(context.inTenant(tenant), "there");
};
`,
};

interface Entry {
  readonly operation: string;
  readonly change: string;
  readonly resource: string | null;
  readonly rev: number | null;
  readonly principal_id: string | null;
  readonly credential: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

onEachEngine(files, ({ service, people }) => {
  const as = (who: Member, method: string, path: string, body?: unknown): Promise<Answer> =>
    people.as(who.token, method, path, body);
  const trail = async (who: Member): Promise<readonly Entry[]> =>
    (await as(who, "GET", "/audit")).body.entries;
  const done = async (answer: Promise<Answer>): Promise<Answer["body"]> => {
    const { status, body } = await answer;
    expect([status, status < 300 ? "" : body]).toEqual([expect.toSatisfy((one) => one < 300), ""]);
    return body;
  };
  const admin = async (method: string, path: string, body: object): Promise<void> => {
    const { id } = await people.person("platform.admin");
    const { access_token: token } = await people.session(id, null);
    await done(people.as(token, method, path, body));
  };

  test("a download is whole though old entries are removed meanwhile", async () => {
    const ann = await people.member("");
    const { connection } = service.running;
    const many = Array.from({ length: 3_000 }, (_, at) => ({
      id: `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`,
      tenant: ann.tenantId,
      at: 1_000 + at,
      operation: "things.create",
      requestId: "00000000-0000-7000-8000-000000000000",
      principalId: null,
      actorId: null,
      credential: null,
      change: "call",
      resource: null,
      resourceId: null,
      rev: null,
      fields: [],
      details: JSON.stringify({ text: "x".repeat(4_096) }),
    }));
    await connection.write("test.fill", ({ transaction }) => transaction.of(auditStore).add(many));
    const headers = { authorization: `Bearer ${ann.token}` };
    const { body } = await fetch(`${service.url}/audit/download`, { headers });
    const reader = body?.getReader();
    const chunks = [(await reader?.read())?.value];
    await connection.write("test.prune", async ({ transaction }) => {
      while (await transaction.of(auditStore).prune(2_400, 1_000));
    });
    for (;;) {
      const next = await reader?.read();
      if (next?.done !== false) break;
      chunks.push(next.value);
    }
    const lines = Buffer.concat(chunks.flatMap((one) => one ?? []))
      .toString()
      .trimEnd()
      .split("\n");
    const times = new Set(lines.map((line) => Date.parse(JSON.parse(line).at)));
    for (let at = 2_400; at < 4_000; at += 1) expect(times.has(at)).toBe(true);
  });

  test("a hook that writes hides no call, and one document's note is none of another's", async () => {
    const ann = await people.member("");
    const webhook = { url: "https://example.com/", events: ["things.told"] };
    const { id } = await done(as(ann, "POST", "/webhooks", webhook));
    expect(await trail(ann)).toMatchObject([
      { operation: "webhooks.create", change: "call", details: { webhook_id: id } },
      { operation: "webhooks.create", change: "create", resource: "seen" },
    ]);
    await done(as(ann, "POST", "/things/create_many", { items: [{ title: "a" }, { title: "b" }] }));
    const [second, first] = await trail(ann);
    expect([first?.details, second?.details]).toEqual([{ why: "a" }, { why: "b" }]);
  });

  test("notes are of what was committed with them, in their tenant", async () => {
    const ann = await people.member("");
    await done(as(ann, "POST", "/parts"));
    expect((await trail(ann)).map(({ details }) => details)).toEqual([{}, { first: "yes" }]);
    const bob = await people.member("");
    await done(as(bob, "POST", "/again"));
    // Of the last try alone.
    expect((await trail(bob)).map(({ details }) => Object.keys(details).length)).toEqual([1, 1]);
    const cat = await people.member("");
    await done(as(bob, "POST", "/elsewhere", { tenant: cat.tenantId }));
    expect((await trail(cat)).map(({ details }) => details)).toEqual([{}]);
    expect((await trail(bob))[1]?.details).toEqual({ here: "yes", scoped: "yes" });
  });

  test("passwords, deactivation, erasure and grants are told where they count", async () => {
    const { body } = await service.post("/auth/sign-up", { login: "dan@example.test", password });
    const { principal_id: dan } = (await people.as(body.access_token, "GET", "/auth/me")).body;
    const ann = await people.member("");
    await admin("POST", "/admin/memberships", { tenant_id: ann.tenantId, principal_id: dan });
    const grant = { principal_id: dan, permission: "role:owner", tenant_id: ann.tenantId };
    await admin("POST", "/admin/grants", grant);
    await admin("DELETE", "/admin/grants", grant);
    const { access_token: token } = await people.session(dan, ann.tenantId);
    const next = { current_password: password, new_password: `${password} again` };
    await done(people.as(token, "POST", "/auth/change-password", next));
    await admin("POST", "/auth/deactivate", { principal_id: dan });
    const told = (await trail(ann)).map(({ operation, details }) => [operation, details]);
    expect(told).toEqual([
      ["authn.deactivate_principal", { member_id: dan, is_member: false }],
      ["authn.change_password", {}],
      ["principals.revoke_permission", { member_id: dan, taken: ["role:owner"] }],
      ["principals.grant_permission", { member_id: dan, given: ["role:owner"] }],
      ["tenant_admin.invite_member", { member_id: dan, is_member: true }],
    ]);
    const bob = await people.member(ann.tenantId);
    const { id } = await done(as(bob, "POST", "/things", { title: "bob's" }));
    await done(as(bob, "POST", `/things/${id}/delete?rev=1`));
    await admin("POST", "/auth/erase", { principal_id: bob.id });
    const [change, left] = await trail(ann);
    expect(left).toMatchObject({ details: { member_id: bob.id, is_member: false } });
    expect(change).toMatchObject({ change: "update", resource: "things", rev: 3 });
  });

  test("documents of no tenant have their entries in none", async () => {
    const ann = await people.member("");
    const { id } = await done(as(ann, "POST", "/shared", { text: "one" }));
    await done(as(ann, "PATCH", `/shared/${id}?rev=1`, { text: "two" }));
    expect(await trail(ann)).toEqual([]);
  });

  test("jobs name whose rights they have and no credential; the service names nobody", async () => {
    const ann = await people.member("");
    const bob = await people.member(ann.tenantId);
    await done(as(bob, "POST", "/things", { title: "bob's" }));
    await done(as(ann, "POST", "/later"));
    await expect
      .poll(async () =>
        (await trail(ann)).find(({ operation }) => operation === "jobs.things.mine"),
      )
      .toMatchObject({ principal_id: ann.id, credential: null });
    await done(as(ann, "POST", "/wipe", { who: bob.id }));
    await expect
      .poll(async () =>
        (await trail(ann)).find(
          ({ operation, change }) => operation === "jobs.things.wipe" && change === "update",
        ),
      )
      .toMatchObject({ principal_id: null, credential: null, resource: "things" });
  });

  test("an upload that is refused in the end has no entry", async () => {
    const ann = await people.member("");
    const form = new FormData();
    form.append("file", new Blob(["one"], { type: "text/plain" }), "a.txt");
    form.append("file", new Blob(["two"], { type: "text/plain" }), "b.txt");
    const headers = { authorization: `Bearer ${ann.token}` };
    const sent = await fetch(`${service.url}/files/files`, { method: "POST", headers, body: form });
    expect(sent.status).toBe(422);
    expect(await trail(ann)).toEqual([]);
  });
});
