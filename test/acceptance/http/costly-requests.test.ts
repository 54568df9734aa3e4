// Requests within every limit whose cost is not in proportion to their size, unless somebody has seen to it: each hangs or
// ends a service that has not (docs/bounds.md, attacks 113 to 117).
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  articles: {type: {text: string}, guard: open}
  pages: {type: {text: string, note: string?}, guard: open, bulk: {max: 100}}
  maps:
    type:
      labels: {type: object, additionalProperties: {type: integer}, default: {}}
      held: {type: object, additionalProperties: {type: object, additionalProperties: {type: integer}}, default: {}}
    guard: open
    history: {revisions: true}
  books: {type: {title: string}, guard: open}
  chapters: {type: {text: string, book: {ref: books, on_delete: cascade}}, guard: open}
search:
  article_search: {of: articles, text: [text], language: en, guard: open}
`,
};

const megabyte = 1024 * 1024;

onEachEngine(files, ({ service }) => {
  const made = async (path: string, body: object): Promise<Answer["body"]> => {
    const answer = await service.post(path, body);
    expect([answer.status, answer.body.code]).toEqual([201, undefined]);
    return answer.body;
  };
  const patch = (path: string, rev: number, body: object): Promise<Answer> =>
    service.call("PATCH", `${path}?rev=${rev}`, { body });
  const members = (count: number, name: string): Readonly<Record<string, number>> =>
    Object.fromEntries(Array.from({ length: count }, (_one, at) => [`${name}${at}`, at]));

  test.each([
    ["marks on a letter", `a${"\u0301\u0316".repeat(megabyte / 5)} marked`],
    ["marks on a character", `か${"\u0301\u0316".repeat(megabyte / 5)} marked`],
    ["one word in characters", `${"日".repeat(megabyte / 4)} marked`],
    ["syllables in letters", `${"\u1100\u1161\u11a8".repeat(megabyte / 10)} marked`],
  ])("a megabyte of %s is searched as any other text", async (_what, text) => {
    const { id } = await made("/articles", { text: `found ${text}` });
    const found = await service.post("/search/article_search/typed", {
      query: "found",
      filters: { $values: { id } },
      options: { highlight: true },
    });
    expect([found.status, found.body.count]).toEqual([200, 1]);
    expect(found.body.highlights[0].text[0]).toContain("<em>found</em>");
  });

  test("two patches of many members merge", async () => {
    const { id } = await made("/maps", {});
    expect((await patch(`/maps/${id}`, 1, { labels: members(30_000, "a") })).status).toBe(200);
    const merged = await patch(`/maps/${id}`, 1, { labels: members(30_000, "b") });
    expect(merged.status).toBe(200);
    expect(Object.keys(merged.body.data.labels)).toHaveLength(60_000);
    const clash = await patch(`/maps/${id}`, 1, { labels: { a1: -1, ...members(30_000, "c") } });
    expect(clash.body).toMatchObject({
      code: "historical_consistency_violation",
      context: { fields: ["labels.a1"] },
    });
  });

  test("differences between revisions are listed up to the size of a page", async () => {
    const name = "n".repeat(megabyte / 2);
    const { id } = await made("/maps", { held: { [name]: members(20_000, "m") } });
    expect((await patch(`/maps/${id}`, 1, { held: { [name]: null } })).status).toBe(200);
    expect((await patch(`/maps/${id}`, 2, { held: { [name]: { m1: 0 } } })).status).toBe(200);
    const diff = await service.call("GET", `/maps/${id}/revisions/1/diff?to=3`);
    expect([diff.status, diff.body.code]).toEqual([422, "query_too_complex"]);
    expect((await service.call("GET", `/maps/${id}/revisions/1/diff?to=2`)).status).toBe(200);
  });

  test("many at once answer no more than a page may have, and have done nothing else", async () => {
    const text = "x".repeat(megabyte - 1_000);
    const ids = [];
    for (let at = 0; at < 17; at += 1) ids.push((await made("/pages", { text, note: "a" })).id);
    const items = ids.map((id) => ({ id, patch: { note: "b" } }));
    const refused = await service.post("/pages/update_many", { items });
    expect([refused.status, refused.body.code]).toEqual([422, "query_too_complex"]);
    for (const id of ids) {
      const read = await service.call("GET", `/pages/${id}`);
      expect([read.body.rev, read.body.note]).toEqual([1, "a"]);
    }
    const some = await service.post("/pages/update_many", { items: items.slice(0, 10) });
    expect([some.status, some.body.done]).toEqual([200, 10]);
  });

  test("a deletion takes along documents of any size", async () => {
    const { id: book } = await made("/books", { title: "long" });
    const text = "x".repeat(megabyte - 1_000);
    for (let at = 0; at < 18; at += 1) await made("/chapters", { text, book });
    expect((await service.call("DELETE", `/books/${book}`)).status).toBe(204);
    const left = await service.post("/chapters/list", { filters: { $values: { book } } });
    expect(left.body.count).toBe(0);
  });
});
