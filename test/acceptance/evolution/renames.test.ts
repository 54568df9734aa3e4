// Documents, fields and values that are called otherwise, while the version before goes on beside.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const escaped = (text: string): string => text.replaceAll(/[.[\]]/g, String.raw`\$&`);

const head = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
`;

const first = `${head}documents:
  notes:
    type: {text: string, estimate: integer?, state: [open, closed], tags: "string[]"}
    defaults: {state: open, tags: []}
    guard: open
    history: true
    soft_delete: true
    indexes: [[estimate], [state]]
search:
  finds: {of: notes, text: [text, tags], guard: open}
`;

const second = `${head}documents:
  memos:
    was: notes
    type:
      title: {type: string, was: text}
      points: {type: [integer, "null"], was: estimate}
      state: [open, {value: done, was: closed}]
      labels: {type: array, items: {type: string}, was: tags}
      effort: {type: integer, default: 3}
    defaults: {state: open, labels: []}
    guard: open
    history: true
    soft_delete: true
    indexes: [[points], [state]]
search:
  finds: {of: memos, text: [title, labels], guard: open}
`;

/** `was` has been taken out of the fields, and a new field has a name that another once had. */
const third = `${head}documents:
  memos:
    was: notes
    type:
      title: string
      points: integer?
      state: [open, done]
      labels: "string[]"
      effort: {type: integer, default: 3}
      estimate: {type: string, default: none}
    defaults: {state: open, labels: []}
    guard: open
    history: true
    soft_delete: true
    indexes: [[points], [state]]
search:
  finds: {of: memos, text: [title, labels], guard: open}
