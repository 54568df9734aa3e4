// Fields that name other documents: what they name is there, stays so, and says what becomes of them when it goes.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  projects: {type: {name: string}, guard: open, tenant: false, soft_delete: true}
  tasks:
    type:
      title: string
      project: {ref: projects}
      parent: {ref: tasks?, on_delete: cascade}
    guard: open
    tenant: false
    soft_delete: true
    history: true
  comments:
    type: {text: string, task: {ref: tasks, on_delete: cascade}}
    guard: open
    tenant: false
    soft_delete: true
  labels: {type: {name: string, task: {ref: tasks?, on_delete: set_null}}, guard: open, tenant: false}
  posts: {type: {text: string}, guard: open, tenant: false}
  replies: {type: {post: {ref: posts, on_delete: cascade}, reply: {ref: replies?, on_delete: cascade}}, guard: open, tenant: false}
  customers: {type: {name: string}, guard: open, tenant: false}
  invoices: {type: {customer: {ref: customers, on_delete: cascade}}, guard: open, tenant: false}
  alines: {type: {invoice: {ref: invoices, on_delete: cascade}, customer: {ref: customers}}, guard: open, tenant: false}
  firms: {type: {name: string}, guard: open, tenant: false}
  offices: {type: {firm: {ref: firms, on_delete: cascade}}, guard: open, tenant: false}
  rooms: {type: {office: {ref: offices}, firm: {ref: firms, on_delete: cascade}}, guard: open, tenant: false}
  counters: {type: {children: integer}, guard: open, tenant: false}
  children: {type: {counter: {ref: counters}}, guard: open, tenant: false}
  people: {type: {name: string}, guard: open, tenant: false}
  badges: {type: {person: {ref: people, on_delete: cascade}}, guard: open, tenant: false}
  keys: {type: {person: {ref: people, on_delete: restrict}}, guard: open, tenant: false}
