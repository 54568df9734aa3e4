// How far numbered lists count.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  things: {type: {name: string, number: integer}, guard: open, bulk: {max: 100}, indexes: [[number]]}
  logs: {type: {text: string}, guard: open, bulk: {max: 100}, count: {up_to: 7}}
`,
};

onEachEngine(files, ({ service }) => {
  const list = async (path: string, body: object) => (await service.post(path, body)).body;

  test("a request says how far, and its pages go on", async () => {
    const items = Array.from({ length: 60 }, (_, number) => ({ name: `n${number % 2}`, number }));
    expect((await service.post("/things/create_many", { items })).body.failed).toBe(0);
    const counted = async (count?: object, filters?: object) =>
      (await list("/things/list", { count, filters })).count;
    expect(await counted()).toBe(60);
    expect(await counted({ up_to: 20 })).toBe(20);
    expect(await counted({ up_to: 1_000 })).toBe(60);
    expect(await counted({ up_to: 20 }, { $values: { name: "n1" } })).toBe(20);
    expect(await counted({ up_to: 50 }, { $values: { name: "n1" } })).toBe(30);
    const page = await list("/things/list", { count: { up_to: 5 }, page: 6, size: 10 });
    expect([page.hits.length, page.count]).toEqual([10, 5]);
    const raw = { count: { up_to: 5 }, return_fields: ["name"] };
    expect((await list("/things/raw_list", raw)).count).toBe(5);
    for (const count of [{}, { up_to: 0 }, { up_to: 1.5 }, { up_to: 10_000_000 }, true, { to: 1 }])
      expect((await list("/things/list", { count })).code).toBe("core.validation");
    expect((await list("/things/list_cursor", { count: { up_to: 5 } })).code).toBe(
      "core.validation",
    );
  });

  test("a document says how far, whatever is asked", async () => {
    const items = Array.from({ length: 20 }, () => ({ text: "one" }));
    await service.post("/logs/create_many", { items });
    const counted = async (count?: object) => (await list("/logs/list", { count })).count;
    expect([await counted(), await counted({ up_to: 3 }), await counted({ up_to: 50 })]).toEqual([
      7, 3, 7,
    ]);
  });
});
