// Ids that whoever creates a document may choose.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], member: [principal, tenant]}
identity: {}
tenancy: {}
documents:
  notes:
    type: {text: string, parent: {ref: "notes?"}}
    guard: open
    tenant: false
    id: client
    bulk: {max: 50}
    history: true
    soft_delete: true
    unique: [[text]]
    upsert: true
    idempotency: [create]
  mine: {type: {text: string}, guard: member, id: client}
  plain: {type: {text: string}, guard: open, tenant: false}
operations:
  notes.put: {post: /put, in: {id: uuid, text: string}, out: {id: uuid, code: "string?"}, run: registry/code.ts#put, guard: open}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const put = async ({ id, text }, context) => {
  const notes = collection(notesSpec, context);
  try {
    return { id: (await notes.create({ id, text })).id, code: null };
  } catch (error) {
    return { id, code: error.code };
  }
};
`,
};

onEachEngine(files, ({ service, people }) => {
  test("are taken as they are, once, in lower case", async () => {
    const id = randomUUID();
    const made = await service.post("/notes", { id: id.toUpperCase(), text: "one" });
    expect([made.status, made.body.id, made.body.rev]).toEqual([201, id, 1]);
    expect((await service.call("GET", `/notes/${id}`)).body).toMatchObject({ id, text: "one" });
    const again = await service.post("/notes", { id, text: "two" });
    expect([again.status, again.body.code, again.body.context]).toEqual([
      409,
      "unique_violation",
      { members: ["id"] },
    ]);
    expect((await service.post("/notes", { id: "one", text: "three" })).status).toBe(422);
    expect((await service.post("/notes", { text: "four" })).body.id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await service.call("PATCH", `/notes/${id}?rev=1`, { body: { id } })).status).toBe(422);
    expect((await service.post("/plain", { id, text: "five" })).status).toBe(422);
    const child = await service.post("/notes", { text: "child", parent: id });
    expect(child.body.parent).toBe(id);
    // One that is deleted still has it.
    await service.post(`/notes/${id}/delete?rev=1`, undefined);
    expect((await service.post("/notes", { id, text: "six" })).status).toBe(409);
  });

  test("in bulk, in handlers, and by upserts", async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const items = [
      { id: one, text: "b1" },
      { id: two, text: "b2" },
      { id: one, text: "b3" },
      { text: "b4" },
    ];
    const { outcomes } = (await service.post("/notes/create_many", { items })).body;
    expect(outcomes).toMatchObject([
      { document: { id: one } },
      { document: { id: two } },
      { error: { code: "unique_violation", context: { members: ["id"] } } },
      { document: { text: "b4" } },
    ]);
    expect((await service.post("/put", { id: one, text: "b5" })).body.code).toBe(
      "unique_violation",
    );
    const three = randomUUID();
    expect((await service.post("/put", { id: three, text: "b6" })).body).toEqual({
      id: three,
      code: null,
    });
    const upsert = (id: string, text: string) =>
      service.post("/notes/upsert", { by: ["text"], document: { id, text } });
    const four = randomUUID();
    expect((await upsert(four, "b7")).body).toMatchObject({ created: true, data: { id: four } });
    // There is one with this text: it keeps its id.
    expect((await upsert(randomUUID(), "b7")).body).toMatchObject({
      created: false,
      data: { id: four },
    });
  });

  test("of many who choose the same at once, one gets it; tenants don't meet", async () => {
    const id = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => service.post("/notes", { id, text: `race ${at}` })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)]);
    const [ann, bob] = [await people.member(""), await people.member("")];
    for (const who of [ann, bob])
      expect((await people.as(who.token, "POST", "/mine", { id, text: "x" })).status).toBe(201);
  });
});