`;

let versions: readonly [TestProject, TestProject, TestProject];
beforeAll(async () => {
  const files = (text: string) => ({ "registry/service.yaml": text });
  const one = await testProject(files(first));
  const two = await testProject(files(second), one);
  versions = [one, two, await testProject(files(third), two)];
});
afterAll(() => versions.forEach((version) => version.remove()));

describe("a former name is refused that", () => {
  const refused: readonly (readonly [string, string, string, string])[] = [
    [
      "never was",
      "estimate: integer?",
      "points: {type: integer, was: estimat}",
      "had no field estimat",
    ],
    [
      "still is",
      "estimate: integer?",
      'estimate: integer?, points: {type: [integer, "null"], was: estimate}',
      "estimate is still a field of notes",
    ],
    [
      "is that of another field, which is there as well",
      "text: string, estimate: integer?",
      'text: {type: string, was: estimate}, estimate: {type: [integer, "null"], was: text}',
      "text and estimate are both fields of notes already",
    ],
    [
      "is that of two fields",
      "estimate: integer?",
      'points: {type: [integer, "null"], was: estimate}, size: {type: [integer, "null"], was: estimate}',
      "points and size cannot both have been called estimate",
    ],
    [
      "is of a value that never was",
      "[open, closed]",
      "[open, {value: done, was: closd}]",
      "notes.state had no value closd",
    ],
    [
      "is that of two values",
      "[open, closed]",
      "[open, {value: done, was: closed}, {value: ended, was: closed}]",
      "two values cannot both have been called closed",
    ],
    [
      "is of a document that never was",
      "  notes:",
      "  memos:\n    was: note",
      "no documents were called note",
    ],
    [
      "is of a value that still is",
      "[open, closed]",
      "[open, closed, {value: done, was: closed}]",
      "closed is still a value",
    ],
    [
      "is of values in a list",
      'tags: "string[]"',
      "tags: {type: array, items: {enum: [{value: a, was: b}, c]}}",
      "notes.tags[] cannot be renamed",
    ],
    [
      "stands within an object",
      "text: string",
      "text: string, place: {type: object, properties: {town: {type: string, was: city}}, additionalProperties: false}",
      "notes.place.town cannot be renamed",
    ],
    [
      "is of what is not stored",
      "documents:",
      "types:\n  Point: {x: {type: integer, was: y}}\ndocuments:",
      "Point.x is not stored",
    ],
  ];
  test.each(refused)("%s", async (_title, before, after, message) => {
    const files = { "registry/service.yaml": first.replace(before, after) };
    await expect(testProject(files, versions[0])).rejects.toThrow(
      new RegExp(`OPW\\d+ .*${escaped(message)}`),
    );
  });

  test("leaves the rows of a document behind where it is taken out", async () => {
    const files = { "registry/service.yaml": third.replace("    was: notes\n", "") };
    await expect(testProject(files, versions[2])).rejects.toThrow(
      "documents of memos are stored in the table notes: keep `was: notes`",
    );
  });
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let drop: () => Promise<void>;
    let services: readonly [TestService, TestService, TestService];
    beforeAll(async () => {
      const database = await sharedDatabase(engine);
      drop = database.drop;
      const { same } = database;
      const [one, two, three] = versions;
      services = [await one.start(same), await two.start(same), await three.start(same)];
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    test("each version reads what any of them has stored, by its own names", async () => {
      const [old, next, last] = services;
      const alpha = (
        await old.post("/notes", { text: "alpha", estimate: 5, state: "closed", tags: ["x"] })
      ).body;
      const seen = { title: "alpha", points: 5, state: "done", labels: ["x"], effort: 3 };
      expect((await next.call("GET", `/memos/${alpha.id}`)).body).toMatchObject(seen);
      expect((await last.call("GET", `/memos/${alpha.id}`)).body).toMatchObject({
        ...seen,
        estimate: "none",
      });
      const beta = (
        await last.post("/memos", { title: "beta", points: 8, state: "done", estimate: "much" })
      ).body;
      expect(beta).toMatchObject({ title: "beta", points: 8, state: "done", estimate: "much" });
      const asOld = (await old.call("GET", `/notes/${beta.id}`)).body;
      expect(asOld).toMatchObject({ text: "beta", estimate: 8, state: "closed", tags: [] });
      expect(Object.keys(asOld)).toHaveLength(9);
      const asNext = (await next.call("GET", `/memos/${beta.id}`)).body;
      expect(asNext).toMatchObject({ title: "beta", points: 8, state: "done", effort: 3 });
      expect(Object.keys(asNext)).toHaveLength(10);
    });

    test("a patch of one version keeps what only another knows", async () => {
      const [old, next, last] = services;
      const gamma = { title: "gamma", points: 1, effort: 9, estimate: "some" };
      const created = await last.post("/memos", gamma);
      expect(created).toMatchObject({ status: 201, body: gamma });
      const { id } = created.body;
      await old.call("PATCH", `/notes/${id}?rev=1`, { body: { estimate: 2, state: "closed" } });
      await next.call("PATCH", `/memos/${id}?rev=2`, { body: { title: "gamma ray" } });
      expect((await last.call("GET", `/memos/${id}`)).body).toMatchObject({
        rev: 3,
        title: "gamma ray",
        points: 2,
        state: "done",
        effort: 9,
        estimate: "some",
      });
      // Edits of the same revision that do not touch each other are merged, whatever they call it.
      const merged = await old.call("PATCH", `/notes/${id}?rev=2`, { body: { tags: ["y"] } });
      expect(merged.status).toBe(200);
      expect((await last.call("GET", `/memos/${id}`)).body).toMatchObject({
        title: "gamma ray",
        labels: ["y"],
        points: 2,
      });
    });

    test("queries, sorts, groups and searches go by the names of the version that is asked", async () => {
      const [old, next, last] = services;
      const titles = async (service: TestService, path: string, body: object): Promise<unknown> => {
        const { status, body: answer } = await service.post(path, body);
        expect(status, JSON.stringify(answer)).toBe(200);
        return answer.hits.map((hit: Record<string, string>) => hit["title"] ?? hit["text"]);
      };
      const sorted = { sorts: { points: "asc" } };
      const done = { filters: { $values: { state: "done" } }, ...sorted };
      for (const service of [next, last])
        expect(await titles(service, "/memos/list", done)).toEqual(["gamma ray", "alpha", "beta"]);
      expect(
        await titles(old, "/notes/list", {
          filters: { $values: { state: "closed", estimate: { $gt: 4 } } },
          sorts: { estimate: "desc" },
        }),
      ).toEqual(["beta", "alpha"]);
      await next.post("/memos", { title: "delta" });
      // By what the values are called, not by what they were.
      expect(await titles(last, "/memos/list", { sorts: { state: "desc", title: "asc" } })).toEqual(
        ["delta", "alpha", "beta", "gamma ray"],
      );
      expect(
        await titles(last, "/memos/list", { filters: { $values: { estimate: "much" } } }),
      ).toEqual(["beta"]);
      expect(
        await titles(next, "/memos/list", {
          filters: { $values: { labels: { $overlaps: ["y"] } } },
        }),
      ).toEqual(["gamma ray"]);
      const aggregates = { $groups: { state: "state" }, $computed: { points: { $sum: "points" } } };
      expect(
        (await last.post("/memos/agg_list", { aggregates, sorts: { state: "asc" } })).body.hits,
      ).toEqual([
        { state: "done", points: 15 },
        { state: "open", points: null },
      ]);
      expect(await titles(last, "/search/finds/typed", { query: ["beta"] })).toEqual(["beta"]);
      expect(await titles(old, "/search/finds/typed", { query: ["ray"] })).toEqual(["gamma ray"]);
    });

    test("nothing of the tables is made anew but the index over values that are called otherwise", () => {
      const [, two, three] = versions;
      const folder = (version: TestProject): string =>
        join(version.root, "generated/migrations/postgres");
      const [, migration = "", ...others] = readdirSync(folder(three)).sort();
      expect(others).toEqual([]);
      const text = readFileSync(join(folder(two), migration), "utf8");
      expect(text.match(/^(?:CREATE|DROP) .*?"\w+"/gm)).toEqual([
        'DROP INDEX CONCURRENTLY IF EXISTS "memos_by_state"',
        'CREATE INDEX CONCURRENTLY "memos_by_state"',
        'DROP INDEX CONCURRENTLY IF EXISTS "notes_by_state"',
      ]);
    });
  });
}
