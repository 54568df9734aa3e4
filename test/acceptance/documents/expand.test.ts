// What documents name comes along, filters and sorts: as far as who asks may see it, and by one statement a level.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type People, type Somebody } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
hooks: {told: {run: registry/handlers.ts#told, phase: tx_after}}
policies:
  writer: [principal, tenant]
  reader: [principal, tenant, {authorize: "{resource}.read"}]
  mine: [principal, tenant, {authorize: "{resource}.read"}, {scope: own_rows}]
documents:
  people:
    type: {name: string, team: {ref: teams?}}
    guard: {read: reader, write: writer}
    hooks: {get: {tx_after: [told]}}
  teams: {type: {name: string}, guard: {read: reader, write: writer}}
  projects:
    type: {name: string, archived: boolean, size: integer?, owner: {ref: people?}}
    guard: {read: reader, write: writer}
    soft_delete: true
  drafts: {type: {text: string}, guard: {read: mine, write: writer}}
  vaults: {type: {text: string}, sensitive: true, guard: writer}
  tasks:
    type:
      title: string
      project: {ref: projects}
      assignee: {ref: people?}
      parent: {ref: tasks?}
      draft: {ref: drafts?}
      vault: {ref: vaults?}
    guard: {read: reader, write: writer}
    soft_delete: true
  comments:
    type: {text: string, stars: integer, task: {ref: tasks}}
    guard: {read: reader, write: writer}
search:
  task_search: {of: tasks, text: [title], guard: reader}
operations:
  tasks.overview:
    post: /overview
    in: {project: string}
    out: {titles: {type: array, items: {type: string}}, owners: {type: array, items: {type: string}}}
    run: registry/handlers.ts#overview
    guard: writer
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { tasksSpec } from "../generated/documents/tasks.js";
// It follows an answer, and is asked of nothing else.
export const told = (_input, _context, output) => {
  if (output === undefined) throw new Error("nothing was answered");
};
export const overview = async ({ project }, context) => {
  const tasks = collection(tasksSpec, context);
  const found = await tasks.find({
    filters: { $values: { "project.name": project } },
    sorts: { title: "asc" },
    expand: ["project.owner"],
  });
  return {
    titles: found.map(({ title }) => title),
    owners: found.map(({ expanded }) => expanded?.project?.expanded?.owner?.name ?? "nobody"),
  };
};
`,
};

const everything = ["people", "teams", "projects", "drafts", "tasks", "comments"];

interface Reader extends Somebody {
  titles(body: object): Promise<readonly string[]>;
}

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    beforeAll(async () => {
      service = await project.start(engine);
      people = peopleOf(service, (await project.load("generated/identity.ts")).identitySpec);
    });
    afterAll(() => service.stop());

    /** Somebody of a tenant who may read documents of these names. */
    const member = async (tenant: string, ...reads: readonly string[]): Promise<Reader> => {
      const { token } = await people.member(tenant, ...reads.map((name) => `${name}.read`));
      const reader = people.by(token);
      return {
        ...reader,
        async titles(body) {
          const answer = await reader.call("POST", "/tasks/list", { size: 100, ...body });
          expect([answer.status, JSON.stringify(answer.body)]).toEqual([200, expect.anything()]);
          return answer.body.hits.map(({ title }: { readonly title: string }) => title);
        },
      };
    };

    /** Projects and tasks of one tenant: two of each, and one that names little. */
    const furnished = async () => {
      const tenant = await people.tenant();
      const ann = await member(tenant, ...everything);
      const team = await ann.make("teams", { name: "core" });
      const owner = await ann.make("people", { name: "Olga", team });
      const open = await ann.make("projects", { name: "Open", archived: false, size: 3, owner });
      const old = await ann.make("projects", { name: "Old", archived: true });
      const draft = await ann.make("drafts", { text: "hush" });
      const one = await ann.make("tasks", { title: "one", project: open, assignee: owner, draft });
      const two = await ann.make("tasks", { title: "two", project: open, parent: one });
      const three = await ann.make("tasks", { title: "three", project: old });
      await ann.make("comments", { text: "good", stars: 5, task: one });
      await ann.make("comments", { text: "bad", stars: 1, task: two });
      return { tenant, ann, team, owner, open, old, draft, one, two, three };
    };

    test("a document comes with what it names, two levels deep, and null for nothing", async () => {
      const { ann, one, two, open, owner } = await furnished();
      const { status, body, headers } = await ann.call(
        "GET",
        `/tasks/${one}?expand=project.owner,assignee,parent`,
      );
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id: one,
        project: open,
        expanded: {
          project: { id: open, name: "Open", rev: 1, expanded: { owner: { name: "Olga" } } },
          assignee: { id: owner, name: "Olga" },
          parent: null,
        },
      });
      expect(body.expanded.assignee).not.toHaveProperty("expanded");
      // A tag would be of the task alone.
      expect(headers.get("etag")).toBeNull();
      const child = await ann.call("GET", `/tasks/${two}?expand=parent.assignee`);
      expect(child.body.expanded.parent).toMatchObject({
        title: "one",
        expanded: { assignee: { name: "Olga" } },
      });
      expect((await ann.call("GET", `/tasks/${one}`)).body).not.toHaveProperty("expanded");
    });

    test("lists, cursors and searches bring them as well", async () => {
      const { ann } = await furnished();
      const expand = ["project.owner", "assignee"];
      for (const [path, query] of [
        ["/tasks/list", {}],
        ["/tasks/list_cursor", {}],
        ["/search/task_search/typed", { query: "one" }],
        ["/search/task_search/typed_cursor", { query: "one" }],
      ] as const) {
        const { status, body } = await ann.call("POST", path, {
          ...query,
          expand,
          sorts: { title: "asc" },
        });
        expect([path, status]).toEqual([path, 200]);
        expect(body.hits[0]).toMatchObject({
          title: "one",
          expanded: { project: { name: "Open", expanded: { owner: { name: "Olga" } } } },
        });
      }
      // A cursor is a place in the order: what comes along may change on the way.
      const plain = await ann.call("POST", "/tasks/list_cursor", { size: 1 });
      const after: string = plain.body.next_cursor;
      const next = await ann.call("POST", "/tasks/list_cursor", { size: 1, after, expand });
      expect([next.status, next.body.hits[0]?.expanded.project.name]).toEqual([200, "Open"]);
      const raw = await ann.call("POST", "/tasks/raw_list", { return_fields: ["title"], expand });
      expect(raw).toMatchObject({ status: 422, body: { code: "core.validation" } });
    });

    test("filters and sorts go through references, also from page to page", async () => {
      const { ann, one, open } = await furnished();
      const values = (given: object): object => ({
        filters: { $values: given },
        sorts: { title: "asc" },
      });
      expect(await ann.titles(values({ "project.archived": false }))).toEqual(["one", "two"]);
      expect(await ann.titles(values({ "project.name": { $like: "O%" } }))).toHaveLength(3);
      expect(
        await ann.titles(values({ "project.size": { $gte: 3 }, "parent.title": "one" })),
      ).toEqual(["two"]);
      expect(await ann.titles(values({ "project.id": open, title: "one" }))).toEqual(["one"]);
      // What names nothing has null there, as what is absent has everywhere.
      expect(await ann.titles(values({ "parent.title": null }))).toEqual(["one", "three"]);
      expect(await ann.titles(values({ "project.size": null }))).toEqual(["three"]);
      expect(await ann.titles(values({ "parent.title": { $neq: "x" } }))).toEqual(["two"]);
      expect(
        await ann.titles({
          filters: { $not: { $values: { "parent.title": "one" } } },
          sorts: { title: "asc" },
        }),
      ).toEqual(["one", "three"]);
      expect(await ann.titles({ sorts: { "project.name": "desc", title: "desc" } })).toEqual([
        "two",
        "one",
        "three",
      ]);
      expect(
        await ann.titles({
          sorts: { "project.size": { dir: "asc", nulls: "last" }, title: "asc" },
        }),
      ).toEqual(["one", "two", "three"]);
      expect(await ann.titles({ sorts: { "parent.created_at": "asc", title: "asc" } })).toEqual([
        "one",
        "three",
        "two",
      ]);
      const walked: string[] = [];
      let after: string | null = null;
      let before: string | null = null;
      do {
        const { body }: Answer = await ann.call("POST", "/tasks/list_cursor", {
          size: 1,
          sorts: { "parent.created_at": "desc", "project.name": "asc" },
          ...(after === null ? {} : { after }),
        });
        walked.push(body.hits[0].title);
        [after, before] = [body.next_cursor, body.prev_cursor];
      } while (after !== null);
      expect(walked).toEqual(["two", "three", "one"]);
      const { body } = await ann.call("POST", "/tasks/list_cursor", {
        size: 2,
        before,
        sorts: { "parent.created_at": "desc", "project.name": "asc" },
      });
      expect(body.hits.map(({ title }: { readonly title: string }) => title)).toEqual([
        "two",
        "three",
      ]);
      const found = await ann.call("POST", "/search/task_search/typed", {
        query: "one",
        filters: { $values: { "project.archived": false, id: one } },
        sorts: { "project.name": "asc" },
      });
      expect(found.body.hits).toHaveLength(1);
    });

    test("$exists asks for those that name a document", async () => {
      const { ann } = await furnished();
      const asked = (given: object, extra: object = {}): object => ({
        filters: { $exists: given, ...extra },
        sorts: { title: "asc" },
      });
      expect(await ann.titles(asked({ "comments.task": {} }))).toEqual(["one", "two"]);
      expect(
        await ann.titles(asked({ "comments.task": { $values: { stars: { $gt: 2 } } } })),
      ).toEqual(["one"]);
      expect(await ann.titles(asked({ "tasks.parent": {} }))).toEqual(["one"]);
      // Who names is asked in turn.
      expect(
        await ann.titles(
          asked({ "tasks.parent": { $exists: { "comments.task": { $values: { text: "bad" } } } } }),
        ),
      ).toEqual(["one"]);
      expect(await ann.titles({ filters: { $not: { $exists: { "comments.task": {} } } } })).toEqual(
        ["three"],
      );
      const { body } = await ann.call("POST", "/projects/agg_list", {
        filters: { $exists: { "tasks.project": { $values: { title: "three" } } } },
        aggregates: {
          $computed: {
            all: { $count: {} },
            open: {
              $count: { filter: { $exists: { "tasks.project": { $values: { title: "one" } } } } },
            },
          },
        },
      });
      expect(body.hits).toEqual([{ all: 1, open: 0 }]);
    });

    test("$exists asks for those that name what a document names", async () => {
      const { ann, owner, two } = await furnished();
      const siblings = (filter: object): object => ({ "project.tasks.project": filter });
      const asked = async (given: object): Promise<readonly string[]> =>
        ann.titles({ filters: { $exists: given }, sorts: { title: "asc" } });
      expect(await asked(siblings({}))).toEqual(["one", "three", "two"]);
      expect(await asked(siblings({ $values: { title: "one" } }))).toEqual(["one", "two"]);
      expect(await asked({ "parent.comments.task": {} })).toEqual(["two"]);
      expect(await asked({ "parent.comments.task": { $values: { stars: 1 } } })).toEqual([]);
      // What names nothing has none that names it.
      expect(
        await ann.titles({
          filters: { $not: { $exists: { "parent.comments.task": {} } } },
          sorts: { title: "asc" },
        }),
      ).toEqual(["one", "three"]);
      // Their filter may follow references and ask for more in turn.
      expect(await asked(siblings({ $values: { "assignee.name": "Olga" } }))).toEqual([
        "one",
        "two",
      ]);
      expect(
        await asked(siblings({ $exists: { "comments.task": { $values: { text: "bad" } } } })),
      ).toEqual(["one", "two"]);
      const { body } = await ann.call("POST", "/projects/agg_list", {
        filters: { $exists: { "owner.tasks.assignee": { $values: { title: "one" } } } },
        aggregates: { $computed: { all: { $count: {} } } },
      });
      expect(body.hits).toEqual([{ all: 1 }]);
      const walked = await ann.call("POST", "/tasks/list_cursor", {
        filters: { $exists: { "assignee.projects.owner": { $values: { owner } } } },
      });
      expect(walked.body.hits).toMatchObject([{ title: "one" }]);
      const found = await ann.call("POST", "/search/task_search/typed", {
        query: "two",
        filters: { $exists: siblings({ $values: { title: "one" } }) },
      });
      expect(found.body.hits).toMatchObject([{ id: two }]);
    });

    test("neither what is between nor what names it is seen by who may not read it", async () => {
      const { tenant, ann, one, open, draft } = await furnished();
      const asked = (name: string): object => ({ filters: { $exists: { [name]: {} } } });
      const refused = (missing: string): object => ({
        status: 403,
        body: { context: { missing } },
      });
      const bob = await member(tenant, "tasks", "comments");
      const list = (body: object): Promise<Answer> => bob.call("POST", "/tasks/list", body);
      expect(await list(asked("project.tasks.project"))).toMatchObject(refused("projects.read"));
      const eve = await member(tenant, "tasks", "people");
      const denied = await eve.call("POST", "/tasks/list", asked("assignee.projects.owner"));
      expect(denied).toMatchObject(refused("projects.read"));
      // Drafts are seen by their owner alone, so nobody else learns who else names one.
      expect(await ann.titles(asked("draft.tasks.draft"))).toEqual(["one"]);
      const other = await member(tenant, ...everything);
      expect(await other.titles(asked("draft.tasks.draft"))).toEqual([]);
      expect((await ann.call("GET", `/tasks/${one}`)).body.draft).toBe(draft);
      const four = await ann.make("tasks", { title: "four", project: open });
      const named = { "project.tasks.project": { $values: { title: "four" } } };
      expect(await ann.titles({ filters: { $exists: named } })).toHaveLength(3);
      expect((await ann.call("POST", `/tasks/${four}/delete?rev=1`, {})).status).toBe(200);
      expect(await ann.titles({ filters: { $exists: named } })).toEqual([]);
    });

    test("who may not read the others gets nothing of them, by no way", async () => {
      const { tenant, one } = await furnished();
      const bob = await member(tenant, "tasks", "teams");
      const refused = (missing: string): object => ({
        status: 403,
        body: { code: "core.authorization", context: { missing } },
      });
      expect(await bob.call("GET", `/tasks/${one}`)).toMatchObject({ status: 200 });
      expect(await bob.call("GET", `/tasks/${one}?expand=project`)).toMatchObject(
        refused("projects.read"),
      );
      for (const body of [
        { expand: ["project"] },
        { filters: { $values: { "project.name": "Open" } } },
        {
          filters: {
            $or: [{ $values: { title: "x" } }, { $not: { $values: { "project.size": null } } }],
          },
        },
        { sorts: { "project.name": "asc" } },
      ])
        for (const path of ["/tasks/list", "/tasks/list_cursor", "/search/task_search/typed"])
          expect(await bob.call("POST", path, body)).toMatchObject(refused("projects.read"));
      const exists = { filters: { $exists: { "comments.task": {} } } };
      expect(await bob.call("POST", "/tasks/list", exists)).toMatchObject(refused("comments.read"));
      // Though he may read what is behind.
      const two = { expand: ["assignee.team"] };
      expect(await bob.call("POST", "/tasks/list", two)).toMatchObject(refused("people.read"));
    });

    test("scopes hold on the other side", async () => {
      const { tenant, ann, one } = await furnished();
      const eve = await member(tenant, ...everything);
      const { body } = await ann.call("GET", `/tasks/${one}?expand=draft`);
      expect(body.expanded.draft).toMatchObject({ text: "hush" });
      expect((await eve.call("GET", `/tasks/${one}?expand=draft`)).body.expanded).toEqual({
        draft: null,
      });
      const asked = { filters: { $values: { "draft.text": "hush" } } };
      expect(await ann.titles(asked)).toEqual(["one"]);
      expect(await eve.titles(asked)).toEqual([]);
      expect(
        await eve.titles({ filters: { $values: { "draft.text": null, title: "one" } } }),
      ).toEqual(["one"]);
      expect(await ann.titles({ sorts: { "draft.text": "desc", title: "asc" } })).toEqual([
        "one",
        "three",
        "two",
      ]);
      expect(await eve.titles({ sorts: { "draft.text": "desc", title: "desc" } })).toEqual([
        "two",
        "three",
        "one",
      ]);
    });

    test("neither tenants nor what is deleted can be seen through", async () => {
      const { ann, one, two, open } = await furnished();
      const other = await furnished();
      expect(await other.ann.titles({ filters: { $values: { "project.id": open } } })).toEqual([]);
      expect(await ann.titles({ filters: { $values: { "project.name": "Open" } } })).toHaveLength(
        2,
      );
      expect(
        (
          await ann.call(
            "DELETE",
            `/comments/${(await ann.call("POST", "/comments/list", { filters: { $values: { task: one } } })).body.hits[0].id}`,
          )
        ).status,
      ).toBe(204);
      expect(await ann.titles({ filters: { $exists: { "comments.task": {} } } })).toEqual(["two"]);
      const named = { filters: { $values: { text: "bad" } } };
      const [{ id: bad }] = (await ann.call("POST", "/comments/list", named)).body.hits;
      expect((await ann.call("DELETE", `/comments/${bad}`)).status).toBe(204);
      expect((await ann.call("POST", `/tasks/${two}/delete?rev=1`, {})).status).toBe(200);
      expect(await ann.titles({ filters: { $exists: { "tasks.parent": {} } } })).toEqual([]);
    });

    test("paths that lead nowhere, or to what is on no mount, are refused at their place", async () => {
      const { ann, one } = await furnished();
      const list = (body: object): Promise<Answer> => ann.call("POST", "/tasks/list", body);
      const nowhere = (path: string): object => ({
        status: 422,
        body: { code: "field_not_queryable", context: { path } },
      });
      expect(await list({ expand: ["project", "title"] })).toMatchObject(nowhere("/expand/1"));
      expect(await list({ expand: ["vault"] })).toMatchObject(nowhere("/expand/0"));
      expect(await list({ expand: ["constructor"] })).toMatchObject(nowhere("/expand/0"));
      expect(await ann.call("GET", `/tasks/${one}?expand=`)).toMatchObject(nowhere("/expand/0"));
      expect(await list({ filters: { $values: { "vault.text": "x" } } })).toMatchObject(
        nowhere("/filters/$values/vault.text"),
      );
      expect(await list({ filters: { $values: { "project.owner.name": "x" } } })).toMatchObject(
        nowhere("/filters/$values/project.owner.name"),
      );
      expect(await list({ filters: { $exists: { "tasks.project": {} } } })).toMatchObject(
        nowhere("/filters/$exists/tasks.project"),
      );
      for (const name of ["vault.tasks.vault", "title.tasks.project", "project.tasks.nope"])
        expect(await list({ filters: { $exists: { [name]: {} } } })).toMatchObject(
          nowhere(`/filters/$exists/${name}`),
        );
      expect(await list({ sorts: { "project.nope": "asc" } })).toMatchObject(
        nowhere("/sorts/project.nope"),
      );
      expect(await list({ expand: ["project.owner.team"] })).toMatchObject({
        status: 422,
        body: { code: "query_too_complex", context: { path: "/expand/0", limit: 2 } },
      });
      expect(await list({ expand: "project" })).toMatchObject({
        status: 422,
        body: { code: "core.validation" },
      });
      expect(await list({ filters: { $values: { "project.archived": "no" } } })).toMatchObject({
        status: 422,
        body: { code: "query_operator_type_mismatch" },
      });
      expect(await ann.call("GET", `/projects/${uuidv7()}?expand=owner`)).toMatchObject({
        status: 404,
      });
    });

    test("handlers ask and expand within what their operation may see", async () => {
      const { tenant } = await furnished();
      const bob = await member(tenant);
      expect((await bob.call("POST", "/overview", { project: "Open" })).body).toEqual({
        titles: ["one", "two"],
        owners: ["Olga", "Olga"],
      });
    });
  });
}
