// What handlers ask of documents: pages, cursors, counts, groups, the caller's own; deleting and restoring. The same rules as over
// HTTP, in the handler's transaction.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {open: []}
types:
  Anything: {type: object, additionalProperties: true}
documents:
  notes: {type: {text: string, size: integer, state: [open, done]}, defaults: {state: open}, guard: open, soft_delete: true, history: true}
  facts: {type: {name: string}, guard: open}
  named: {type: {name: string}, guard: open, unique: [[name]]}
operations:
  named.many: {post: /many, out: Anything, run: registry/handlers.ts#many, guard: open}
  notes.ask: {post: /ask, in: Anything, out: Anything, run: registry/handlers.ts#ask, guard: open}
  facts.ask: {post: /ask-facts, in: Anything, out: Anything, run: registry/handlers.ts#askFacts, guard: open}
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { factsSpec } from "../generated/documents/facts.js";
import { namedSpec } from "../generated/documents/named.js";
import { notesSpec } from "../generated/documents/notes.js";
const asking = (spec) => async ({ verb, given }, context) => ({
  answer: (await collection(spec, context)[verb](...given)) ?? null,
});
export const many = async (_input, context) => {
  const named = collection(namedSpec, context);
  const names = ["a", "b", "a", "c"];
  const settled = await Promise.allSettled(names.map((name) => named.create({ name })));
  return { answer: [settled.map(({ status }) => status), await named.count()] };
};
export const ask = asking(notesSpec);
export const askFacts = asking(factsSpec);
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
    const headers = { authorization: "" };
    beforeAll(async () => {
      service = await project.start(engine);
      for (const [size, text] of ["a", "b", "c", "d", "e"].entries())
        await service.post("/notes", { text, size, state: size < 2 ? "done" : "open" });
    });
    afterAll(() => service.stop());

    // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
    const ask = async (verb: string, ...given: readonly unknown[]): Promise<any> => {
      const { status, body } = await service.post("/ask", { verb, given });
      expect([status, body]).toEqual([200, { answer: expect.anything() }]);
      return body.answer;
    };
    const texts = (hits: readonly { readonly text: string }[]): readonly string[] =>
      hits.map(({ text }) => text);
    const open = { filters: { $values: { state: "open" } }, sorts: { size: "desc" } } as const;

    test("first, exists and count", async () => {
      expect((await ask("first", open)).text).toBe("e");
      const none = { filters: { $values: { text: "z" } } };
      expect((await service.post("/ask", { verb: "first", given: [none] })).body).toEqual({
        answer: null,
      });
      expect([await ask("exists", open), await ask("exists", none)]).toEqual([true, false]);
      expect([await ask("count"), await ask("count", open), await ask("count", none)]).toEqual([
        5, 3, 0,
      ]);
    });

    test("a page has what the list over HTTP has", async () => {
      const query = { ...open, page: 2, size: 2 };
      const page = await ask("page", query);
      expect(page).toEqual((await service.post("/notes/list", query)).body);
      expect([page.count, texts(page.hits)]).toEqual([3, ["c"]]);
    });

    test("an offset passes documents over, as far as may be read", async () => {
      const query = { sorts: { text: "asc" }, size: 2 };
      expect(texts(await ask("find", { ...query, offset: 3 }))).toEqual(["d", "e"]);
      expect(texts(await ask("find", { sorts: query.sorts, offset: 4 }))).toEqual(["e"]);
      expect(await ask("find", { ...query, offset: 5 })).toEqual([]);
      const given = [{ ...query, offset: 10_001 }];
      expect(await service.post("/ask", { verb: "find", given })).toMatchObject({
        status: 422,
        body: { code: "query_too_complex", context: { limit: 10_000 } },
      });
      for (const offset of [-1, 0.5])
        expect((await service.post("/ask", { verb: "find", given: [{ offset }] })).status).toBe(
          500,
        );
    });

    test("a walk by cursor sees each once, forth and back", async () => {
      const query = { sorts: { text: "asc" }, size: 2 };
      const first = await ask("cursor", query);
      const second = await ask("cursor", { ...query, after: first.next_cursor });
      const third = await ask("cursor", { ...query, after: second.next_cursor });
      expect([first, second, third].map(({ hits }) => texts(hits))).toEqual([
        ["a", "b"],
        ["c", "d"],
        ["e"],
      ]);
      expect(third.next_cursor).toBe(null);
      const back = await ask("cursor", { ...query, before: third.prev_cursor });
      expect(texts(back.hits)).toEqual(["c", "d"]);
    });

    test("groups, as over HTTP", async () => {
      const query = {
        aggregates: { $groups: { state: "state" }, $computed: { sum: { $sum: "size" } } },
        sorts: { state: "asc" },
      };
      const groups = await ask("aggregate", query);
      expect(groups).toEqual((await service.post("/notes/agg_list", query)).body);
      expect(groups.hits).toEqual([
        { state: "done", sum: 1 },
        { state: "open", sum: 9 },
      ]);
    });

    test("the caller's own, which are none without a caller", async () => {
      const anonymous = await service.post("/facts", { name: "nobody's" }, headers);
      expect(anonymous.status).toBe(201);
      await service.post("/facts", { name: "mine" });
      const count = async (own: boolean, as: Record<string, string> = {}): Promise<unknown> =>
        (await service.post("/ask-facts", { verb: "count", given: [{ own }] }, as)).body.answer;
      expect([await count(true), await count(false), await count(true, headers)]).toEqual([
        1, 1, 0,
      ]);
      const page = await service.post("/ask-facts", { verb: "page", given: [{ own: true }] });
      expect(page.body.answer.hits.map(({ name }: { name: string }) => name)).toEqual(["mine"]);
    });

    test("delete, restore and kill, with their revisions", async () => {
      const { id } = (await service.post("/notes", { text: "x", size: 9 })).body;
      expect(await ask("delete", id, 1)).toMatchObject({ id, rev: 2, is_deleted: true });
      expect((await service.call("GET", `/notes/${id}`)).status).toBe(404);
      const stale = await service.post("/ask", { verb: "restore", given: [id, 1] });
      expect([stale.status, stale.body.code]).toEqual([409, "revision_mismatch"]);
      expect(await ask("restore", id, "any")).toMatchObject({ id, rev: 3, is_deleted: false });
      const killed = await service.post("/ask", { verb: "kill", given: [id, 3] });
      expect(killed.body).toEqual({ answer: null });
      expect((await service.call("GET", `/notes/${id}`)).status).toBe(404);
      const fact = (await service.post("/facts", { name: "hard" })).body;
      // Documents that are removed for good cannot be marked.
      const marked = await service.post("/ask-facts", { verb: "delete", given: [fact.id, 1] });
      expect([marked.status, marked.body.code]).toEqual([500, "core.internal"]);
    });

    test("writes beside each other are each stored or refused, whatever becomes of the others", async () => {
      expect((await service.post("/many", {})).body).toEqual({
        answer: [["fulfilled", "fulfilled", "rejected", "fulfilled"], 3],
      });
      expect((await service.post("/named/list", {})).body.count).toBe(3);
    });

    test("what names nothing, or asks for no number of documents, is told alike on both engines", async () => {
      const answers = async (verb: string, ...given: readonly unknown[]): Promise<unknown> => {
        const { status, body } = await service.post("/ask", { verb, given });
        return [status, body.code];
      };
      expect(await answers("get", "no-uuid")).toEqual([404, "core.not_found"]);
      expect(await answers("kill", "no-uuid")).toEqual([404, "core.not_found"]);
      for (const size of [-1, 0, 1.5, 1e300])
        expect(await answers("find", { size })).toEqual([500, "core.internal"]);
      expect(await answers("page", { own: "yes" })).toEqual([500, "core.internal"]);
    });

    test("a query that is none is refused as over HTTP", async () => {
      const code = async (verb: string, query: object): Promise<unknown> =>
        (await service.post("/ask", { verb, given: [query] })).body.code;
      expect(await code("page", { size: 0 })).toBe("core.validation");
      expect(await code("page", { pages: 1 })).toBe("core.validation");
      expect(await code("count", { filters: { $values: { nothing: 1 } } })).toBe(
        "field_not_queryable",
      );
      expect(await code("cursor", { after: "nothing" })).toBe("invalid_cursor");
    });
  });
}
