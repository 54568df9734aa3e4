// `extends:` of a type: it has the fields and conditions of another one as well, wherever it is used.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const service = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
`;
const files = {
  "registry/service.yaml": `${service}types:
  Person: {extends: Named, born: date?, boss: {ref: people?}}
  Named: Party
  Party:
    type: object
    description: Somebody.
    properties: {name: {type: string, minLength: 2}, email: {type: [string, "null"]}}
    required: [name]
    additionalProperties: false
    if: {properties: {name: {pattern: "^Dr"}}}
    then: {properties: {email: {type: string}}}
documents:
  parties: {type: Party, guard: open, tenant: false}
  people: {type: Person, guard: open, tenant: false, soft_delete: true, unique: [[name]]}
  leads:
    type:
      extends: Person
      level: integer
      extra: string?
      if: {properties: {level: {minimum: 10}}}
      then: {properties: {extra: {type: string}}}
    defaults: {level: 1}
    guard: open
    tenant: false
operations:
  demo.greet: {post: /greet, in: {extends: Party, words: string}, out: {extends: Party, said: string}, run: registry/greet.ts#greet, guard: open}
`,
  "registry/greet.ts": `export const greet = ({ words, ...party }) => ({ ...party, said: words + " " + party.name });\n`,
};

const project = onEachEngine(files, ({ service: running }) => {
  const faults = (body: { context: { errors: readonly { path: string }[] } }) =>
    body.context.errors.map(({ path }) => path).sort();

  test("documents have the fields of both, and queries ask for them", async () => {
    const boss = await running.post("/people", { name: "Ada" });
    const { status, body } = await running.post("/people", { name: "Eve", boss: boss.body.id });
    expect(status).toBe(201);
    const row = (await running.call("GET", `/people/${body.id}`)).body;
    expect(row).toMatchObject({ name: "Eve", email: null, born: null, boss: boss.body.id });
    const asked = {
      filters: { $values: { name: "Eve", boss: boss.body.id } },
      sorts: { born: "asc" },
    };
    const { hits } = (await running.post("/people/list", asked)).body;
    expect(hits.map(({ id }: { id: string }) => id)).toEqual([body.id]);
    expect((await running.post("/people", { name: "Eve" })).body.code).toBe("unique_violation");
    expect((await running.post("/parties", { name: "Eve", born: null })).status).toBe(422);
  });

  test("the rules of both hold", async () => {
    expect(faults((await running.post("/leads", { name: "x", level: "y" })).body)).toEqual([
      "/level",
      "/name",
    ]);
    expect(faults((await running.post("/people", { name: "Dr X" })).body)).toEqual(["/email"]);
    const all = { name: "Dr X", level: 10 };
    expect(faults((await running.post("/leads", all)).body)).toEqual(["/email", "/extra"]);
    const made = await running.post("/leads", { ...all, email: "a", extra: "b" });
    expect([made.status, made.body.rev]).toEqual([201, 1]);
    const patched = await running.call("PATCH", `/leads/${made.body.id}?rev=1`, {
      body: { email: null },
    });
    expect(faults(patched.body)).toEqual(["/email"]);
  });

  test("inputs and answers extend types as well", async () => {
    const said = await running.post("/greet", { name: "Ada", email: null, words: "hello" });
    expect(said.body).toEqual({ name: "Ada", email: null, said: "hello Ada" });
    expect((await running.post("/greet", { name: "A", words: "hello" })).status).toBe(422);
  });
});

test("a single rule of the other type, its former names, and definitions are taken over", async () => {
  const text = `${service}types:
  Party: {type: object, deprecated: {since: 2026-03-01}, properties: {name: {type: string}, mail: {type: [string, "null"], was: email}}, required: [name], additionalProperties: false, allOf: [{properties: {name: {minLength: 3}}}]}
  Person: {extends: Party, born: date?}
  Local: {$ref: "#/$defs/one", $defs: {one: {type: object, properties: {x: {type: string}}, additionalProperties: false}}}
  Wide: {extends: Local, y: string}
documents:
  people: {type: Person, guard: open, tenant: false}
  wides: {type: Wide, guard: open, tenant: false}
`;
  const made = await testProject({ "registry/service.yaml": text });
  const { schemas } = (made.openapi as { components: { schemas: Record<string, object> } })
    .components;
  expect(schemas["Person"]).toMatchObject({
    properties: { name: { type: "string" }, mail: {}, born: {} },
    allOf: [{ properties: { name: { minLength: 3 } } }],
  });
  expect(schemas["Person"]).not.toHaveProperty("deprecated");
  expect(schemas["Wide"]).toMatchObject({ properties: { x: {}, y: {} } });
  made.remove();
});

test("the published schema has all fields, those of the other first", () => {
  const { schemas } = (project.openapi as { components: { schemas: Record<string, object> } })
    .components;
  expect(schemas["Person"]).toMatchObject({ required: expect.arrayContaining(["name", "id"]) });
  const { properties } = schemas["Person"] as { properties: object };
  expect(
    Object.keys(properties).filter((name) => ["name", "email", "born", "boss"].includes(name)),
  ).toEqual(["name", "email", "born", "boss"]);
  expect(schemas["Person"]).not.toHaveProperty("description", "Somebody.");
});

test.each([
  ["A: {extends: A, x: string}", "A extends itself"],
  ["A: {extends: B, x: string}\n  B: {extends: A, y: string}", "A extends itself"],
  ["A: {extends: B, x: string}\n  B: string[]", "B is no type of fields"],
  ["A: {extends: B, x: string}\n  B: {x: integer}", "x is a field of B already"],
  ["A: B\n  B: A\n  C: {extends: A, x: string}", "A extends itself"],
  [
    'A: {extends: "B?", x: string}\n  B: {y: integer}',
    "`extends` names one type, by its name alone: `extends: B`",
  ],
  ["A: {extends: [B], x: string}\n  B: {y: integer}", "`extends` names one type"],
  ["A: {extends: {$ref: B}, x: string}\n  B: {y: integer}", "`extends` names one type"],
  [
    "A: {extends: B, x: string}\n  B: {type: object, properties: {y: {type: integer}}, maxProperties: 1}",
    "B has `maxProperties`",
  ],
  [
    "A: {extends: D, x: string}\n  B: {y: integer}\n  D: {$ref: B, minProperties: 1}",
    "D is no type of fields",
  ],
  ["A: {extends: Bee, x: string}\n  B: {y: integer}", "no type is called Bee"],
])("%s is refused", async (types, message) => {
  const text = `${service}types:\n  ${types}\n`;
  await expect(testProject({ "registry/service.yaml": text })).rejects.toThrow(message);
});
