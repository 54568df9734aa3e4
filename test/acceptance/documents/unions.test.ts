// Documents whose type is a union: each has the members of its branch, and null in place of the others'.
import { expect, test } from "vitest";
import { compile } from "../../generator/compile.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const service = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
`;
const files = {
  "registry/service.yaml": `${service}types:
  Payment: {oneOf: [{$ref: Card}, {$ref: Transfer}, {$ref: Cash}]}
  Paid: {amount: {decimal: 2}, note: string?, payer: {ref: people}}
  Card:
    extends: Paid
    kind: {const: card}
    number: {type: string, minLength: 4}
    expires: date?
    if: {properties: {number: {type: string, pattern: "^4"}}}
    then: {properties: {expires: {type: string}}}
  Transfer: {extends: Paid, kind: {const: transfer}, iban: string, number: integer, bank: {ref: people?}}
  Cash: {extends: Paid, kind: [coins, notes]}
  Near: {kind: {const: near}, to: {ref: people}, grade: {type: string, maxLength: 2}, mood: [good, bad]}
  Far: {kind: {const: far}, to: {ref: people?}, grade: string?, mood: [bad, worse]}
documents:
  people: {type: {name: string}, guard: open, tenant: false}
  payments:
    type: Payment
    defaults: {kind: notes}
    guard: open
    tenant: false
    bulk: {max: 10}
    soft_delete: true
    unique: [{fields: [iban], where: {kind: [transfer]}}]
    history: {revisions: true}
  links: {type: {oneOf: [{$ref: Near}, {$ref: Far}]}, guard: open, tenant: false, indexes: [[grade]]}
  cards: {type: Card, guard: open, tenant: false}
  events:
    type: {anyOf: [{type: object, properties: {on: {const: true}, by: {type: string}}, required: [on, by], additionalProperties: false}, {type: object, properties: {on: {const: false}}, required: [on], additionalProperties: false}]}
    guard: open
    tenant: false