operations:
  children.add: {post: /children/add, in: {counter: uuid}, run: registry/handlers.ts#add, guard: open}
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { childrenSpec } from "../generated/documents/children.js";
import { countersSpec } from "../generated/documents/counters.js";
export const add = async ({ counter }, context) => {
  await collection(childrenSpec, context).create({ counter });
  const counters = collection(countersSpec, context);
  const { children } = await counters.get(counter);
  await counters.update(counter, "any", { children: children + 1 });
};
`,
};

const inUse = (document: string, member: string): object => ({
  status: 409,
  body: { code: "reference_in_use", kind: "conflict", context: { document, member } },
});

onEachEngine(files, ({ service }) => {
  const made = async (kind: string, body: object): Promise<string> => {
    const answer = await service.post(`/${kind}`, body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([201, expect.anything()]);
    return answer.body.id;
  };
  const seen = async (kind: string, id: string): Promise<number> =>
    (await service.call("GET", `/${kind}/${id}`)).status;
  const marked = (kind: string, id: string, rev = 1): Promise<Answer> =>
    service.post(`/${kind}/${id}/delete?rev=${rev}`, {});
  const killed = (kind: string, id: string): Promise<Answer> =>
    service.call("DELETE", `/${kind}/${id}`);
  const leadsNowhere = (member: string, document: string): object => ({
    status: 422,
    body: {
      code: "core.validation",
      context: {
        errors: [{ path: `/${member}`, keyword: "ref", message: `names none of the ${document}` }],
      },
    },
  });

  test("what leads nowhere is refused at its place, in creates, patches and restores", async () => {
    expect(await service.post("/tasks", { title: "a", project: uuidv7() })).toMatchObject(
      leadsNowhere("project", "projects"),
    );
    const home = await made("projects", { name: "home" });
    const id = await made("tasks", { title: "a", project: home });
    const patch = (body: object, rev: number): Promise<Answer> =>
      service.call("PATCH", `/tasks/${id}?rev=${rev}`, { body });
    expect(await patch({ parent: home }, 1)).toMatchObject(leadsNowhere("parent", "tasks"));
    expect(await patch({ title: "b" }, 1)).toMatchObject({ status: 200 });
    expect(await patch({ parent: id }, 2)).toMatchObject({ status: 200 });
    expect(await patch({ parent: null }, 3)).toMatchObject({ status: 200 });
    // What is deleted is not there.
    expect((await marked("tasks", id, 4)).status).toBe(200);
    expect((await marked("projects", home)).status).toBe(200);
    expect(await service.post("/tasks", { title: "c", project: home })).toMatchObject(
      leadsNowhere("project", "projects"),
    );
    expect(await service.post(`/tasks/${id}/restore?rev=5`, {})).toMatchObject(
      leadsNowhere("project", "projects"),
    );
    await service.post(`/projects/${home}/restore?rev=2`, {});
    expect((await service.post(`/tasks/${id}/restore?rev=5`, {})).status).toBe(200);
  });

  test("what is named stays where that is restricted", async () => {
    const home = await made("projects", { name: "home" });
    const id = await made("tasks", { title: "a", project: home });
    expect(await marked("projects", home)).toMatchObject(inUse("tasks", "project"));
    expect(await killed("projects", home)).toMatchObject(inUse("tasks", "project"));
    expect(await seen("projects", home)).toBe(200);
    expect((await killed("tasks", id)).status).toBe(204);
    expect((await killed("projects", home)).status).toBe(204);
  });

  test("what names it goes along, and what may is left without it, at every depth", async () => {
    const home = await made("projects", { name: "home" });
    const task = await made("tasks", { title: "root", project: home });
    const child = await made("tasks", { title: "child", project: home, parent: task });
    const comment = await made("comments", { text: "on the child", task: child });
    const label = await made("labels", { name: "red", task });
    expect((await marked("tasks", task)).status).toBe(200);
    expect([await seen("tasks", child), await seen("comments", comment)]).toEqual([404, 404]);
    expect((await service.call("GET", `/labels/${label}`)).body).toMatchObject({
      rev: 2,
      task: null,
    });
    // They come back with what they went with.
    expect((await service.post(`/comments/${comment}/restore?rev=2`, {})).status).toBe(422);
    expect((await service.post(`/tasks/${task}/restore?rev=2`, {})).status).toBe(200);
    expect([await seen("tasks", child), await seen("comments", comment)]).toEqual([200, 200]);
    expect((await service.call("GET", `/labels/${label}`)).body).toMatchObject({ rev: 3, task });
    expect((await killed("tasks", task)).status).toBe(204);
    expect((await service.post(`/comments/${comment}/restore?rev=3`, {})).status).toBe(404);
  });

  test("where one of them restricts it, nothing of it has happened", async () => {
    const person = await made("people", { name: "Ada" });
    const badge = await made("badges", { person });
    await made("keys", { person });
    expect(await killed("people", person)).toMatchObject(inUse("keys", "person"));
    expect([await seen("people", person), await seen("badges", badge)]).toEqual([200, 200]);
  });

  test("what is named on two ways goes once, and what goes along holds nothing back", async () => {
    const post = await made("posts", { text: "p" });
    const first = await made("replies", { post });
    const second = await made("replies", { post, reply: first });
    expect((await killed("posts", post)).status).toBe(204);
    expect([await seen("replies", first), await seen("replies", second)]).toEqual([404, 404]);
    const customer = await made("customers", { name: "c" });
    const invoice = await made("invoices", { customer });
    await made("alines", { invoice, customer });
    expect((await killed("customers", customer)).status).toBe(204);
    expect(await seen("invoices", invoice)).toBe(404);
    const firm = await made("firms", { name: "f" });
    const office = await made("offices", { firm });
    const room = await made("rooms", { office, firm });
    expect(await killed("offices", office)).toMatchObject(inUse("rooms", "office"));
    expect((await killed("firms", firm)).status).toBe(204);
    expect([await seen("offices", office), await seen("rooms", room)]).toEqual([404, 404]);
  });

  test("what names itself can be restored", async () => {
    const home = await made("projects", { name: "home" });
    const id = await made("tasks", { title: "loop", project: home });
    await service.call("PATCH", `/tasks/${id}?rev=1`, { body: { parent: id } });
    expect((await marked("tasks", id, 2)).status).toBe(200);
    expect((await service.post(`/tasks/${id}/restore?rev=3`, {})).status).toBe(200);
  });

  test("writers that name a document and change it wait for each other, and nobody is turned away", async () => {
    const counter = await made("counters", { children: 0 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => service.post("/children/add", { counter })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 204));
    expect((await service.call("GET", `/counters/${counter}`)).body.children).toBeGreaterThan(0);
  });

  test("of parallel writers and deletions none leaves a name that leads nowhere", async () => {
    const rounds = Array.from({ length: 12 }, async () => {
      const person = await made("people", { name: "Bob" });
      const writers = Array.from({ length: 6 }, () => service.post("/badges", { person }));
      const [gone, ...answers] = await Promise.all([killed("people", person), ...writers]);
      expect([204, 409]).toContain(gone?.status);
      for (const { status } of answers) expect([201, 422, 409]).toContain(status);
    });
    await Promise.all(rounds);
    const badges = await service.post("/badges/list", { size: 100 });
    for (const { person } of badges.body.hits) expect(await seen("people", person)).toBe(200);
  });

  test("one deletion takes along no more than it may", async () => {
    const person = await made("people", { name: "Crowd" });
    for (let at = 0; at < 1_001; at += 77)
      await Promise.all(
        Array.from({ length: Math.min(77, 1_001 - at) }, () => made("badges", { person })),
      );
    expect(await killed("people", person)).toMatchObject({
      status: 409,
      body: { code: "reference_in_use", context: { document: "badges", limit: 1_000 } },
    });
  });
});
