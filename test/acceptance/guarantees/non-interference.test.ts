// Nobody learns by any operation what it may not see: worlds that differ in nothing else answer alike, byte for byte but for ids and
// times. Where a difference is meant, a test says so. A failing world is replayed by OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_WORLDS says
// how many there are (`npm run test:long`).
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer } from "../../support/service.js";
import { hidden, registry, worldOf, type Hidden, type World } from "../../support/worlds.js";

const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const numRuns = Number(process.env["OPWRIGHT_TEST_WORLDS"] ?? 2);

let project: TestProject;
beforeAll(async () => {
  project = await testProject(registry);
});
afterAll(() => project.remove());

/** A request; `{name}` stands for an id that the caller knows. */
type Asked = readonly [method: string, path: string, body?: object];

const through = ["atlas", "concealed", "borg"].flatMap((name): readonly object[] => [
  { $values: { "project.name": name } },
  { $not: { $values: { "project.name": name } } },
]);
const filters: readonly object[] = [
  ...through,
  { $values: { "project.archived": true } },
  { $values: { "project.size": null } },
  { $values: { "project.size": { $gte: 0 } } },
  { $values: { "parent.points": { $gte: 1 } } },
  { $exists: { "tasks.parent": {} } },
  { $not: { $exists: { "tasks.parent": { $values: { points: 1 } } } } },
];
const ofProjects: readonly object[] = [
  { $exists: { "tasks.project": {} } },
  { $exists: { "tasks.project": { $values: { points: { $lte: 3 } } } } },
  { $not: { $exists: { "tasks.project": { $exists: { "tasks.parent": {} } } } } },
  { $exists: { "seats.project": {} } },
];
const expand = ["project", "parent.project"];
const counted = { points: { $sum: "points" }, tasks: { $count: {} } };
const respelt = { fuzzy: true, highlight: true, facets: ["points"], max_candidates: 3 };
const reads: readonly Asked[] = [
  ...["atlas", "concealed", "known"].flatMap((id): readonly Asked[] => [
    ["GET", `/projects/{${id}}`],
    ["GET", `/projects/{${id}}/deleted`],
    ["GET", `/projects/{${id}}/revisions`],
    ["GET", `/projects/{${id}}/revisions/1`],
    ["GET", `/projects/{${id}}/revisions/1/diff?to=2`],
  ]),
  ...["launch", "child", "blind"].flatMap((id): readonly Asked[] => [
    ["GET", `/tasks/{${id}}?expand=project,parent.project`],
    ["GET", `/tasks/{${id}}/revisions?size=1`],
    ["GET", `/tasks/{${id}}/revisions/1/diff`],
  ]),
  ...filters.flatMap((filter): readonly Asked[] => [
    ["POST", "/tasks/list", { filters: filter, sorts: { "project.name": "asc" }, expand }],
    ["POST", "/tasks/list_cursor", { filters: filter, sorts: { "project.size": "desc" }, size: 2 }],
    ["POST", "/tasks/raw_list", { filters: filter, return_fields: ["title", "project"] }],
    ["POST", "/tasks/update_where", { filters: filter, patch: { points: 1 }, dry_run: true }],
    [
      "POST",
      "/tasks/agg_list",
      { filters: filter, aggregates: { $groups: { at: "project" }, $computed: counted } },
    ],
    [
      "POST",
      "/search/task_search/typed",
      {
        query: ["atlas", "rocket", "blind"],
        filters: filter,
        expand,
        options: { facets: ["points"], highlight: true },
      },
    ],
  ]),
  ...ofProjects.map((filter): Asked => ["POST", "/projects/list", { filters: filter }]),
  ...["launch", "pap*", "rocket child"].flatMap((query): readonly Asked[] => [
    ["POST", "/search/task_search/typed_cursor", { query, size: 1, expand }],
    ["POST", "/search/task_search/raw", { query, return_fields: ["title"] }],
  ]),
  ...["launch", "lanuch", "attlas papre", "rockte chidl", "blinde", "goen"].flatMap(
    (query): Asked[] => [
      ["POST", "/search/task_search/typed", { query, options: respelt }],
      ["POST", "/search/task_search/raw_cursor", { query, size: 1, options: respelt }],
    ],
  ),
  ["POST", "/tasks/list_deleted", { sorts: { "project.name": "asc" } }],
  ["POST", "/files/list", { prefix: "a/" }],
  ["POST", "/files/list", { tags: { stage: "draft" }, size: 1 }],
  ["POST", "/files/metadata", { key: "{file}" }],
];
const writes: readonly Asked[] = [
  ...["known", "concealed"].flatMap((id): readonly Asked[] => [
    ["PATCH", `/projects/{${id}}?rev=1`, { size: 1 }],
    ["POST", `/projects/{${id}}/delete?rev=1`, {}],
    ["POST", `/projects/{${id}}/restore?rev=2`, {}],
    ["POST", `/projects/{${id}}/revert?rev=1&to=1`, {}],
    ["DELETE", `/projects/{${id}}`],
  ]),
  ...[true, false].flatMap((atomic): readonly Asked[] => [
    [
      "POST",
      "/projects/update_many",
      {
        atomic,
        items: ["{atlas}", "{known}", "{concealed}"].map((id) => ({ id, patch: { size: 7 } })),
      },
    ],
    [
      "POST",
      "/projects/delete_many",
      { atomic, items: ["{known}", "{concealed}"].map((id) => ({ id })) },
    ],
    [
      "POST",
      "/tasks/create_many",
      {
        atomic,
        items: [{ title: `many ${atomic}`, project: "{atlas}" }, { title: "blind" }, { title: 1 }],
      },
    ],
  ]),
  [
    "POST",
    "/tasks/update_where",
    { filters: { $values: { "project.name": "concealed" } }, patch: { points: 9 } },
  ],
  [
    "POST",
    "/tasks/update_where",
    { filters: { $exists: { "tasks.parent": {} } }, patch: { points: 8 } },
  ],
  ["POST", "/tasks/delete_where", { filters: { $values: { "project.archived": true } } }],
  ["POST", "/projects/upsert", { by: ["name"], document: { name: "atlas", archived: true } }],
  ["POST", "/projects/upsert", { by: ["name"], document: { name: "new", archived: true } }],
  ["POST", "/projects", { name: "atlas", archived: true }],
  ["PATCH", "/tasks/{blind}?rev=2", { title: "blind as before" }],
  ["POST", "/tasks/{blind}/revert?rev=3&to=1", {}],
  ["POST", "/tasks/{blind}/revert?rev=4&to=3", {}],
  ["POST", "/tasks/{gone}/restore?rev=2", {}],
  ["POST", "/files/copy", { from: "{file}", to: "a/copy" }],
  ["POST", "/files/move", { from: "a/copy", to: "a/moved" }],
  ["POST", "/files/copy", { from: "b/none", to: "a/none" }],
  ["POST", "/files/metadata/update", { key: "a/moved", tags: { stage: "final" } }],
  // What others have that names it goes along, or is left without it, and nobody is told.
  ["POST", "/tasks/{launch}/delete?rev=3", {}],
  ["POST", "/projects/{atlas}/delete?rev=3", {}],
  ["DELETE", "/projects/{borg}"],
];