`,
};

const project = onEachEngine(files, ({ service: running }) => {
  const faults = (body: { context: { errors: readonly { path: string }[] } }) =>
    body.context.errors.map(({ path }) => path).sort();
  const payer = async (): Promise<string> =>
    (await running.post("/people", { name: "Ada" })).body.id;

  test("a document has the members of its branch, and null in place of the others", async () => {
    const ada = await payer();
    const paid = { amount: 1.5, payer: ada };
    const card = await running.post("/payments", { ...paid, kind: "card", number: "5123" });
    expect(card.status).toBe(201);
    const { body } = await running.call("GET", `/payments/${card.body.id}`);
    expect(body).toMatchObject({
      ...paid,
      kind: "card",
      number: "5123",
      iban: null,
      expires: null,
    });
    const transfer = { ...paid, kind: "transfer", iban: "DE1", number: 7 };
    expect((await running.post("/payments", transfer)).status).toBe(201);
    expect((await running.post("/payments", transfer)).body.code).toBe("unique_violation");
    const cash = await running.post("/payments", paid);
    expect((await running.call("GET", `/payments/${cash.body.id}`)).body.kind).toBe("notes");
  });

  test("members of other branches, and missing ones, are refused", async () => {
    const paid = { amount: 1, payer: await payer() };
    const refused = async (body: object) => faults((await running.post("/payments", body)).body);
    expect(await refused({ ...paid, kind: "card" })).toEqual(["/number"]);
    expect(await refused({ ...paid, kind: "card", number: 7 })).toEqual(["/number"]);
    expect(await refused({ ...paid, kind: "card", number: "5123", iban: "x" })).toEqual(["/iban"]);
    expect(await refused({ ...paid, kind: "card", number: "4123" })).toEqual(["/expires"]);
    expect(await refused({ ...paid, kind: "transfer", number: "5123" })).toEqual([
      "/iban",
      "/number",
    ]);
    expect(await refused({ ...paid, kind: "coins", number: 7 })).toEqual(["/number"]);
    expect(await refused({ ...paid, kind: "gold" })).toEqual(["/kind"]);
    expect(await refused({ kind: "coins" })).toEqual(["/amount", "/payer"]);
  });

  test("a patch makes it another branch, and takes the former members away", async () => {
    const made = { amount: 1, payer: await payer(), kind: "card", number: "5123" };
    const { id } = (await running.post("/payments", made)).body;
    const patch = (body: object, rev: number) =>
      running.call("PATCH", `/payments/${id}?rev=${rev}`, { body });
    expect(faults((await patch({ kind: "coins" }, 1)).body)).toEqual(["/number"]);
    const done = await patch({ kind: "coins", number: null }, 1);
    expect([done.status, done.body.data.kind, done.body.data.number]).toEqual([200, "coins", null]);
    const back = await running.post(`/payments/${id}/revert?rev=2&to=1`, {});
    expect([back.status, back.body.number]).toEqual([200, "5123"]);
  });

  test("queries ask for members of any branch", async () => {
    const paid = { amount: 2, payer: await payer() };
    await running.post("/payments", { ...paid, kind: "transfer", iban: "DE-q", number: 7 });
    const asked = { filters: { $values: { iban: "DE-q", kind: "transfer" } } };
    const { hits } = (await running.post("/payments/list", asked)).body;
    expect(hits).toMatchObject([{ iban: "DE-q", number: 7, expires: null }]);
  });

  test("a reference that one branch may leave out is held as any other", async () => {
    const ada = await payer();
    const near = { kind: "near", to: ada, grade: "a", mood: "good" };
    const nobody = "00000000-0000-7000-8000-000000000000";
    expect((await running.post("/links", { ...near, to: nobody })).status).toBe(422);
    expect((await running.post("/links", near)).status).toBe(201);
    expect((await running.call("DELETE", `/people/${ada}`)).body.code).toBe("reference_in_use");
    const far = { kind: "far", to: null, grade: "long", mood: "worse" };
    expect((await running.post("/links", far)).status).toBe(201);
    expect(faults((await running.post("/links", { ...near, grade: "long" })).body)).toEqual([
      "/grade",
    ]);
    expect(faults((await running.post("/links", { ...near, mood: "worse" })).body)).toEqual([
      "/mood",
    ]);
    const asked = { filters: { $values: { to: ada, grade: "a", mood: "good" } } };
    expect((await running.post("/links/list", asked)).body.hits).toMatchObject([near]);
  });

  test("booleans tell branches apart as well", async () => {
    expect((await running.post("/events", { on: true, by: "ada" })).status).toBe(201);
    expect((await running.post("/events", { on: false })).status).toBe(201);
    expect((await running.post("/events", { on: false, by: "ada" })).status).toBe(422);
    expect(
      (
        await running.post("/cards", {
          kind: "card",
          amount: 1,
          payer: await payer(),
          number: "5123",
        })
      ).status,
    ).toBe(201);
  });
});

test("the project compiles under the strict flags", () => {
  expect(() => compile(project.root)).not.toThrow();
});

const branches = (...of: readonly string[]): string =>
  `${service}types:\n  A: {oneOf: [{$ref: B}, {$ref: C}]}\n${of.map((one) => `  ${one}\n`).join("")}documents: {things: {type: A, guard: open}}\n`;

test.each([
  [branches("B: {kind: {const: b}}", "C: {kind: string}"), "need a field that tells them apart"],
  [
    branches("B: {kind: {const: b}}", "C: {kind: {const: b}}"),
    "need a field that tells them apart",
  ],
  [
    branches("B: {kind: {const: b}}", "C: string[]"),
    "must be an object with declared fields alone",
  ],
  [
    branches("B: {kind: {const: b}, to: {ref: things}}", "C: {kind: {const: c}, to: uuid}"),
    "must say the same of to",
  ],
  [
    branches(
      "B: {kind: {const: b}, memo: {type: string, was: note}}",
      "C: {kind: {const: c}, memo: string}",
    ),
    "must say the same of memo",
  ],
  [
    branches("B: {kind: [{value: b, was: a}]}", "C: {kind: {const: c}}"),
    "nothing but its values can be said of it",
  ],
  [
    branches(
      "B: {type: object, properties: {kind: {const: b}}, required: [kind], additionalProperties: false, maxProperties: 2}",
      "C: {kind: {const: c}}",
    ),
    "can't have `maxProperties`",
  ],
  [
    branches("B: {kind: {const: b}}", "C: {kind: {const: c}}").replace(
      "{$ref: C}]",
      "{$ref: C}], required: [x]",
    ),
    "`required` has no effect",
  ],
  [
    branches(...Array.from({ length: 33 }, (_, at) => `T${at}: {kind: {const: t${at}}}`)).replace(
      "[{$ref: B}, {$ref: C}]",
      JSON.stringify(Array.from({ length: 33 }, (_, at) => ({ $ref: `T${at}` }))),
    ),
    "at most 32 branches",
  ],
  [
    branches("B: {kind: {const: b}, x: string}", "C: {kind: {const: c}}").replace(
      "guard: open",
      "guard: open, defaults: {x: hello}",
    ),
    'the default "hello" of x must be null',
  ],
  [
    branches("B: {kind: {const: b}, x: date-time}", "C: {kind: {const: c}}").replace(
      "guard: open",
      "guard: open, set: {x: $now}",
    ),
    "not every branch of the type has x",
  ],
  [
    branches("B: {kind: {const: b}, x: string}", "C: {kind: {const: c}}").replace(
      "guard: open",
      "guard: open, visible: {kind: open}",
    ),
    "conditions of the type ask for kind",
  ],
  [
    `identity: {methods: [token]}\n${branches("B: {kind: {const: b}, x: string}", "C: {kind: {const: c}}")}`
      .replace("guard: open", "guard: in, personal: [x]")
      .replace("policies: {open: []}", "policies: {in: [principal]}"),
    "the erased value null of x must be string",
  ],
])("%s is refused", async (text, message) => {
  await expect(testProject({ "registry/service.yaml": text })).rejects.toThrow(message);
});
