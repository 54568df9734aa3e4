// Cursors that another version has given out: they go on where the query means what it meant. Those that stand here were recorded
// before documents named each other and searches had languages.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase, type TestEngine } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {text: string, size: integer?, tags: "string[]", at: date-time?}
    guard: open
    soft_delete: {list_deleted: true}
search:
  note_search: {of: notes, text: {text: 2, tags: 1}, facets: [tags], guard: open}
storage:
  files: {guard: open}
`,
};

/** Two versions, the second of which knows a state more, and a field by another name. */
const versions = [
  "{text: string, state: [open, done], size: integer}",
  "{text: string, state: [open, done, late], points: {type: integer, was: size}, due: date-time?}",
].map((type) => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: ${type}, guard: open}
search:
  note_search: {of: notes, text: [text], guard: open}
`,
}));

/** What they were signed with. */
const secret = "dFC3lZwau7Wy52iBzD8iRe8c_VqRHj0ltLEKBX8f8sM";

const given: readonly (readonly [path: string, query: object, after: string])[] = [
  [
    "/notes/list_cursor",
    {},
    "WyIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.RT2s0xD2y7y6av0ZmMwlOaeFq7ydIQ4GRYhQzp8MdIo",
  ],
  [
    "/notes/list_cursor",
    { filters: {}, sorts: { size: "desc" } },
    "WzMsIjAxYTIwNzY1LWMzOWEtNzNiMy1hZTlhLTQ4OTU0MjNlYjM1MSJd.42N2aBgIirT1oRQ7Et9dHhaT9k1UDfSo1RZb88HV4Nk",
  ],
  [
    "/notes/list_cursor",
    {
      filters: { $values: { text: { $like: "%rocket%" }, size: { $gte: 0, $lte: 9 } } },
      sorts: { text: { dir: "asc", nulls: "last" } },
      with_deleted: true,
    },
    "WyJyb2NrZXQgcGFwZXIgMCIsIjAxYTIwNzY1LWMyYjQtNzA5OC1hMmJmLWM1ODNhMjc2YWNlNyJd.ok7h4GO4tmnF05N4OJLKKm7BBS49bV1J2H0E3dnF_Ak",
  ],
  [
    "/notes/list_cursor",
    {
      filters: {
        $or: [
          { $values: { size: [1, 2, 3, 4] } },
          { $not: { $values: { tags: { $any: { $eq: "no" } } } } },
        ],
      },
      sorts: { created_at: "asc" },
    },
    "WyIyMDI2LTExLTIzVDA3OjUzOjU5LjIyMFoiLCIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.HA1evLt7NR0s-AqPaYNJesNqrSIAnyp4uIk4Il2IY-I",
  ],
  [
    "/notes/list_cursor",
    {
      filters: {
        $values: { text: { $regex: "rock" } },
        $fields: { created_at: { $lte: "last_update_at" } },
      },
    },
    "WyIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.8So_p1tMkRrAyZt3tonWVdl9WL1A6VWtMM4AKEnzt8U",
  ],
  [
    "/notes/raw_list_cursor",
    { return_fields: ["text"], filters: { $values: { tags: { $overlaps: ["paper"] } } } },
    "WyIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.EbG61xns8l3qehEYzxwgnHhYlIB4WsfrsM244IL95as",
  ],
  [
    "/search/note_search/typed_cursor",
    { query: "rocket" },
    "WzEuNDUxNDkwMzM1MjkxMzk0LCIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.FZL77BoMMe6B4ihwVVjyQ9khHxMbitogHOD4pa63QIU",
  ],
  [
    "/search/note_search/typed_cursor",
    { query: "rocket paper", filters: { $values: { size: { $lte: 9 } } } },
    "WzIuOTAyOTgwNjcwNTgyNzg4LCIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.eWYokh4ghvGHmCwgF0jWgD2QAdyXcTrLyZz391sU5Z0",
  ],
  [
    "/search/note_search/typed_cursor",
    {
      query: ['"rocket paper"', "roc*"],
      sorts: { size: "asc" },
      options: { phrase_combine: "any", highlight: true, facets: ["tags"] },
    },
    "WzAsIjAxYTIwNzY1LWMyYjQtNzA5OC1hMmJmLWM1ODNhMjc2YWNlNyJd.zKS5XYToYh_shMGbgnwmWpcenc6hxzv_-sIgFC5MMJ8",
  ],
  [
    "/search/note_search/typed_cursor",
    { query: "rockat", options: { fuzzy: true, weights: { text: 3 }, search_count: "none" } },
    "WzAuNjU5MjE2Mjg2ODc2NzUsIjAxYTIwNzY1LWMyYjQtNzA5OC1hMmJmLWM1ODNhMjc2YWNlNyJd.1f6iSqupx4ZrXU5q0nx3iNe8YjBirMQtHGY0UENsv9Q",
  ],
  [
    "/search/note_search/raw_cursor",
    {
      query: "rocket",
      return_fields: ["text"],
      options: { fields: ["text"], max_candidates: 100 },
    },
    "WzAuOTY1ODQ0NDAyMjc3MDM5OCwiMDFhMjA3NjUtYzJiNC03MDk4LWEyYmYtYzU4M2EyNzZhY2U3Il0.zN4c4ND4wlQwHZzvbH74MywbIuzGW7ey3dxTImQEvRc",
  ],
  [
    "/search/note_search/typed_cursor",
    { filters: { $values: { size: { $gte: 0 } } } },
    "WyIwMWEyMDc2NS1jMmI0LTcwOTgtYTJiZi1jNTgzYTI3NmFjZTciXQ.KGVBwrRoGtfq74NOdcwcpeLqZMAc1fBsB19j8dzbd6o",
  ],
];

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

