// `if`, `then` and `else`: what a field must be depends on another one, on every path.
import { expect, test } from "vitest";
import type { Answer } from "../../support/service.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types:
  Ticket:
    type: object
    properties:
      title: {type: string}
      status: {enum: [open, closed]}
      reason: {type: [string, "null"]}
      size: {type: integer}
      note: {type: [string, "null"]}
    required: [title, status]
    additionalProperties: false
    allOf:
      - if: {properties: {status: {const: closed}}}
        then: {properties: {reason: {type: string, minLength: 2}}, required: [reason]}
        else: {properties: {reason: {const: null}}}
      - if: {properties: {title: {pattern: "^big"}}}
        then: {properties: {size: {minimum: 10}}, required: [size]}
      - if: {properties: {note: {type: string}}}
        then: {properties: {title: {minLength: 3}}}
  Ask: {type: object, properties: {kind: {enum: [one, many]}, count: {type: integer}}, required: [kind], additionalProperties: false, if: {properties: {kind: {const: many}}}, then: {required: [count]}}
documents:
  tickets: {type: Ticket, defaults: {status: open}, guard: open, tenant: false, bulk: {max: 10}, history: {revisions: true}, soft_delete: true}
  people: {type: {name: string}, guard: open, tenant: false}
  cases:
    type:
      title: string
      status: [open, closed]
      kind: {const: case}
      closed_by: {ref: people?}
      topics: [{ref: people, on_delete: remove}]
      size: {enum: [1, 2, null]}
      if: {properties: {status: {const: closed}}}
      then: {properties: {closed_by: {type: string}}}
      else: {properties: {closed_by: {const: null}}}
      allOf: [{if: {properties: {title: {pattern: "^big"}}}, then: {properties: {size: {const: 2}}}}]
    defaults: {status: open, kind: case, topics: [], size: null}
    unique: [[kind, size, title]]
    guard: open
    tenant: false
  duties:
    type:
      title: string
      person: uuid?
      helper: {ref: people?, on_delete: set_null}
      if: {properties: {title: {const: helped}}}
      then: {properties: {helper: {type: string}}}
    guard: open
    tenant: false
  errands:
    type:
      type: object
      properties:
        title: {type: string}
        person: {ref: people, on_delete: cascade}
        helper: {ref: people?, on_delete: set_null}
        helpers: [{ref: people, on_delete: remove, max: 2}]
      required: [title, person]
      additionalProperties: false
      if: {properties: {title: {const: alone}}}
      then: {properties: {helper: {const: null}}}
    defaults: {helper: null, helpers: []}
    guard: open
    tenant: false
