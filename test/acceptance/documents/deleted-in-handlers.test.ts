// Deleted documents in handlers.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  things: {type: {name: string}, guard: open, soft_delete: true}
  plain: {type: {name: string}, guard: open}
operations:
  things.look: {post: /look, in: {id: uuid, all: boolean}, out: {names: "string[]", count: integer, page: integer, groups: integer, exists: boolean, name: "string?"}, run: registry/code.ts#look, guard: open}
  things.wrong: {post: /wrong, out: {told: string}, run: registry/code.ts#wrong, guard: open}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { thingsSpec } from "../generated/documents/things.js";
import { plainSpec } from "../generated/documents/plain.js";
export const look = async ({ id, all }, context) => {
  const things = collection(thingsSpec, context);
  const query = { with_deleted: all, sorts: { name: "asc" } };
  const grouped = { with_deleted: all, aggregates: { $groups: { n: "name" } } };
  const found = await things.get(id, { with_deleted: all }).catch(() => null);
  return {
    names: (await things.find(query)).map(({ name }) => name),
    count: await things.count({ with_deleted: all }),
    page: (await things.page(query)).count,
    groups: (await things.aggregate(grouped)).count,
    exists: await things.exists({ with_deleted: all, filters: { $values: { name: "gone" } } }),
    name: found?.name ?? null,
  };
};
export const wrong = async (_input, context) => ({
  told: await collection(plainSpec, context).find({ with_deleted: true }).then(() => "", String),
});
`,
};

onEachEngine(files, ({ service }) => {
  test("are there for who says so", async () => {
    await service.post("/things", { name: "here" });
    const { id } = (await service.post("/things", { name: "gone" })).body;
    await service.post(`/things/${id}/delete?rev=1`, undefined);
    const look = async (all: boolean) => (await service.post("/look", { id, all })).body;
    expect(await look(false)).toEqual({
      names: ["here"],
      count: 1,
      page: 1,
      groups: 1,
      exists: false,
      name: null,
    });
    expect(await look(true)).toEqual({
      names: ["gone", "here"],
      count: 2,
      page: 2,
      groups: 2,
      exists: true,
      name: "gone",
    });
    expect((await service.post("/wrong", {})).body.told).toContain("plain has no soft_delete");
  });
});