async function started(engine: TestEngine, { root, load }: TestProject): Promise<TestService> {
  const { service: definition } = await load("generated/service.ts");
  const folder = join(root, "generated");
  const environment = { SECRETS_SIGNING: secret };
  return startTestService(engine, { definition, folder, environment });
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await started(engine, project);
      for (const size of [0, 1, 2, 3])
        await service.post("/notes", {
          text: `rocket paper ${size}`,
          size,
          tags: ["paper", "rocket"],
        });
    });
    afterAll(() => service.stop());

    test.each(given)("%s %j goes on", async (path, query, after) => {
      const { status, body } = await service.post(path, { ...query, size: 1, after });
      expect([status, body.code]).toEqual([200, undefined]);
      expect(body.hits).toHaveLength(1);
      const { status: elsewhere, body: refused } = await service.post(path, {
        ...query,
        filters: { $values: { size: { $lte: 8 } } },
        after,
      });
      expect([elsewhere, refused.code]).toEqual([422, "invalid_cursor"]);
    });

    test.each([
      ["/notes/list_cursor", { filters: { $values: { state: "open" } }, sorts: { state: "asc" } }],
      [
        "/search/note_search/typed_cursor",
        { query: "rocket", filters: { $values: { state: ["open"] } } },
      ],
    ])("a walk of %s goes on with the version beside", async (path, query) => {
      const { same, drop } = await sharedDatabase(engine);
      const [one = {}, other = {}] = versions;
      const before = await testProject(one);
      const after = await testProject(other, before);
      const services: TestService[] = [];
      try {
        for (const version of [before, after]) services.push(await started(same, version));
        const [older, newer] = services as [TestService, TestService];
        for (const size of [1, 2, 3, 4, 5])
          await older.post("/notes", { text: `rocket ${size}`, state: "open", size });
        const found: string[] = [];
        let cursor: string | null | undefined;
        for (let at = 0; cursor !== null; at += 1) {
          const asked = { ...query, size: 1, ...(cursor === undefined ? {} : { after: cursor }) };
          const { status, body } = await (at % 2 === 0 ? older : newer).post(path, asked);
          expect([status, body.code]).toEqual([200, undefined]);
          found.push(...body.hits.map(({ text }: { readonly text: string }) => text));
          cursor = body.next_cursor;
        }
        expect(found.toSorted()).toEqual([1, 2, 3, 4, 5].map((size) => `rocket ${size}`));
      } finally {
        for (const service of services) await service.stop();
        await drop();
        for (const version of [before, after]) version.remove();
      }
    });
  });
}
