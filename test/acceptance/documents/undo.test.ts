// Restoring a document undoes its deletion: what went along comes back, and what was left without it
// names it again.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], nobody: [hidden]}
hooks: {hidden: {run: registry/code.ts#hidden, phase: before}}
audit: {guard: open}
documents:
  projects: {type: {name: string}, guard: open, tenant: false, soft_delete: true, history: true}
  stages: {type: {name: string, project: {ref: projects, on_delete: cascade}}, guard: open, tenant: false, soft_delete: {list_deleted: true}}
  tasks:
    type:
      title: string
      slug: string?
      stage: {ref: stages, on_delete: cascade}
      project: {ref: projects?, on_delete: set_null}
      parent: {ref: tasks?, on_delete: cascade}
    guard: open
    tenant: false
    soft_delete: {list_deleted: true}
    unique: [{fields: [slug], where: not_deleted}]
  labels: {type: {name: string, task: {ref: tasks?, on_delete: set_null}, project: {ref: projects?, on_delete: set_null}}, guard: open, tenant: false}
  authors: {type: {name: string}, guard: open, tenant: false, soft_delete: true}
  books: {type: {title: string, author: {ref: authors}}, guard: open, tenant: false, soft_delete: true}
  covers: {type: {book: {ref: books, on_delete: cascade}}, guard: open, tenant: false, soft_delete: true}
  boards: {type: {project: {ref: projects, on_delete: cascade}}, guard: open, tenant: false, soft_delete: true, id: client}
  pins: {type: {board: {ref: boards?, on_delete: set_null}}, guard: open, tenant: false}
  people: {type: {name: string}, guard: open, tenant: false, soft_delete: true}
  turns:
    type: {begins: date-time, ends: date-time, of: {ref: people, on_delete: cascade}, skipped_by: {ref: people?, on_delete: set_null}}
    guard: open
    tenant: false
    soft_delete: true
    no_overlap: {range: [begins, ends], where: {skipped_by: [null]}}
  secrets: {type: {code: string, of: {ref: people, on_delete: cascade}}, guard: {read: nobody, write: open}, tenant: false, soft_delete: true, unique: [{fields: [code], where: not_deleted}]}
  notes: {type: {text: string, book: {ref: books?, on_delete: set_null}}, guard: open, tenant: false, soft_delete: true, id: client}
operations:
  projects.undo: {post: /undo, in: {id: uuid}, out: {name: string}, run: registry/code.ts#undo, guard: open}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { fail } from "opwright/runtime";
import { projectsSpec } from "../generated/documents/projects.js";
export const hidden = () => {
  throw fail("core.authorization");
};
export const undo = async ({ id }, context) => {
  const projects = collection(projectsSpec, context);
  await projects.delete(id, "any");
  return projects.restore(id, "any");
};
`,
};

interface Entry {
  readonly change: string;
  readonly details: object;
}
const any = { "If-Match": "*" };

onEachEngine(files, ({ service }) => {
  const made = async (kind: string, body: object): Promise<string> => {
    const answer = await service.post(`/${kind}`, body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([201, expect.anything()]);
    return answer.body.id;
  };
  const read = async (kind: string, id: string) =>
    (await service.call("GET", `/${kind}/${id}`)).body;
  const seen = async (kind: string, ...ids: string[]): Promise<number[]> =>
    Promise.all(ids.map(async (id) => (await service.call("GET", `/${kind}/${id}`)).status));
  const deleted = (kind: string, id: string): Promise<Answer> =>
    service.call("POST", `/${kind}/${id}/delete`, { headers: any });
  const restored = (kind: string, id: string): Promise<Answer> =>
    service.call("POST", `/${kind}/${id}/restore`, { headers: any });
  const killed = (kind: string, id: string): Promise<Answer> =>
    service.call("DELETE", `/${kind}/${id}`);
  const patched = (kind: string, id: string, body: object): Promise<Answer> =>
    service.call("PATCH", `/${kind}/${id}`, { body, headers: any });

  test("what went along comes back, at every depth, and what was deleted apart does not", async () => {
    const project = await made("projects", { name: "home" });
    const stage = await made("stages", { name: "first", project });
    const task = await made("tasks", { title: "root", stage });
    const child = await made("tasks", { title: "child", stage, parent: task });
    const apart = await made("tasks", { title: "apart", stage });
    expect((await deleted("tasks", apart)).status).toBe(200);
    expect((await deleted("projects", project)).status).toBe(200);
    expect(await seen("tasks", task, child, apart)).toEqual([404, 404, 404]);
    expect((await restored("projects", project)).body).toMatchObject({ name: "home", rev: 3 });
    expect(await seen("stages", stage)).toEqual([200]);
    expect(await seen("tasks", task, child, apart)).toEqual([200, 200, 404]);
    expect(await read("tasks", child)).toMatchObject({ rev: 3, parent: task, is_deleted: false });
    expect((await restored("tasks", apart)).status).toBe(200);
    // Each of the two is told, with what it happened for.
    const { entries } = (await service.call("GET", `/audit?resource=tasks&resource_id=${child}`))
      .body;
    expect(entries.map(({ change, details }: Entry) => [change, details])).toEqual([
      ["restore", { with: { document: "projects", id: project } }],
      ["delete", { with: { document: "projects", id: project } }],
      ["create", {}],
    ]);
  });

  test("what was left without it names it again, unless it names another by now", async () => {
    const project = await made("projects", { name: "home" });
    const other = await made("projects", { name: "other" });
    const stage = await made("stages", { name: "first", project: other });
    const [back, moved, gone] = [
      await made("labels", { name: "red", project }),
      await made("labels", { name: "blue", project }),
      await made("labels", { name: "green", project }),
    ];
    const task = await made("tasks", { title: "a", stage, project });
    expect((await deleted("projects", project)).status).toBe(200);
    expect((await read("labels", back)).project).toBeNull();
    await patched("labels", moved, { project: other });
    expect((await killed("labels", gone)).status).toBe(204);
    expect((await deleted("tasks", task)).status).toBe(200);
    expect((await restored("projects", project)).status).toBe(200);
    expect(await read("labels", back)).toMatchObject({ rev: 3, project });
    expect((await read("labels", moved)).project).toBe(other);
    // Also what is deleted itself.
    expect((await restored("tasks", task)).body.project).toBe(project);
  });

  test("what went along with a document in between, and names that one, finds it again", async () => {
    const project = await made("projects", { name: "home" });
    const stage = await made("stages", { name: "first", project });
    const task = await made("tasks", { title: "a", stage });
    const label = await made("labels", { name: "red", task });
    await deleted("projects", project);
    expect((await read("labels", label)).task).toBeNull();
    await restored("projects", project);
    expect((await read("labels", label)).task).toBe(task);
  });

  test("documents that name each other come back together", async () => {
    const project = await made("projects", { name: "home" });
    const stage = await made("stages", { name: "first", project });
    const one = await made("tasks", { title: "one", stage });
    const two = await made("tasks", { title: "two", stage, parent: one });
    expect((await patched("tasks", one, { parent: two })).status).toBe(200);
    expect((await deleted("tasks", one)).status).toBe(200);
    expect(await seen("tasks", one, two)).toEqual([404, 404]);
    expect((await restored("tasks", one)).status).toBe(200);
    expect(await seen("tasks", one, two)).toEqual([200, 200]);
  });

  test("it is undone as a whole, or not at all, and says what stands against it", async () => {
    const project = await made("projects", { name: "home" });
    const stage = await made("stages", { name: "first", project });
    const first = await made("tasks", { title: "free", stage });
    const task = await made("tasks", { title: "a", slug: "mine", stage });
    await deleted("projects", project);
    const elsewhere = await made("stages", {
      name: "x",
      project: await made("projects", { name: "y" }),
    });
    const rival = await made("tasks", { title: "b", slug: "mine", stage: elsewhere });
    expect(await restored("projects", project)).toMatchObject({
      status: 409,
      body: {
        code: "restore_refused",
        kind: "conflict",
        context: {
          document: "tasks",
          id: task,
          error: { code: "unique_violation", context: { members: ["slug"] } },
        },
      },
    });
    expect(await seen("projects", project)).toEqual([404]);
    expect(await seen("tasks", first)).toEqual([404]);
    await patched("tasks", rival, { slug: null });
    expect((await restored("projects", project)).status).toBe(200);
    expect(await seen("tasks", first, task)).toEqual([200, 200]);
    // Or who stands in the way goes for good.
    await deleted("projects", project);
    await patched("tasks", rival, { slug: "mine" });
    expect((await killed("tasks", task)).status).toBe(204);
    expect((await restored("projects", project)).status).toBe(200);
    expect(await seen("tasks", first)).toEqual([200]);
  });

  test("a second deletion is undone as it was, not as the first", async () => {
    const project = await made("projects", { name: "home" });
    const [one, two] = [
      await made("stages", { name: "one", project }),
      await made("stages", { name: "two", project }),
    ];
    await deleted("projects", project);
    await restored("projects", project);
    await deleted("stages", one);
    await deleted("projects", project);
    await restored("projects", project);
    expect(await seen("stages", one, two)).toEqual([404, 200]);
  });

  test("what can be restored keeps what it refers to", async () => {
    const author = await made("authors", { name: "Ada" });
    const book = await made("books", { title: "Notes", author });
    await deleted("books", book);
    expect(await killed("authors", author)).toMatchObject({
      status: 409,
      body: { code: "reference_in_use", context: { document: "books", member: "author" } },
    });
    // Both can come back.
    expect((await deleted("authors", author)).status).toBe(200);
    expect((await restored("books", book)).status).toBe(422);
    expect((await restored("authors", author)).status).toBe(200);
    expect((await restored("books", book)).status).toBe(200);
    await deleted("books", book);
    expect((await killed("books", book)).status).toBe(204);
    expect((await killed("authors", author)).status).toBe(204);
  });

  test("an id that was killed and is another's by now gets nothing back", async () => {
    const book = await made("books", { title: "x", author: await made("authors", { name: "B" }) });
    const note = await made("notes", { text: "old", book });
    await deleted("books", book);
    await killed("notes", note);
    await service.post("/notes", { id: note, text: "new" });
    await restored("books", book);
    expect(await read("notes", note)).toMatchObject({ text: "new", book: null, rev: 1 });
  });

  test("nor does another document with the id of one that was named", async () => {
    const [project, other] = [
      await made("projects", { name: "home" }),
      await made("projects", { name: "other" }),
    ];
    const board = await made("boards", { project });
    const pin = await made("pins", { board });
    await deleted("projects", project);
    expect((await killed("boards", board)).status).toBe(204);
    expect((await service.post("/boards", { id: board, project: other })).status).toBe(201);
    await restored("projects", project);
    expect((await read("pins", pin)).board).toBeNull();
  });

  test("whoever has written a reference since has the last word", async () => {
    const [one, two] = [
      await made("projects", { name: "one" }),
      await made("projects", { name: "two" }),
    ];
    const label = await made("labels", { name: "red", project: one });
    await deleted("projects", one);
    await patched("labels", label, { project: two });
    await deleted("projects", two);
    await restored("projects", one);
    expect((await read("labels", label)).project).toBeNull();
    await restored("projects", two);
    expect((await read("labels", label)).project).toBe(two);
    await deleted("projects", two);
    await patched("labels", label, { project: one });
    await patched("labels", label, { project: null });
    await restored("projects", two);
    expect((await read("labels", label)).project).toBeNull();
  });

  test("what comes back is judged as it was", async () => {
    const person = await made("people", { name: "Ada" });
    const range = { begins: "2030-01-01T00:00:00Z", ends: "2030-01-02T00:00:00Z" };
    const turn = await made("turns", { ...range, of: person, skipped_by: person });
    await deleted("people", person);
    const rival = await made("people", { name: "Bob" });
    await made("turns", { ...range, of: rival });
    expect((await restored("people", person)).status).toBe(200);
    expect(await read("turns", turn)).toMatchObject({ skipped_by: person, of: person });
  });

  test("what the caller may not see is not told", async () => {
    const person = await made("people", { name: "Ada" });
    await made("secrets", { of: person, code: "x" });
    await deleted("people", person);
    await made("secrets", { of: await made("people", { name: "Bob" }), code: "x" });
    const { status, body } = await restored("people", person);
    expect([status, body.context]).toEqual([
      409,
      {
        document: "secrets",
        error: { code: "unique_violation", context: { members: ["code"] } },
      },
    ]);
  });

  test("restores, deletions and whoever writes to the others wait for each other", async () => {
    const project = await made("projects", { name: "home" });
    const stages: string[] = [];
    for (let at = 0; at < 12; at += 1)
      stages.push(await made("stages", { name: `${at}`, project }));
    const labels: string[] = [];
    for (let at = 0; at < 12; at += 1)
      labels.push(await made("labels", { name: `${at}`, project }));
    for (let round = 0; round < 4; round += 1) {
      expect((await deleted("projects", project)).status).toBe(200);
      const gone = stages.splice(0, 2);
      const answers = await Promise.all([
        restored("projects", project),
        ...gone.map((id) => killed("stages", id)),
        ...labels.map((id) => patched("labels", id, { name: `round ${round}` })),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 204]));
      expect(await seen("stages", ...gone, ...stages)).toEqual([
        ...gone.map(() => 404),
        ...stages.map(() => 200),
      ]);
      const named = await Promise.all(labels.map((id) => read("labels", id)));
      expect(new Set(named.map((one) => one.project))).toEqual(new Set([project]));
    }
  });

  test("handlers undo in one transaction", async () => {
    const project = await made("projects", { name: "home" });
    const stage = await made("stages", { name: "first", project });
    const label = await made("labels", { name: "red", project });
    expect((await service.post("/undo", { id: project })).body).toEqual({ name: "home" });
    expect(await read("stages", stage)).toMatchObject({ rev: 3, is_deleted: false });
    expect((await read("labels", label)).project).toBe(project);
  });

  test("many at once go and come back as one does", async () => {
    const project = await made("projects", { name: "home" });
    const stages = [];
    for (let at = 0; at < 40; at += 1)
      stages.push(await made("stages", { name: `${at}`, project }));
    await deleted("projects", project);
    expect(new Set(await seen("stages", ...stages))).toEqual(new Set([404]));
    await restored("projects", project);
    expect(new Set(await seen("stages", ...stages))).toEqual(new Set([200]));
  });
});
