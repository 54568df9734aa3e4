// How far lists of objects count, over HTTP and in handlers.
import { expect, test } from "vitest";
import { objects, type ExecutionContext } from "../../../runtime/index.js";
import { onEachEngine } from "../../support/on-each-engine.js";

/** What the handler does next. */
const next: { work: (context: ExecutionContext) => Promise<object> } = { work: async () => ({}) };
Object.assign(globalThis, { countsUnderTest: next });

const refused = "count.up_to must be an integer from 1 to 1000000";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
storage:
  papers: {guard: open, mount: {at: /papers, style: rest}}
  logs: {guard: open, count: {up_to: 3}, mount: {at: /logs, style: rest}}
operations:
  act.now: {post: /act, out: {type: object, additionalProperties: true}, run: registry/act.ts#act, guard: open}
`,
  "registry/act.ts":
    "export const act = (_input, context) => globalThis.countsUnderTest.work(context);\n",
};

onEachEngine(files, ({ service, project }) => {
  const list = async (storage: string, body: object) =>
    (await service.post(`/${storage}/files/list`, body)).body;
  const fill = async (storage: string) => {
    for (let at = 0; at < 8; at += 1) {
      const form = new FormData();
      form.set("prefix", at % 2 === 0 ? "even" : "odd");
      form.set("file", new Blob([`${at}`], { type: "text/plain" }), "a.txt");
      const answer = await fetch(`${service.url}/${storage}/files`, { method: "POST", body: form });
      expect(answer.status).toBe(201);
    }
  };

  test("a request says how far, and its pages go on", async () => {
    await fill("papers");
    const counted = async (count?: object, more: object = {}) =>
      (await list("papers", { count, ...more })).count;
    expect(await counted()).toBe(8);
    expect(await counted({ up_to: 5 })).toBe(5);
    expect(await counted({ up_to: 1_000 })).toBe(8);
    expect(await counted({ up_to: 3 }, { prefix: "odd/" })).toBe(3);
    expect(await counted({ up_to: 6 }, { prefix: "odd/" })).toBe(4);
    expect(await counted({ up_to: 6 }, { content_type: "image/*" })).toBe(0);
    const page = await list("papers", { count: { up_to: 2 }, page: 3, size: 3 });
    expect([page.hits.length, page.count]).toEqual([2, 2]);
    const first = await list("papers", { count: { up_to: 2 }, size: 3 });
    // A cursor is of the listing, whichever way it was counted.
    const second = await list("papers", { after: first.next_cursor, size: 3 });
    expect([second.hits.length, second.count]).toEqual([3, null]);
    for (const count of [{}, { up_to: 0 }, { up_to: 1.5 }, { up_to: 10_000_000 }, true, null])
      expect((await list("papers", { count })).code).toBe("core.validation");
    expect((await list("papers", { count: { up_to: 1, to: 1 } })).code).toBe("core.validation");
  });

  test("a storage says how far, whatever is asked", async () => {
    await fill("logs");
    const counted = async (count?: object) => (await list("logs", { count })).count;
    expect([await counted(), await counted({ up_to: 2 }), await counted({ up_to: 50 })]).toEqual([
      3, 2, 3,
    ]);
  });

  test("handlers count as far as they say, within what the storage says", async () => {
    const { papersSpec } = await project.load("generated/storage/papers.ts");
    const { logsSpec } = await project.load("generated/storage/logs.ts");
    next.work = async (context) => {
      const counted = async (spec: typeof papersSpec, upTo?: number) =>
        (await objects(spec, context).list(upTo === undefined ? {} : { count: { up_to: upTo } }))
          .count;
      return {
        counts: [
          await counted(papersSpec),
          await counted(papersSpec, 5),
          await counted(logsSpec, 5),
        ],
        refused: await counted(papersSpec, 0).catch((error: Error) => error.message),
        formless: await Promise.all(
          [3, {}, null, { up_to: null }, { up_to: "3" }].map((count) =>
            objects(papersSpec, context)
              .list({ count } as never)
              .catch((error: Error) => error.message),
          ),
        ),
      };
    };
    expect((await service.post("/act", {})).body).toEqual({
      counts: [8, 5, 3],
      refused,
      formless: Array.from({ length: 5 }, () => refused),
    });
  });
});
