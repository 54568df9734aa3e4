// Handlers that create tenants, write into them, and say who belongs to them.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { password } from "../../support/people.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  member: [principal]
  scoped: [principal, tenant]
  reader: [principal, tenant, {authorize: "{resource}.read"}, {scope: own_rows}]
  writer: [principal, tenant, {authorize: "{resource}.write"}]
roles:
  owner: {permissions: [notes.read, notes.write], gives: [owner, reader]}
  reader: [notes.read]
tenancy: {}
identity: {sign_up: {verify: none}}
documents:
  notes:
    type: {text: string, number: integer?}
    guard: {read: reader, write: writer}
    history: true
    unique: [[text]]
    set: {number: {$number: {}}}
operations:
  studios.open:
    post: /studios
    in: {key: string, note: string}
    out: {tenant: uuid, seen: integer, elsewhere: integer}
    run: registry/studios.ts#open
    guard: member
  studios.add:
    post: /studios/members
    in: {principal: uuid, roles: "string[]"}
    out: {roles: "string[]"}
    run: registry/studios.ts#add
    guard: scoped
  studios.drop: {post: /studios/drop, in: {principal: uuid}, run: registry/studios.ts#drop, guard: scoped}
`,
  "registry/studios.ts": `import { callerOf, collection, tenants } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const open = async ({ key, note }, context) => {
  const { principalId } = callerOf(context);
  const tenant = await tenants.create(context, { key, founder: { principalId, roles: ["owner"] } });
  const notes = collection(notesSpec, context.inTenant(tenant));
  await notes.create({ text: note });
  if (note === "nothing") throw new Error("not this one");
  const seen = await notes.count();
  return { tenant, seen, elsewhere: await collection(notesSpec, context).count() };
};
export const add = async ({ principal, roles }, context) => {
  const member = { tenant: context.tenant, principalId: principal };
  if ((await tenants.rolesOf(context, member)) === null) await tenants.addMember(context, { ...member, roles });
  else await tenants.setRoles(context, { ...member, roles });
  return { roles: await tenants.rolesOf(context, member) };
};
export const drop = ({ principal }, context) =>
  tenants.removeMember(context, { tenant: context.tenant, principalId: principal });
`,
};

onEachEngine(files, ({ service }) => {
  const as = (token: string, method: string, path: string, body?: object): Promise<Answer> =>
    service.call(method, path, { headers: { authorization: `Bearer ${token}` }, body });
  const signUp = async (name: string): Promise<{ readonly id: string; readonly token: string }> => {
    const { body } = await service.post("/auth/sign-up", { login: name, password });
    const token: string = body.access_token;
    return { id: (await as(token, "GET", "/auth/me")).body.principal_id, token };
  };
  const scoped = async (token: string, tenant: string): Promise<string> =>
    (await as(token, "POST", `/tenants/${tenant}/activate?keep=true`)).body.access_token;
  const notes = async (token: string): Promise<readonly unknown[]> =>
    (await as(token, "POST", "/notes/list", {})).body.hits.map(
      (one: { text: string; number: number }) => [one.text, one.number],
    );

  test("a tenant, its owner and what is written into it come together, or not at all", async () => {
    const ann = await signUp("ann");
    const opened = await as(ann.token, "POST", "/studios", { key: "north", note: "one" });
    expect([opened.status, opened.body]).toMatchObject([200, { seen: 1, elsewhere: 0 }]);
    const at = await scoped(ann.token, opened.body.tenant);
    // Numbers count within the tenant, and the row is that of who has called.
    expect(await notes(at)).toEqual([["one", 1]]);
    expect((await as(at, "POST", "/notes", { text: "two" })).body.number).toBe(2);
    const taken = await as(ann.token, "POST", "/studios", { key: "north", note: "other" });
    expect([taken.status, taken.body.code]).toEqual([409, "core.conflict"]);
    const failed = await as(ann.token, "POST", "/studios", { key: "south", note: "nothing" });
    expect(failed.status).toBe(500);
    expect((await as(ann.token, "GET", "/tenants")).body.tenants).toHaveLength(1);
    const south = await as(ann.token, "POST", "/studios", { key: "south", note: "one" });
    expect(await notes(await scoped(ann.token, south.body.tenant))).toEqual([["one", 1]]);
  });

  test("members come, get roles, and go", async () => {
    const [bob, cat] = [await signUp("bob"), await signUp("cat")];
    const { body } = await as(bob.token, "POST", "/studios", { key: "west", note: "one" });
    const at = await scoped(bob.token, body.tenant);
    const add = async (principal: string, ...roles: readonly string[]): Promise<unknown> => {
      const answer = await as(at, "POST", "/studios/members", { principal, roles });
      return answer.status === 200 ? answer.body.roles : answer.body.code;
    };
    expect(await add(cat.id, "reader")).toEqual(["reader"]);
    const theirs = await scoped(cat.token, body.tenant);
    // Of the scope of the document, which holds for the new tenant too.
    expect(await notes(theirs)).toEqual([]);
    expect((await as(theirs, "POST", "/notes", { text: "two" })).status).toBe(403);
    expect(await add(cat.id, "owner")).toEqual(["owner"]);
    expect((await as(theirs, "POST", "/notes", { text: "two" })).status).toBe(201);
    expect(await add("00000000-0000-7000-8000-000000000000", "reader")).toBe("core.not_found");
    const drop = async () => (await as(at, "POST", "/studios/drop", { principal: cat.id })).status;
    expect(await drop()).toBe(204);
    expect((await as(theirs, "POST", "/notes/list", {})).status).toBe(401);
    expect(await drop()).toBe(404);
  });
});
