// Contexts of one invocation, such as that of another tenant, share its transactions, whichever of them was made first.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token], erase: {guard: admin, also: registry/code.ts#also}}
tenancy: {}
policies: {open: [], admin: [principal, {authorize: platform.erase}], member: [principal, tenant]}
documents:
  rooms: {type: {name: string}, guard: member, unique: [[name]]}
operations:
  rooms.there: {post: /there, in: {tenant: uuid, name: string}, out: {}, transaction: read, run: registry/code.ts#there, guard: member, deadline: 5s}
  rooms.around: {post: /around, in: {tenant: uuid, name: string}, out: {}, transaction: read, run: registry/code.ts#around, guard: member, deadline: 5s}
  rooms.undone: {post: /undone, in: {tenant: uuid, name: string}, out: {}, transaction: read, run: registry/code.ts#undone, guard: member, deadline: 5s}
  rooms.beside: {post: /beside, in: {tenants: "uuid[]", name: string}, out: {}, transaction: read, run: registry/code.ts#beside, guard: member, deadline: 5s}
`,
  "registry/code.ts": `import { collection, unscoped } from "opwright/runtime";
import { roomsSpec } from "../generated/documents/rooms.js";
const roomsIn = (context, tenant) => collection(unscoped(roomsSpec), context.inTenant(tenant));
export const there = async ({ tenant, name }, context) => {
  const rooms = roomsIn(context, tenant);
  await context.commit(() => rooms.create({ name }));
  return {};
};
export const around = async ({ tenant, name }, context) => {
  const elsewhere = context.inTenant(tenant);
  await elsewhere.commit(() => collection(roomsSpec, context).create({ name }));
  return {};
};
export const undone = async ({ tenant, name }, context) => {
  const rooms = roomsIn(context, tenant);
  await context.commit(async () => {
    await rooms.create({ name });
    throw new Error("undone");
  });
  return {};
};
export const beside = async ({ tenants, name }, context) => {
  await Promise.all(
    tenants.map((tenant) => {
      const elsewhere = context.inTenant(tenant);
      return elsewhere.commit(() => collection(unscoped(roomsSpec), elsewhere).create({ name }));
    }),
  );
  return {};
};
export const also = async ({ tenants, principalId }, context) => {
  for (const tenant of tenants) {
    const rooms = roomsIn(context, tenant);
    for (const { id } of await rooms.find({ filters: { $values: { owner_id: principalId } } }))
      await context.commit(() => rooms.update(id, "any", { name: "erased" }));
  }
};
`,
};

onEachEngine(files, ({ people }) => {
  const namesOf = async (token: string) => {
    const { body } = await people.as(token, "POST", "/rooms/list", { sorts: { name: "asc" } });
    return body.hits.map(({ name }: { name: string }) => name);
  };

  test("what was made before a transaction writes within it", async () => {
    const [ada, eve] = [await people.member(""), await people.member("")];
    const call = async (path: string, body: object) =>
      (await people.as(ada.token, "POST", path, body)).status;
    expect(await call("/there", { tenant: eve.tenantId, name: "a" })).toBe(200);
    expect(await call("/around", { tenant: eve.tenantId, name: "b" })).toBe(200);
    expect(await call("/undone", { tenant: eve.tenantId, name: "c" })).toBe(500);
    expect([await namesOf(ada.token), await namesOf(eve.token)]).toEqual([["b"], ["a"]]);
  });

  test("transactions that are begun beside each other take turns", async () => {
    const all = [await people.member(""), await people.member(""), await people.member("")];
    const body = { tenants: all.map(({ tenantId }) => tenantId), name: "beside" };
    const [first] = all;
    expect((await people.as(first?.token ?? "", "POST", "/beside", body)).status).toBe(200);
    for (const { token } of all) expect(await namesOf(token)).toEqual(["beside"]);
  });

  test("an erasure may write in the tenants of who is erased", async () => {
    const gone = await people.member("");
    const other = await people.member(gone.tenantId);
    const admin = await people.person("platform.erase");
    const { access_token: allowed } = await people.session(admin.id, null);
    await people.as(gone.token, "POST", "/rooms", { name: "of somebody" });
    const body = { principal_id: gone.id };
    expect((await people.as(allowed, "POST", "/auth/erase", body)).status).toBe(200);
    expect(await namesOf(other.token)).toEqual(["erased"]);
  });
});
