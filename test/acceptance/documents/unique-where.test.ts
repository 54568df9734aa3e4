// Unique rules that are about some documents: one active plan for each customer, one default.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const head = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
`;

const files = {
  "registry/service.yaml": `${head}documents:
  plans:
    type:
      customer: string
      status: [pending, active, ended]
      parent: uuid?
      is_default: boolean
      day: date?
      at: date-time?
      size: number?
    defaults: {status: pending, is_default: false}
    unique:
      - {fields: [customer], where: {status: [active, pending]}}
      - {fields: [is_default], where: {is_default: [true], is_deleted: [false]}}
      - {fields: [customer, day], where: {parent: [null]}}
      - {fields: [at], where: {at: ["2026-01-01T00:00:00Z"]}}
      - {fields: [size], where: {size: [1.5, 2]}}
    guard: open
    tenant: false
    soft_delete: true
    bulk: {max: 50}
`,
};

onEachEngine(files, ({ service }) => {
  const make = async (body: object) => {
    const { status, body: answer } = await service.post("/plans", body);
    return { status, id: answer.id, members: answer.context?.members };
  };
  const change = async (id: string, patch: object) => {
    const { body } = await service.call("GET", `/plans/${id}`);
    const answer = await service.call("PATCH", `/plans/${id}?rev=${body.rev}`, { body: patch });
    return [answer.status, answer.body.context?.members];
  };

  test("it counts documents whose fields have one of the values", async () => {
    const first = await make({ customer: "ada" });
    expect(await make({ customer: "ada", status: "active" })).toMatchObject({
      status: 409,
      members: ["customer"],
    });
    const ended = await make({ customer: "ada", status: "ended", day: "2026-01-01" });
    expect(ended.status).toBe(201);
    // What was free of it comes under it by its other fields.
    expect(await change(ended.id, { status: "active" })).toEqual([409, ["customer"]]);
    expect(await change(first.id, { status: "ended" })).toEqual([200, undefined]);
    expect(await change(ended.id, { status: "active" })).toEqual([200, undefined]);
  });

  test("null and booleans are values, and deleted documents may be left out", async () => {
    const standard = await make({ customer: "b1", is_default: true });
    expect((await make({ customer: "b2", is_default: true })).members).toEqual(["is_default"]);
    expect((await make({ customer: "b3" })).status).toBe(201);
    expect((await make({ customer: "b4" })).status).toBe(201);
    await service.call("POST", `/plans/${standard.id}/delete?rev=1`);
    const next = await make({ customer: "b2", is_default: true });
    expect(next.status).toBe(201);
    const back = await service.call("POST", `/plans/${standard.id}/restore?rev=2`);
    expect([back.status, back.body.context.members]).toEqual([409, ["is_default"]]);
    const day = "2026-05-05";
    const parent = standard.id;
    expect((await make({ customer: "c", status: "ended", day })).status).toBe(201);
    expect((await make({ customer: "c", status: "ended", day })).members).toEqual([
      "customer",
      "day",
    ]);
    for (let copies = 0; copies < 2; copies += 1)
      expect((await make({ customer: "c", status: "ended", day, parent })).status).toBe(201);
  });

  test("times and numbers are compared as they are stored", async () => {
    const make2 = (more: object) => make({ customer: "d", status: "ended", ...more });
    expect((await make2({ at: "2026-01-01T01:00:00+01:00" })).status).toBe(201);
    expect((await make2({ at: "2026-01-01T00:00:00.000Z" })).members).toEqual(["at"]);
    for (let copies = 0; copies < 2; copies += 1) {
      expect((await make2({ at: "2026-01-02T00:00:00Z" })).status).toBe(201);
      expect((await make2({ size: 3 })).status).toBe(201);
    }
    for (const size of [1.5, 2]) {
      expect((await make2({ size })).status).toBe(201);
      expect((await make2({ size })).members).toEqual(["size"]);
    }
  });

  test("one of fifty writers wins, alone and in bulk", async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => make({ customer: "race" })));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    const items = Array.from({ length: 20 }, (_, at) => ({
      customer: "bulk",
      status: at % 2 === 0 ? "active" : "ended",
    }));
    const many = await service.post("/plans/create_many", { items });
    expect([many.body.done, many.body.failed]).toEqual([11, 9]);
  });
});

const notes = (unique: string, done = "done") => ({
  "registry/service.yaml": `${head}documents: {notes: {type: {title: string, state: [open, ${done}]}, guard: open, tenant: false, ${unique}}}\n`,
});

test.each(engines.filter(({ isAvailable }) => isAvailable))(
  "it comes with a migration, and survives another name of its value: $name",
  async (engine) => {
    const { same, drop } = await sharedDatabase(engine);
    const before = await testProject(notes("bulk: {max: 5}"));
    const after = await testProject(
      notes("unique: [{fields: [title], where: {state: [done]}}]"),
      before,
    );
    const renamed = await testProject(
      notes("unique: [{fields: [title], where: {state: [closed]}}]", "{value: closed, was: done}"),
      after,
    );
    try {
      const old = await before.start(same);
      const made = [];
      for (const state of ["open", "open", "done", "done"])
        made.push((await old.post("/notes", { title: "a", state })).body.id);
      await expect(after.start(same)).rejects.toMatchObject({ code: "core.configuration" });
      await old.call("DELETE", `/notes/${made[3]}`);
      const next = await after.start(same);
      const refused = { status: 409, body: { code: "unique_violation" } };
      expect(await next.post("/notes", { title: "a", state: "done" })).toMatchObject(refused);
      expect((await next.post("/notes", { title: "a", state: "open" })).status).toBe(201);
      const last = await renamed.start(same);
      expect(await last.post("/notes", { title: "a", state: "closed" })).toMatchObject(refused);
      expect((await last.post("/notes", { title: "b", state: "closed" })).status).toBe(201);
      expect(await last.post("/notes", { title: "b", state: "closed" })).toMatchObject(refused);
      expect((await last.post("/notes", { title: "b", state: "open" })).status).toBe(201);
      await Promise.all([old.stop(), next.stop(), last.stop()]);
    } finally {
      for (const project of [before, after, renamed]) project.remove();
      await drop();
    }
  },
);

test.each([
  ["{state: [gone]}", "OPW031"],
  ["{mood: [good]}", "OPW030"],
  ["{is_deleted: [true]}", "OPW034"],
  ['{title: ["a\\nb"]}', "OPW034"],
])("`check` refuses %s", async (where, code) => {
  await expect(testProject(notes(`unique: [{fields: [title], where: ${where}}]`))).rejects.toThrow(
    code,
  );
});

test("two rules over the same fields, about other documents, have indexes of their own", async () => {
  const project = await testProject(
    notes(
      "unique: [{fields: [title], where: {state: [open]}}, {fields: [title], where: {state: [done]}}]",
    ),
  );
  const text = readFileSync(join(project.root, "generated/documents/notes.ts"), "utf8");
  expect(text.match(/notes_unique_title_where_[0-9a-f]{8}/g)).toHaveLength(2);
  project.remove();
});

const person = (more: string) => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
identity: {methods: [token]}
documents: {notes: {type: {nick: string, phone: string?, state: [open, closed]}, guard: open, ${more}}}
`,
});

test.each([
  "key: nick, personal: {nick: gone}",
  "unique: [{fields: [state], where: {phone: [null]}}], personal: [phone]",
])("`check` refuses what two who are erased could not both have: %s", async (more) => {
  await expect(testProject(person(more))).rejects.toThrow("OPW110");
});
