// Fields that handlers alone write: `set: {status: $handler}`. No caller's payload has them, whatever the way in.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: stall, title: Stall, version: 1.0.0}
policies: {open: []}
documents:
  orders:
    type: {title: {type: string, maxLength: 9}, key: string, status: [open, paid, void], likes: {type: integer, minimum: 0, default: 0}, note: string?, seen: {type: object, properties: {by: {type: string}, at: {type: string}}, additionalProperties: false}, label: string}
    set: {status: $handler, likes: $handler, note: $handler, seen: $handler, label: registry/label.ts#label}
    defaults: {status: open, seen: {}}
    guard: open
    unique: [[key]]
    upsert: true
    bulk: {max: 10}
    soft_delete: true
    history: {revisions: true}
operations:
  pass.act: {post: /pass/act, in: {type: object, additionalProperties: true}, out: {type: object, additionalProperties: true}, run: registry/pass.ts#act, guard: open}
`,
  "registry/label.ts": "export const label = ({ title, status }) => `${title} is ${status}`;\n",
  "registry/pass.ts": `import { collection } from "opwright/runtime";
import { ordersSpec } from "../generated/documents/orders.js";
export const act = async ({ call, given }, context) =>
  ({ got: await collection(ordersSpec, context)[call](...given) });
`,
};

test("no payload of the document has them, and what is answered does", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks at whatever is generated
  const { schemas } = (project.openapi as any).components;
  for (const payload of ["OrdersCreate", "OrdersPatch"])
    expect(Object.keys(schemas[payload].properties)).toEqual(["title", "key"]);
  expect(Object.keys(schemas.OrdersDocument.properties)).toEqual(
    expect.arrayContaining(["status", "likes", "note", "seen", "label"]),
  );
});

const project = onEachEngine(files, ({ service }) => {
  const call = (method: string, path: string, body: object): Promise<Answer> =>
    service.call(method, path, { body });
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the collection answers
  const act = async (name: string, ...given: readonly unknown[]): Promise<any> => {
    const { status, body } = await service.post("/pass/act", { call: name, given });
    return status === 200 ? body.got : [status, body.code];
  };
  let keys = 0;
  const order = (more: object = {}): object => ({
    title: "tea",
    key: `k${(keys += 1)}`,
    ...more,
  });

  test("callers are refused them on every way in, and they begin with their defaults", async () => {
    const made = await call("POST", "/orders", order());
    expect(made).toMatchObject({
      status: 201,
      body: { status: "open", likes: 0, note: null, seen: {}, label: "tea is open" },
    });
    const { id, key } = made.body;
    const at = `/orders/${id}`;
    for (const name of ["status", "likes", "note", "seen"]) {
      const given = { [name]: made.body[name] };
      const refused = (answer: Answer, path: string): void =>
        expect([answer.status, answer.body.context.errors]).toMatchObject([
          422,
          [{ path, keyword: "additionalProperties" }],
        ]);
      refused(await call("POST", "/orders", order(given)), `/${name}`);
      refused(await call("PATCH", `${at}?rev=1`, given), `/${name}`);
      refused(
        await call("POST", "/orders/upsert", { by: ["key"], document: order({ key, ...given }) }),
        `/${name}`,
      );
      const many = await call("POST", "/orders/create_many", { items: [order(given)] });
      expect(many.body.outcomes[0].error.context.errors[0].path).toBe(`/${name}`);
      const patched = await call("POST", "/orders/update_many", {
        items: [{ id, patch: given }],
      });
      expect(patched.body.outcomes[0].error.context.errors[0].path).toBe(`/${name}`);
      refused(
        await call("POST", "/orders/update_where", {
          filters: { $values: { key } },
          patch: given,
        }),
        `/patch/${name}`,
      );
    }
    expect((await service.call("GET", at)).body.rev).toBe(1);
  });

  test("handlers write them, one, many and by what is unique", async () => {
    const made = await act("create", order({ status: "paid", likes: 2 }));
    expect(made).toMatchObject({ status: "paid", likes: 2, label: "tea is paid" });
    const patch = { status: "void", note: "gone", seen: { by: "ann" } };
    const updated = await act("update", made.id, 1, patch);
    expect(updated).toMatchObject({ ...patch, likes: 2, label: "tea is void" });
    const seen = await act("update", made.id, 2, { seen: { at: "noon" }, note: null });
    expect(seen).toMatchObject({ seen: { by: "ann", at: "noon" }, note: null });
    const { key } = made;
    const upserted = await act("upsert", ["key"], { title: "tea", key, likes: 9 });
    expect(upserted).toMatchObject({ id: made.id, likes: 9, status: "void" });
    const [one, two] = await act("createMany", [order({ likes: 1 }), order()]);
    expect([one.likes, two.likes]).toEqual([1, 0]);
    const items = [one, two].map(({ id }) => ({ id, rev: 1, patch: { likes: 5 } }));
    expect((await act("updateMany", items)).map(({ likes }: { likes: number }) => likes)).toEqual([
      5, 5,
    ]);
  });

  test("handlers write what fits the type, but not what the service sets", async () => {
    const { id } = await act("create", order());
    expect(await act("create", order({ status: "lost" }))).toEqual([422, "core.validation"]);
    expect(await act("update", id, 1, { likes: -1 })).toEqual([422, "core.validation"]);
    expect(await act("update", id, 1, { status: null })).toEqual([422, "core.validation"]);
    expect(await act("update", id, 1, { note: "a\u0000b" })).toEqual([422, "core.validation"]);
    expect(await act("update", id, 1, { label: "mine" })).toEqual([422, "core.validation"]);
    expect(await act("update", id, 1, { isAdmin: true })).toEqual([422, "core.validation"]);
    expect((await service.call("GET", `/orders/${id}`)).body.rev).toBe(1);
  });

  test("a merge keeps them, and going back leaves them as they are", async () => {
    const { id } = await act("create", order());
    await act("update", id, 1, { status: "paid" });
    const merged = await call("PATCH", `/orders/${id}?rev=1`, { title: "coffee" });
    expect(merged.body.data).toMatchObject({ title: "coffee", status: "paid", rev: 3 });
    const back = await call("POST", `/orders/${id}/revert?rev=3&to=1`, {});
    expect(back.body).toMatchObject({ title: "tea", status: "paid", label: "tea is paid" });
    await act("update", id, 4, { title: "cocoa" });
    expect(await act("revert", id, 5, 1)).toMatchObject({ title: "tea", status: "paid" });
  });
});
