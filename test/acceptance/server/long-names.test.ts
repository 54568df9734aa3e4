// Names in SQL that are derived from long names: PostgreSQL has room for 63 bytes, and makes one of two that begin alike.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const document = "documents_of_a_department_whose_name_nobody_would_ever_wish";
const [a, b, c] = ["a", "b", "c"].map((letter) => `field_${letter.repeat(50)}`);
const search = `search_of_${document}`;

const registry = (unique: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  ${document}:
    type: {${a}: string, ${b}: string, ${c}: string?, of: {ref: ${document}?}}
    guard: open
    mount: {at: /notes}
    tenant: false
    soft_delete: true
    history: {revisions: true}
    retention: {deleted: 90d}
    upsert: true
    indexes: [[${b}, ${a}], [${b}, ${c}]]
    unique: [${unique}]
search:
  ${search}: {of: ${document}, text: [${a}], language: en, guard: open, mount: {at: /found}}
`,
});

/** The names of tables and indexes that the migrations of an engine make. */
function namesMade({ root }: TestProject, engine: string): readonly string[] {
  const folder = join(root, "generated/migrations", engine);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  return [...texts.join("\n").matchAll(/CREATE (?:[A-Z]+ )+"([^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
}

describe.each(engines.filter(({ isAvailable }) => isAvailable))("$name", (engine) => {
  test("names in SQL that would be too long are shortened, and stay different", async () => {
    const first = await testProject(registry(`[${a}, ${b}], {fields: [${a}, ${c}]}`));
    onTestFinished(() => first.remove());
    // Its index has to hold until another of the same wanted name has replaced it.
    const second = await testProject(
      registry(`[${a}, ${b}], {fields: [${a}, ${c}], where: not_deleted}`),
      first,
    );
    onTestFinished(() => second.remove());
    const made = namesMade(second, engine.name.toLowerCase());
    expect(made.filter((name) => Buffer.byteLength(name) > 63)).toEqual([]);
    expect(made.filter((name, at) => made.indexOf(name) < at)).toEqual([]);

    const { same, drop } = await sharedDatabase(engine);
    onTestFinished(drop);
    const before = await first.start(same);
    const { body: created } = await before.post("/notes", { [`${a}`]: "rivers", [`${b}`]: "x" });
    const taken = await before.post("/notes", { [`${a}`]: "rivers", [`${b}`]: "x" });
    expect(taken).toMatchObject({ status: 409, body: { context: { members: [a, b] } } });
    await before.stop();

    const service = await second.start(same);
    onTestFinished(() => service.stop());
    const path = `/notes/${created.id}`;
    const changed = await service.call("PATCH", `${path}?rev=1`, { body: { [`${b}`]: "y" } });
    expect(changed.body).toMatchObject({ data: { [`${b}`]: "y", rev: 2 } });
    const { body: past } = await service.call("GET", `${path}/revisions`);
    expect(past).toMatchObject({ hits: [{ rev: 2 }, { rev: 1 }] });
    expect((await service.post("/found/typed", { query: "river" })).body).toMatchObject({
      count: 1,
    });
    const other = { [`${a}`]: "rats", [`${b}`]: "x", [`${c}`]: "z" };
    const doomed = await service.post("/notes", other);
    expect((await service.post("/notes", { ...other, [`${b}`]: "y" })).status).toBe(409);
    expect((await service.call("DELETE", `/notes/${doomed.body.id}?rev=1`)).status).toBe(204);
    expect((await service.post("/notes", { ...other, [`${b}`]: "y" })).status).toBe(201);
  });
});