operations:
  tickets.close: {post: "/tickets/{id}/close", in: {id: uuid, reason: string?}, out: Ticket, run: registry/code.ts#close, guard: open}
  tickets.change: {post: "/tickets/{id}/change", in: {id: uuid, status: [open, closed], reason: string?}, out: Ticket, run: registry/code.ts#change, guard: open}
  asks.ask: {post: /asks, in: Ask, out: Ask, run: registry/code.ts#ask, guard: open}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
export const close = ({ id, reason = null }, context) =>
  collection(ticketsSpec, context).update(id, "any", reason === null ? { status: "closed" } : { status: "closed", reason });
export const change = ({ id, ...patch }, context) =>
  collection(ticketsSpec, context).update(id, "any", patch);
export const ask = (input) => input.kind === "one" && input.count === 7 ? { kind: "many" } : input;
`,
};

onEachEngine(files, ({ service }) => {
  const faultsOf = ({ status, body }: Pick<Answer, "status" | "body">) => [
    status,
    (body.context?.errors ?? []).map(
      ({ path, keyword }: { readonly path: string; readonly keyword: string }) =>
        `${path} ${keyword}`,
    ),
  ];
  const create = (body: object) => service.post("/tickets", body);

  test("what a caller leaves out of what a handler passes on is the caller's fault", async () => {
    const { id } = (await service.post("/tickets", { title: "a" })).body;
    const change = (body: object) => service.post(`/tickets/${id}/change`, body);
    expect(faultsOf(await change({ status: "closed" }))).toEqual([422, ["/reason type"]]);
    expect((await change({ status: "closed", reason: "done" })).status).toBe(200);
  });

  test("what a deletion would clear against a condition holds it back", async () => {
    const person = (await service.post("/people", { name: "Eve" })).body.id;
    const helped = { title: "helped", person: null, helper: person };
    const { body } = await service.post("/duties", helped);
    const refused = await service.call("DELETE", `/people/${person}`);
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "reference_in_use",
      { document: "duties", member: "helper" },
    ]);
    await service.call("PATCH", `/duties/${body.id}?rev=1`, { body: { title: "alone" } });
    expect((await service.call("DELETE", `/people/${person}`)).status).toBe(204);
  });

  test("they stand among fields as well, and beside references", async () => {
    const person = (await service.post("/people", { name: "Ada" })).body.id;
    const make = async (path: string, body: object) => faultsOf(await service.post(path, body));
    expect(await make("/cases", { title: "a" })).toEqual([201, []]);
    expect(await make("/cases", { title: "b", status: "closed" })).toEqual([
      422,
      ["/closed_by type"],
    ]);
    const closed = { title: "c", status: "closed", closed_by: person, topics: [person] };
    expect(await make("/cases", closed)).toEqual([201, []]);
    expect(await make("/cases", { title: "big", size: 1 })).toEqual([422, ["/size const"]]);
    expect(await make("/cases", { title: "big", size: 2 })).toEqual([201, []]);
    const found = { filters: { $values: { size: 2, kind: "case" } } };
    expect((await service.post("/cases/list", found)).body.count).toBe(1);
    expect((await service.post("/cases", { title: "big", size: 2 })).status).toBe(409);
    const lost = "018f2a4c-0000-7000-8000-000000000000";
    expect(await make("/errands", { title: "x", person: lost })).toEqual([422, ["/person ref"]]);
    expect(await make("/errands", { title: "alone", person, helper: person })).toEqual([
      422,
      ["/helper const"],
    ]);
    expect(await make("/errands", { title: "x", person, helper: person, helpers: [lost] })).toEqual(
      [422, ["/helpers/0 ref"]],
    );
    const errand = await service.post("/errands", { title: "x", person, helpers: [person] });
    expect((await service.call("DELETE", `/people/${person}`)).status).toBe(409);
    await service.call(
      "DELETE",
      `/cases/${(await service.post("/cases/list", {})).body.hits[1].id}`,
    );
    const at = `/errands/${errand.body.id}?expand=helpers`;
    expect((await service.call("GET", at)).body.expanded.helpers[0].name).toBe("Ada");
  });

  test("payloads are held to them, and the faults are those of the branch", async () => {
    expect((await create({ title: "a" })).status).toBe(201);
    expect((await create({ title: "a", status: "closed", reason: "done" })).status).toBe(201);
    expect(faultsOf(await create({ title: "a", status: "closed" }))).toEqual([
      422,
      ["/reason type"],
    ]);
    expect(faultsOf(await create({ title: "a", status: "closed", reason: "x" }))).toEqual([
      422,
      ["/reason minLength"],
    ]);
    expect(faultsOf(await create({ title: "a", reason: "early" }))).toEqual([
      422,
      ["/reason const"],
    ]);
    expect(faultsOf(await create({ title: "bigger" }))).toEqual([422, ["/size required"]]);
    expect((await create({ title: "bigger", size: 10 })).status).toBe(201);
    // What may be null is asked for its type: a document has it in any case.
    expect(faultsOf(await create({ title: "a", note: "b" }))).toEqual([422, ["/title minLength"]]);
    expect((await create({ title: "a", note: null })).status).toBe(201);
  });

  test("patches, reverts, bulk writes and handlers are held to them", async () => {
    const { body } = await create({ title: "a" });
    const at = `/tickets/${body.id}`;
    const patch = (rev: number, change: object) =>
      service.call("PATCH", `${at}?rev=${rev}`, { body: change });
    expect(faultsOf(await patch(1, { status: "closed" }))).toEqual([422, ["/reason type"]]);
    // What a handler writes is its author's.
    expect((await service.post(`${at}/close`, {})).status).toBe(500);
    expect((await patch(1, { status: "closed", reason: "done" })).status).toBe(200);
    expect(faultsOf(await patch(2, { status: "open" }))).toEqual([422, ["/reason const"]]);
    expect((await patch(2, { status: "open", reason: null })).status).toBe(200);
    expect((await service.post(`${at}/close`, { reason: "again" })).body).toMatchObject({
      reason: "again",
    });
    const many = await service.post("/tickets/create_many", {
      items: [{ title: "a" }, { title: "a", status: "closed" }],
    });
    expect(many.body).toMatchObject({ done: 1, failed: 1 });
  });

  test("inputs and answers of operations are held to them", async () => {
    expect(faultsOf(await service.post("/asks", { kind: "many" }))).toEqual([
      422,
      ["/count required"],
    ]);
    expect((await service.post("/asks", { kind: "many", count: 2 })).body).toEqual({
      kind: "many",
      count: 2,
    });
    expect((await service.post("/asks", { kind: "one", count: 7 })).status).toBe(500);
  });
});

test.each([
  "title: string, if: {properties: {title: {const: a}}}",
  "title: string, then: {required: [title]}",
])("`check` refuses half a condition: %s", async (fields) => {
  const registry = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents: {notes: {type: {${fields}}, guard: open}}
`;
  await expect(testProject({ "registry/service.yaml": registry })).rejects.toThrow(
    "a condition has an `if`",
  );
});
