// Fields that name any number of other documents: labels of a ticket, those who watch it.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {admin: [principal, {authorize: platform.admin}], member: [principal, tenant], own: [principal, tenant, {scope: own_rows}]}
identity: {methods: [token, password], erase: {guard: admin}}
tenancy: {}
documents:
  labels: {type: {name: string, group: {ref: groups?}}, guard: member, soft_delete: true}
  groups: {type: {name: string}, guard: member}
  notes: {type: {text: string}, guard: own}
  tickets:
    type:
      title: string
      labels: [{ref: labels, on_delete: remove, max: 5, description: What it is about}]
      sees: [{ref: notes}]
      blocks: [{ref: tickets, on_delete: remove}]
    defaults: {labels: [], sees: [], blocks: []}
    guard: member
    soft_delete: true
    history: {revisions: true}
    bulk: {max: 10}
  autos:
    type: {main: uuid, auto: [{ref: labels, on_delete: remove}]}
    set: {auto: registry/code.ts#auto}
    guard: member
  pairs:
    type: {one: [{ref: labels, on_delete: remove}], two: [{ref: labels, on_delete: remove}]}
    guard: member
    bulk: {max: 1000}
  memos:
    type: {text: string, labels: [{ref: labels, on_delete: remove}], one: {ref: labels?, on_delete: set_null}}
    defaults: {labels: [], one: null}
    personal: {text: gone, labels: [], one: null}
    guard: member
    soft_delete: true
  parts:
    type: {text: string, ticket: {ref: tickets, on_delete: cascade}}
    personal: {text: gone}
    guard: member
    soft_delete: true
  cards:
    type: {title: string, labels: [{ref: labels}]}
    guard: member
    soft_delete: true
operations:
  tickets.copy: {post: /copy, in: {id: uuid}, out: {id: uuid, names: "string[]"}, run: registry/code.ts#copy, guard: member}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
export const auto = ({ main }) => [main];
export const copy = async ({ id }, context) => {
  const tickets = collection(ticketsSpec, context);
  const { title, labels, expanded } = await tickets.get(id, { expand: ["labels"] });
  const made = await tickets.create({ title, labels });
  return { id: made.id, names: expanded.labels.map(({ name }) => name) };
};
`,
};

const project = onEachEngine(files, ({ people }) => {
  const somebody = async (tenant = "") => {
    const member = await people.member(tenant);
    return { ...member, ...people.by(member.token) };
  };
  type Somebody = Awaited<ReturnType<typeof somebody>>;
  const label = (by: Somebody, name: string, more = {}) => by.make("labels", { name, ...more });
  const labelsOf = async (by: Somebody, id: string, path = "/tickets") =>
    (await by.call("GET", `${path}/${id}`)).body.labels;
  const faultsOf = ({
    body,
  }: {
    readonly body: {
      readonly context: {
        readonly errors: readonly { readonly path: string; readonly keyword: string }[];
      };
    };
  }) => body.context.errors.map(({ path, keyword }) => `${path} ${keyword}`);

  test("it names what is there, each once, and so many at most", async () => {
    const by = await somebody();
    const [bug, urgent] = [await label(by, "bug"), await label(by, "urgent")];
    const ticket = await by.make("tickets", { title: "a", labels: [urgent.toUpperCase(), bug] });
    expect(await labelsOf(by, ticket)).toEqual([urgent, bug]);
    const lost = uuidv7();
    const refused = await by.call("POST", "/tickets", { title: "b", labels: [bug, lost] });
    expect([refused.status, faultsOf(refused)]).toEqual([422, ["/labels/1 ref"]]);
    const foreign = await label(await somebody(), "theirs");
    const across = await by.call("PATCH", `/tickets/${ticket}?rev=1`, { labels: [bug, foreign] });
    expect(faultsOf(across)).toEqual(["/labels/1 ref"]);
    const wrong: readonly [unknown, string][] = [
      [[bug, bug], "/labels uniqueItems"],
      [Array.from({ length: 6 }, () => uuidv7()), "/labels maxItems"],
      [["x"], "/labels/0 format"],
      [null, "/labels type"],
      [bug, "/labels type"],
    ];
    for (const [labels, fault] of wrong) {
      const { status, ...answer } = await by.call("POST", "/tickets", { title: "c", labels });
      expect([status, faultsOf(answer as never)]).toEqual([422, [fault]]);
    }
    // Upper and lower case are one id.
    const twice = await by.call("POST", "/tickets", {
      title: "c",
      labels: [bug, bug.toUpperCase()],
    });
    expect([twice.status, faultsOf(twice)]).toEqual([422, ["/labels uniqueItems"]]);
  });

  test("what is removed leaves the lists, and comes back with its restore", async () => {
    const by = await somebody();
    const [bug, urgent, old] = [
      await label(by, "bug"),
      await label(by, "urgent"),
      await label(by, "old"),
    ];
    const both = await by.make("tickets", { title: "a", labels: [bug, old, urgent] });
    const one = await by.make("tickets", { title: "b", labels: [urgent] });
    expect((await by.call("POST", `/labels/${bug}/delete?rev=1`)).status).toBe(200);
    expect((await by.call("POST", `/labels/${urgent}/delete?rev=1`)).status).toBe(200);
    expect(await labelsOf(by, both)).toEqual([old]);
    expect(await labelsOf(by, one)).toEqual([]);
    expect((await by.call("GET", `/tickets/${both}`)).body.rev).toBe(3);
    expect((await by.call("POST", `/labels/${bug}/restore?rev=2`)).status).toBe(200);
    expect(await labelsOf(by, both)).toEqual([old, bug]);
    expect((await by.call("POST", `/labels/${urgent}/restore?rev=2`)).status).toBe(200);
    expect(await labelsOf(by, both)).toEqual([old, bug, urgent]);
    expect(await labelsOf(by, one)).toEqual([urgent]);
    // Who writes the list meanwhile has the last word.
    await by.call("POST", `/labels/${urgent}/delete?rev=3`);
    const { rev } = (await by.call("GET", `/tickets/${one}`)).body;
    const written = await by.call("PATCH", `/tickets/${one}?rev=${rev}`, { labels: [old] });
    expect(written.body.data.labels).toEqual([old]);
    await by.call("POST", `/labels/${urgent}/restore?rev=4`);
    expect(await labelsOf(by, one)).toEqual([old]);
    expect(await labelsOf(by, both)).toEqual([old, bug, urgent]);
    const killed = await by.call("DELETE", `/labels/${old}?rev=1`);
    expect(killed.status).toBe(204);
    expect(await labelsOf(by, both)).toEqual([bug, urgent]);
  });

  test("with restrict, a list holds back what it names", async () => {
    const by = await somebody();
    const bug = await label(by, "bug");
    const card = await by.make("cards", { title: "a", labels: [await label(by, "x"), bug] });
    const refused = await by.call("POST", `/labels/${bug}/delete?rev=1`);
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "reference_in_use",
      { document: "cards", member: "labels" },
    ]);
    await by.call("POST", `/cards/${card}/delete?rev=1`);
    expect((await by.call("POST", `/labels/${bug}/delete?rev=1`)).status).toBe(200);
    const back = await by.call("POST", `/cards/${card}/restore?rev=2`);
    expect([back.status, faultsOf(back)]).toEqual([422, ["/labels/1 ref"]]);
    expect((await by.call("DELETE", `/labels/${bug}?rev=2`)).body.code).toBe("reference_in_use");
  });

  test("a ticket may block tickets, and itself", async () => {
    const by = await somebody();
    const first = await by.make("tickets", { title: "a" });
    const second = await by.make("tickets", { title: "b", blocks: [first] });
    await by.call("PATCH", `/tickets/${first}?rev=1`, { blocks: [first, second] });
    expect((await by.call("POST", `/tickets/${first}/delete?rev=2`)).status).toBe(200);
    expect((await by.call("GET", `/tickets/${second}`)).body.blocks).toEqual([]);
    expect((await by.call("POST", `/tickets/${first}/restore?rev=3`)).body.blocks).toEqual([
      first,
      second,
    ]);
    expect((await by.call("GET", `/tickets/${second}`)).body.blocks).toEqual([first]);
  });

  test("what is in a list already stays, whoever may see it", async () => {
    const owner = await somebody();
    const other = await somebody(owner.tenantId);
    const [mine, theirs] = [
      await owner.make("notes", { text: "a" }),
      await other.make("notes", { text: "b" }),
    ];
    const ticket = await owner.make("tickets", { title: "a", sees: [mine] });
    const added = await other.call("PATCH", `/tickets/${ticket}?rev=1`, { sees: [mine, theirs] });
    expect(added.body.data.sees).toEqual([mine, theirs]);
    const again = await other.call("POST", "/tickets", { title: "b", sees: [theirs, mine] });
    expect(faultsOf(again)).toEqual(["/sees/1 ref"]);
    const shown = async (by: Somebody) =>
      (await by.call("GET", `/tickets/${ticket}?expand=sees`)).body.expanded.sees.map(
        ({ id }: { readonly id: string }) => id,
      );
    expect([await shown(owner), await shown(other)]).toEqual([[mine], [theirs]]);
    const many = await other.call("POST", "/tickets/update_many", {
      items: [{ id: ticket, rev: 2, patch: { sees: [theirs, mine] } }],
    });
    expect(many.body.outcomes[0].document.sees).toEqual([theirs, mine]);
    const back = await other.call("POST", `/tickets/${ticket}/revert?rev=3&to=1`);
    expect([back.status, back.body.sees]).toEqual([200, [mine]]);
  });

  test("reads expand it in its order, and filters ask for ids", async () => {
    const by = await somebody();
    const group = await by.make("groups", { name: "kinds" });
    const [bug, urgent] = [await label(by, "bug", { group }), await label(by, "urgent")];
    const ticket = await by.make("tickets", { title: "a", labels: [urgent, bug] });
    const none = await by.make("tickets", { title: "b" });
    const read = await by.call("GET", `/tickets/${ticket}?expand=labels.group`);
    expect(read.body.expanded.labels).toMatchObject([
      { id: urgent, expanded: { group: null } },
      { id: bug, expanded: { group: { id: group, name: "kinds" } } },
    ]);
    const listed = await by.call("POST", "/tickets/list", {
      filters: { $values: { labels: { $overlaps: [bug] } } },
      expand: ["labels"],
    });
    expect(
      listed.body.hits.map(
        ({
          id,
          expanded,
        }: {
          readonly id: string;
          readonly expanded: { readonly labels: readonly object[] };
        }) => [id, expanded.labels.length],
      ),
    ).toEqual([[ticket, 2]]);
    expect((await by.call("GET", `/tickets/${none}?expand=labels`)).body.expanded).toEqual({
      labels: [],
    });
    for (const filters of [
      { "labels.name": { $eq: "bug" } },
      { "cards.labels": { $values: { title: { $eq: "a" } } } },
    ])
      expect(
        (await by.call("POST", "/tickets/list", { filters: { $values: filters } })).status,
      ).toBe(422);
    expect(
      (await by.call("POST", "/labels/list", { filters: { $values: { "tickets.labels": {} } } }))
        .status,
    ).toBe(422);
    const copied = await by.call("POST", "/copy", { id: ticket });
    expect(copied.body.names).toEqual(["urgent", "bug"]);
    expect(await labelsOf(by, copied.body.id)).toEqual([urgent, bug]);
  });

  test("many at once are held to the same", async () => {
    const by = await somebody();
    const bug = await label(by, "bug");
    const made = await by.call("POST", "/tickets/create_many", {
      items: [
        { title: "a", labels: [bug] },
        { title: "b", labels: [bug, uuidv7()] },
        { title: "c" },
      ],
    });
    expect(
      made.body.outcomes.map(
        ({
          document,
          error,
        }: {
          readonly document?: { readonly labels: readonly string[] };
          readonly error?: { readonly code: string };
        }) => document?.labels ?? error?.code,
      ),
    ).toEqual([[bug], "core.validation", []]);
  });

  test("what the service would set to it again holds it back", async () => {
    const by = await somebody();
    const main = await label(by, "bug");
    const made = await by.make("autos", { main });
    for (const [method, path] of [
      ["POST", `/labels/${main}/delete?rev=1`],
      ["DELETE", `/labels/${main}?rev=1`],
    ] as const) {
      const { status, body } = await by.call(method, path);
      expect([status, body.code, body.context]).toEqual([
        409,
        "reference_in_use",
        { document: "autos", member: "auto" },
      ]);
    }
    expect((await by.call("GET", `/autos/${made}`)).body).toMatchObject({ rev: 1, auto: [main] });
  });

  test("documents count once, in however many lists they name what goes", async () => {
    const by = await somebody();
    const bug = await label(by, "bug");
    const items = Array.from({ length: 501 }, () => ({ one: [bug], two: [bug] }));
    expect((await by.call("POST", "/pairs/create_many", { items })).status).toBe(200);
    expect((await by.call("POST", `/labels/${bug}/delete?rev=1`)).status).toBe(200);
  });

  test("what was erased doesn't come back", async () => {
    const by = await somebody();
    const [bug, other] = [await label(by, "bug"), await label(by, "other")];
    const emptied = await by.make("memos", { text: "a", labels: [bug], one: bug });
    const live = await by.make("memos", { text: "a", labels: [bug, other] });
    const trashed = await by.make("memos", { text: "a", labels: [bug, other] });
    await by.call("POST", `/labels/${bug}/delete?rev=1`);
    await by.call("POST", `/memos/${trashed}/delete?rev=2`);
    const admin = await somebody(by.tenantId);
    await people.grant(null, admin.id, "platform.admin");
    const erased = await admin.call("POST", "/auth/erase", { principal_id: by.id });
    expect([erased.status, erased.body]).toEqual([200, expect.anything()]);
    expect((await admin.call("POST", `/labels/${bug}/restore?rev=2`)).status).toBe(200);
    expect((await admin.call("POST", `/memos/${trashed}/restore?rev=4`)).status).toBe(200);
    for (const id of [emptied, live, trashed])
      expect((await admin.call("GET", `/memos/${id}`)).body).toMatchObject({
        text: "gone",
        labels: [],
        one: null,
      });
  });

  test("what went along comes back, also if it was erased meanwhile", async () => {
    const by = await somebody();
    const admin = await somebody(by.tenantId);
    const ticket = await admin.make("tickets", { title: "a" });
    const part = await by.make("parts", { text: "a", ticket });
    await admin.call("POST", `/tickets/${ticket}/delete?rev=1`);
    await people.grant(null, admin.id, "platform.admin");
    expect((await admin.call("POST", "/auth/erase", { principal_id: by.id })).status).toBe(200);
    expect((await admin.call("POST", `/tickets/${ticket}/restore?rev=2`)).status).toBe(200);
    expect((await admin.call("GET", `/parts/${part}`)).body).toMatchObject({ text: "gone" });
  });

  test("who names a label while it is deleted waits, or meets its absence", async () => {
    const by = await somebody();
    for (let turn = 0; turn < 10; turn += 1) {
      const bug = await label(by, "bug");
      const [made] = await Promise.all([
        by.call("POST", "/tickets", { title: "a", labels: [bug] }),
        by.call("POST", `/labels/${bug}/delete?rev=1`),
      ]);
      if (made.status === 201) expect(await labelsOf(by, made.body.id)).toEqual([]);
      else expect(faultsOf(made)).toEqual(["/labels/0 ref"]);
    }
  });
});

test("the documents and the client say so", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { schemas } = (project.openapi as any).components;
  expect(schemas.TicketsCreate.properties.labels).toMatchObject({
    type: "array",
    items: { type: "string", format: "uuid" },
    maxItems: 5,
    uniqueItems: true,
    description: "What it is about",
  });
  expect(schemas.TicketsExpansions.properties.labels.items.$ref).toMatch(/LabelsExpanded$/);
});
