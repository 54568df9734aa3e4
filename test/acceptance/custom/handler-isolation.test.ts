// What handlers may rely on that run at once: `exists` then `create` under `unique` is alike on every engine
// (docs/handlers.md "Isolation").
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: isolated, title: Isolated, version: 1.0.0}
policies: {open: []}
documents: {names: {type: {name: string}, unique: [[name]], guard: open}}
operations:
  code.claim: {post: "/claim/{name}", in: {name: string}, out: {made: boolean}, run: registry/handlers/claim.ts#claim, guard: open}
  code.sees: {post: "/sees/{name}", in: {name: string}, out: {before: boolean, after: boolean}, run: registry/handlers/claim.ts#sees, guard: open}
`,
  "registry/handlers/claim.ts": `import { collection } from "opwright/runtime";
import { namesSpec } from "../../generated/documents/names.js";
const thereIs = (names, name) => names.exists({ filters: { $values: { name } } });
export const claim = async ({ name }, context) => {
  const names = collection(namesSpec, context);
  if (await thereIs(names, name)) return { made: false };
  await globalThis.claimUnderTest?.();
  await names.create({ name });
  return { made: true };
};
export const sees = async ({ name }, context) => {
  const names = collection(namesSpec, context);
  const before = await thereIs(names, name);
  await globalThis.seesUnderTest();
  return { before, after: await thereIs(names, name) };
};
`,
};

onEachEngine(files, ({ service, engine }) => {
  const stored = async (name: string): Promise<number> => {
    const body = { filters: { $values: { name } } };
    const listed = await service.call("POST", "/names/list", { body });
    return (listed.body as { readonly hits: readonly unknown[] }).hits.length;
  };

  test("of twelve that look and then create, one has created, and the others know", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => service.call("POST", "/claim/one")),
    );
    expect(await stored("one")).toBe(1);
    const said = answers.map(({ status, body }) =>
      status === 200 ? (body as { readonly made: boolean }).made : status,
    );
    expect(said.filter((one) => one === true)).toHaveLength(1);
    expect(said.filter((one) => one !== true && one !== false && one !== 409)).toEqual([]);
  });

  test("a commit between two statements of another operation is seen on PostgreSQL, and waits on SQLite", async () => {
    let writing: Promise<unknown> | undefined;
    Object.assign(globalThis, {
      seesUnderTest: async () => {
        writing = service.call("POST", "/names", { body: { name: "two" } });
        if (engine.name === "postgres") await writing;
      },
    });
    const { body } = await service.call("POST", "/sees/two");
    await writing;
    expect(body).toEqual({ before: false, after: engine.name === "postgres" });
    expect(await stored("two")).toBe(1);
  });
});
