// Bodies that nest and repeat what is wrong: each takes time linear in its bytes, and its errors say what is meant (attacks 126, 127).
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const registry = `registry: 1
service: {name: trees, title: Trees, version: 1.0.0}
types:
  Node: {oneOf: [{$ref: Folder}, {$ref: Group}, {$ref: Section}, {$ref: Leaf}]}
  Folder: {kind: {const: folder}, children: "Node[]"}
  Group: {kind: {const: group}, children: "Node[]"}
  Section: {kind: {const: section}, children: "Node[]"}
  Leaf: {text: string}
  Comment: {author: string, text: string}
operations:
  trees.echo: {post: /trees, in: {tree: Node}, out: Node, run: registry/trees.ts#echo, guard: open}
  threads.put: {post: /threads, in: {replies: "Comment[]"}, run: registry/trees.ts#put, guard: open}
  sets.put: {post: /sets, in: {items: {type: array, items: {type: object}, uniqueItems: true}}, run: registry/trees.ts#put, guard: open}
policies: {open: []}
`;

const files = {
  "registry/service.yaml": registry,
  "registry/trees.ts": `export const echo = ({ tree }) => tree;
export const put = () => undefined;
`,
};

type Node = { readonly kind: string; readonly children: readonly unknown[] };

/** A tree with this many levels above its leaf. */
function nested(levels: number, leaf: unknown = { text: "x" }): unknown {
  const kinds = ["folder", "group", "section"];
  let tree = leaf;
  for (let level = 0; level < levels; level += 1)
    tree = { kind: kinds[level % 3] ?? "", children: [tree] } satisfies Node;
  return tree;
}

onEachEngine(files, ({ service }) => {
  const faultsOf = async (path: string, body: unknown): Promise<readonly unknown[]> => {
    const answer = await service.post(path, body);
    expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
    return answer.body.context.errors as readonly unknown[];
  };

  // With a factor of three for each level, 40 would take longer than there is time.
  test("forty levels of a union are checked, cut and answered", async () => {
    const tree = nested(40);
    const answer = await service.post("/trees", { tree });
    expect([answer.status, answer.body]).toEqual([200, tree]);
  });

  test("only the errors of the branch that its member chooses are told", async () => {
    const place = "/tree" + "/children/0".repeat(40);
    expect(await faultsOf("/trees", { tree: nested(40, { text: 1 }) })).toEqual([
      { path: `${place}/text`, keyword: "type", message: "must be string" },
    ]);
    expect(await faultsOf("/trees", { tree: nested(40, { kind: "wood" }) })).toEqual([
      {
        path: `${place}/kind`,
        keyword: "enum",
        message: 'must be equal to one of the allowed values: "folder", "group", "section"',
      },
    ]);
    expect(await faultsOf("/trees", { tree: nested(1, 7) })).toEqual([
      { path: "/tree/children/0", keyword: "type", message: "must be object" },
    ]);
  });

  test("checking a list of wrong items ends at the errors that are reported", async () => {
    const replies = Array.from({ length: 64_000 }, () => ({}));
    const faults = await faultsOf("/threads", { replies });
    expect(faults).toHaveLength(32);
    expect(faults.at(-1)).toEqual({
      path: "/replies/15/text",
      keyword: "required",
      message: "must have required property 'text'",
    });
  });

  test("items that must be unique are looked at once each", async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    expect((await service.post("/sets", { items })).status).toBe(204);
    expect(await faultsOf("/sets", { items: [...items, { index: 7 }] })).toEqual([
      {
        path: "/items",
        keyword: "uniqueItems",
        message: "must NOT have duplicate items (items ## 7 and 20000 are identical)",
      },
    ]);
  });
});