/** Header fields of the moment. */
const fresh = new Set(["date", "last-modified", "x-request-id", "x-correlation-id"]);

/** Every answer as it comes but for ids, times and signatures, each page of a walk by cursor as well. */
async function answersOf(
  { service, caller, ids }: World,
  asked: readonly Asked[],
): Promise<readonly string[]> {
  const answers: string[] = [];
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? name);
  const plain = (text: string): string =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        if (!names.has(id)) names.set(id, `id ${names.size}`);
        return `<${names.get(id)}>`;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  const position = (cursor: string): string =>
    plain(Buffer.from(cursor.split(".")[0] ?? "", "base64url").toString("utf8"));
  const ask = async ([method, path, body]: Asked, what: string): Promise<string> => {
    const response = await fetch(`${service.url}${filled(path)}`, {
      method,
      headers: {
        authorization: `Bearer ${caller.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: filled(JSON.stringify(body)) }),
    });
    const text = await response.text();
    const headers = [...response.headers].filter(([name]) => !fresh.has(name));
    const told = plain(text).replaceAll(
      /"(next|prev)_cursor":"([^"]+)"/g,
      (_all, which: string, cursor: string) => `"${which}":${position(cursor)}`,
    );
    answers.push(`${what}: ${response.status} ${plain(JSON.stringify(headers))} ${told}`);
    return text;
  };
  for (const one of asked) {
    const what = one.map((part) => JSON.stringify(part)).join(" ");
    for (let after = cursorOf(await ask(one, what)); after !== undefined;)
      after = cursorOf(await ask(behind(one, after), what));
  }
  return answers;
}

/** The page behind a cursor. */
function behind([method, path, body]: Asked, after: string): Asked {
  return body === undefined
    ? [method, `${path}&after=${after}`]
    : [method, path, { ...body, after }];
}

function cursorOf(text: string): string | undefined {
  return /"next_cursor":"([^"]+)"/.exec(text)?.[1];
}

const bare: Hidden = {
  named: { archived: false, size: null },
  known: "absent",
  colleagues: [],
  strangers: [],
  files: [],
};

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const within = async <T>(given: Hidden, work: (world: World) => Promise<T>): Promise<T> => {
      const world = await worldOf(engine, project, given);
      try {
        return await work(world);
      } finally {
        await world.close();
      }
    };
    const all = [...reads, ...writes, ...reads];

    test("what a caller may not see changes nothing that it is answered", async () => {
      const expected = await within(bare, (world) => answersOf(world, all));
      expect(expected.filter((answer) => / (5\d\d|400) /.test(answer))).toEqual([]);
      for (const given of fc.sample(hidden, { numRuns, seed }))
        expect(
          await within(given, (world) => answersOf(world, all)),
          JSON.stringify(given),
        ).toEqual(expected);
    }, 300_000);

    describe("what is meant to be told", () => {
      let world: World;
      beforeAll(async () => {
        world = await worldOf(engine, project, { ...bare, known: "there" });
      });
      afterAll(() => world.close());
      const call = (method: string, path: string, body?: object): Promise<Answer> =>
        world.service.call(method, path, {
          headers: { authorization: `Bearer ${world.caller.token}` },
          ...(body === undefined ? {} : { body }),
        });
      const taken = { code: "unique_violation", context: { members: ["name"] } };

      test("a name that is given once in all tenants", async () => {
        await world.make(world.stranger, "/domains", { name: "example.test" });
        const { status, body } = await call("POST", "/domains", { name: "example.test" });
        expect([status, body]).toMatchObject([409, taken]);
      });

      test("a name that is given once in the tenant, and nothing of who has it", async () => {
        const named = { name: "known", archived: true };
        const refused = { status: 409, body: taken };
        expect(await call("POST", "/projects", named)).toMatchObject(refused);
        expect(
          await call("POST", "/projects/upsert", { by: ["name"], document: named }),
        ).toMatchObject(refused);
        expect(
          await call("PATCH", `/projects/${world.ids["borg"]}?rev=1`, { name: "known" }),
        ).toMatchObject(refused);
        const { body } = await call("POST", "/projects/create_many", { items: [named] });
        expect(body).toMatchObject({ failed: 1, outcomes: [{ error: taken }] });
        expect(JSON.stringify(body)).not.toContain(world.ids["known"]);
      });

      test("that somebody's document holds one's own, by its type and member", async () => {
        const { atlas = "" } = world.ids;
        const seat = await world.make(world.colleague, "/seats", { name: "s", project: atlas });
        const { status, body } = await call("POST", `/projects/${atlas}/delete?rev=1`, {});
        expect([status, body]).toMatchObject([
          409,
          { code: "reference_in_use", context: { document: "seats", member: "project" } },
        ]);
        expect(JSON.stringify(body)).not.toContain(seat);
      });

      test("to nobody who knows an id: it can't be named", async () => {
        const { known = "" } = world.ids;
        expect((await call("GET", `/projects/${known}`)).status).toBe(404);
        const named = async (project: string) => {
          const { status, body } = await call("POST", "/tasks", { title: "by its id", project });
          return [status, body.context.errors];
        };
        // As one that is not there.
        expect(await named(known)).toEqual(await named("01890000-0000-7000-8000-00000000dead"));
        expect((await named(known))[0]).toBe(422);
      });
    });

    describe("other spellings are those of documents that the caller sees", () => {
      let world: World;
      beforeAll(async () => {
        world = await worldOf(engine, project, bare);
      });
      afterAll(() => world.close());
      const titles = ["telescope", "telescope tellescope", "atlas of stars"];
      const nearer = [..."abcdefghijklmnopqrstuvwxyz"].flatMap((one) => [
        `telescop${one}`,
        `tel${one}scopes`,
        `telescopez${one}`,
      ]);
      const find = async (query: string): Promise<string> => {
        const { token } = world.caller;
        const { body } = await world.service.call("POST", "/search/task_search/typed", {
          headers: { authorization: `Bearer ${token}` },
          body: { query, options: { fuzzy: true, highlight: true, facets: ["points"] } },
        });
        return JSON.stringify(body);
      };
      const queries = ["telescopez", "telescope", "tellescope", "attlas"];
      const findAll = (): Promise<readonly string[]> => Promise.all(queries.map(find));

      test("however many nearer ones a colleague writes, alters or marks as deleted", async () => {
        for (const title of titles) await world.make(world.caller, "/tasks", { title });
        const expected = await findAll();
        expect(expected.map((answer) => JSON.parse(answer).count)).toEqual([2, 2, 2, 2]);
        const ids: string[] = [];
        for (const title of nearer)
          ids.push(await world.make(world.colleague, "/tasks", { title: `${title} theirs` }));
        expect(await findAll()).toEqual(expected);
        const headers = { authorization: `Bearer ${world.colleague.token}` };
        for (const [at, id] of ids.entries()) {
          const [method, path, body] =
            at % 2 === 0
              ? (["PATCH", `/tasks/${id}?rev=1`, { title: `other ${at}` }] as const)
              : (["POST", `/tasks/${id}/delete?rev=1`, {}] as const);
          const { status } = await world.service.call(method, path, { headers, body });
          expect(status).toBeLessThan(300);
        }
        expect(await findAll()).toEqual(expected);
      });

      test("nor by what the caller has written and deleted, or written otherwise", async () => {
        const expected = await findAll();
        const headers = { authorization: `Bearer ${world.caller.token}` };
        for (const [at, title] of nearer.entries()) {
          const id = await world.make(world.caller, "/tasks", { title: `${title} own` });
          const { status } = await world.service.call(
            at % 2 === 0 ? "PATCH" : "POST",
            at % 2 === 0 ? `/tasks/${id}?rev=1` : `/tasks/${id}/delete?rev=1`,
            { headers, body: at % 2 === 0 ? { title: `own ${at}` } : {} },
          );
          expect(status).toBeLessThan(300);
        }
        expect(await findAll()).toEqual(expected);
      });

      test("a colleague who sees all finds those of all", async () => {
        const headers = { authorization: `Bearer ${world.colleague.token}` };
        const body = { query: "telezcopes", options: { fuzzy: true } };
        await world.make(world.colleague, "/tasks", { title: "telescopes of others" });
        const path = "/search/task_search/typed";
        const { body: found } = await world.service.call("POST", path, { headers, body });
        expect(found.hits.map(({ title }: { title: string }) => title)).toContain(
          "telescopes of others",
        );
        expect(await find("telezcopes")).not.toContain("others");
      });
    });
  });
}
