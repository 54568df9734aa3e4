// Fields that only some of those who read a document may see: the cost of a ticket, the phone of
// whoever has opened it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  admin: [principal, {authorize: platform.admin}]
  member: [principal, tenant]
  staff: [principal, tenant, {authorize: tickets.staff}]
  own: [principal, tenant, {scope: own_rows}]
  assigned: [principal, tenant, {scope: assigned}]
identity: {methods: [token, password]}
tenancy: {}
realtime:
  transports: [sse]
  events:
    ticket.changed: {data: Ticket, audience: [principal], to: "{assignee}", delivery: durable}
    ticket.called: {data: {phone: "string?"}, audience: [principal], delivery: durable}
scopes: {assigned: registry/code.ts#assigned}
types:
  Ticket:
    title: string
    cost: {decimal: 2}
    margin: integer
    phone: string?
    note: {ref: notes?, on_delete: set_null}
    assignee: uuid?
    state: {enum: [open, closed]}
    key: string?
documents:
  tickets:
    type: Ticket
    defaults: {cost: 0, margin: 0, phone: null, note: null, assignee: null, state: open, key: null}
    visible: {cost: staff, margin: staff, phone: [own, staff, assigned], note: staff, key: own}
    unique: [[key]]
    guard: member
    soft_delete: {list_deleted: true}
    history: {revisions: true}
    bulk: {max: 10}
    upsert: true
    views: {card: [id, title, cost], contact: {fields: [id, phone], guard: member}}
    emits:
      update: [{event: ticket.changed}, {event: ticket.called, data: {phone: phone}, to: assignee}]
  notes: {type: {text: string, secret: string}, visible: {secret: own}, guard: member}
  comments:
    type: {text: string, ticket: {ref: tickets, on_delete: cascade}}
    guard: member
    soft_delete: true
search: {ticket_search: {of: tickets, text: [title], facets: [cost, state], guard: member}}
operations:
  tickets.seen:
    get: /seen/{id}
    in: {id: uuid}
    out: {mine: Ticket, all: Ticket, found: integer}
    run: registry/code.ts#seen
    guard: member
  tickets.summed:
    get: /summed
    in: {}
    out: {refusal: "string?", sum: "number?"}
    run: registry/code.ts#summed
    guard: member
  tickets.priced:
    post: /priced
    in: {title: string}
    out: Ticket
    run: registry/code.ts#priced
    guard: member
`,
  "registry/code.ts": `import { collection, column, sql, unscoped } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
export const assigned = ({ identity }) => ({ $values: { assignee: identity.principalId } });
export const seen = async ({ id }, context) => {
  const tickets = collection(ticketsSpec, context);
  const all = await collection(unscoped(ticketsSpec), context).get(id);
  const found = await tickets.count({ filters: { $values: { phone: all.phone } } });
  return { mine: await tickets.get(id), all, found };
};
export const summed = async (_input, context) => {
  let refusal = null;
  try {
    column(ticketsSpec, "cost");
  } catch (error) {
    refusal = error.message;
  }
  const [row] = await sql(context, { sum: "number" })\`SELECT sum(\${column(unscoped(ticketsSpec), "cost")}) AS sum FROM \${ticketsSpec} AS t\`;
  return { refusal, sum: row?.sum ?? null };
};
export const priced = ({ title }, context) =>
  collection(ticketsSpec, context).create({ title, cost: 12.5, margin: 3 });
`,
};

const project = onEachEngine(files, ({ people, service }) => {
  const somebody = async (tenant: string, ...permissions: readonly string[]) => {
    const member = await people.member(tenant, ...permissions);
    return { ...member, ...people.by(member.token) };
  };
  type Somebody = Awaited<ReturnType<typeof somebody>>;

  /** Staff who have opened a ticket with all of its fields, and one who only reads it. */
  const cast = async () => {
    const staff = await somebody("", "tickets.staff");
    const opener = await somebody(staff.tenantId);
    const other = await somebody(staff.tenantId);
    const ticket = await opener.make("tickets", { title: "Leak", phone: "030 1", key: "k1" });
    const patch = { cost: 12.5, margin: 3, assignee: staff.id };
    expect((await staff.call("PATCH", `/tickets/${ticket}?rev=1`, patch)).status).toBe(200);
    return { staff, opener, other, ticket };
  };
  /** Which of the guarded fields a document has. */
  const shown = (document: object): readonly string[] =>
    ["cost", "margin", "phone", "note", "key"].filter((field) => Object.hasOwn(document, field));
  const listed = async (by: Somebody, path: string, body: object = {}) => {
    const answer = await by.call("POST", path, body);
    expect([answer.status, answer.body.code]).toEqual([200, undefined]);
    return answer.body.hits;
  };

  test("each reads what they may see, on every path that leads to the document", async () => {
    const { staff, opener, other, ticket } = await cast();
    const note = await staff.make("notes", { text: "n", secret: "s" });
    await staff.call("PATCH", `/tickets/${ticket}?rev=2`, { note });
    const comment = await opener.make("comments", { text: "c", ticket });
    const expected = [
      [staff, ["cost", "margin", "phone", "note"]],
      [opener, ["phone", "key"]],
      [other, []],
    ] as const;
    for (const [by, fields] of expected) {
      const id = { $values: { id: ticket } };
      const one = await by.call("GET", `/tickets/${ticket}`);
      const views = await by.call("GET", `/tickets/views/card/${ticket}`);
      const contact = await by.call("GET", `/tickets/views/contact/${ticket}`);
      const expanded = await by.call("GET", `/comments/${comment}?expand=ticket`);
      const paths = {
        get: one.body,
        list: (await listed(by, "/tickets/list", { filters: id }))[0],
        raw: (
          await listed(by, "/tickets/raw_list", {
            filters: id,
            return_fields: ["id", "cost", "margin", "phone", "note", "key"],
          })
        )[0],
        cursor: (await listed(by, "/tickets/list_cursor", { filters: id }))[0],
        search: (
          await listed(by, "/search/ticket_search/typed", { query: "leak", filters: id })
        )[0],
        revision: (await by.call("GET", `/tickets/${ticket}/revisions/2`)).body.data,
        expanded: expanded.body.expanded.ticket,
        listed: (await listed(by, "/comments/list", { expand: ["ticket"] }))[0].expanded.ticket,
        handler: (await by.call("GET", `/seen/${ticket}`)).body.mine,
      };
      for (const [path, document] of Object.entries(paths))
        expect([path, document.id, shown(document)]).toEqual([path, ticket, fields]);
      expect(Object.keys(views.body)).toEqual(
        fields.includes("cost" as never) ? ["id", "title", "cost"] : ["id", "title"],
      );
      expect(shown(contact.body)).toEqual(fields.includes("phone" as never) ? ["phone"] : []);
      const { changes } = (await by.call("GET", `/tickets/${ticket}/revisions/1/diff`)).body;
      expect(changes.map(({ path }: { path: string }) => path).sort()).toEqual(
        fields.includes("cost" as never)
          ? ["/assignee", "/cost", "/margin", "/note"]
          : ["/assignee"],
      );
    }
    const all = (await other.call("GET", `/seen/${ticket}`)).body;
    expect([all.all.cost, all.all.phone, all.found]).toEqual([12.5, "030 1", 0]);
    expect((await opener.call("GET", `/seen/${ticket}`)).body.found).toBe(1);
  });

  test("what is written is answered as it is read", async () => {
    const { staff, opener, other, ticket } = await cast();
    const patched = await opener.call("PATCH", `/tickets/${ticket}?rev=2`, { phone: "030 2" });
    expect([patched.status, shown(patched.body.data), patched.body.diff]).toEqual([
      200,
      ["phone", "key"],
      { phone: "030 2" },
    ]);
    const made = await other.call("POST", "/tickets", { title: "b" });
    expect([made.status, shown(made.body)]).toEqual([201, ["phone", "key"]]);
    const many = await other.call("POST", "/tickets/create_many", { items: [{ title: "c" }] });
    expect(shown(many.body.outcomes[0].document)).toEqual(["phone", "key"]);
    const updated = await other.call("POST", "/tickets/update_many", {
      items: [{ id: ticket, rev: 3, patch: { title: "d" } }],
    });
    expect(shown(updated.body.outcomes[0].document)).toEqual([]);
    const upserted = await opener.call("POST", "/tickets/upsert", {
      by: ["key"],
      document: { title: "e", key: "k1" },
    });
    expect([upserted.body.created, shown(upserted.body.data)]).toEqual([false, ["phone", "key"]]);
    const gone = await other.call("POST", `/tickets/${ticket}/delete?rev=5`);
    expect([gone.status, shown(gone.body)]).toEqual([200, []]);
    const back = await staff.call("POST", `/tickets/${ticket}/restore?rev=6`);
    expect(shown(back.body)).toEqual(["cost", "margin", "phone", "note"]);
    // Going back leaves what the caller may not see as it is.
    const reverted = await opener.call("POST", `/tickets/${ticket}/revert?rev=7&to=1`);
    expect([reverted.status, reverted.body.title, reverted.body.phone]).toEqual([
      200,
      "Leak",
      "030 1",
    ]);
    expect((await staff.call("GET", `/tickets/${ticket}`)).body.cost).toBe(12.5);
  });

  test("who may not see a field can't write it either", async () => {
    const { staff, opener, other, ticket } = await cast();
    const refused = async (by: Somebody, method: string, path: string, body: object) => {
      const { status, body: answer } = await by.call(method, path, body);
      return [status, answer.code, answer.context?.members];
    };
    const patch = `/tickets/${ticket}?rev=2`;
    expect(await refused(opener, "PATCH", patch, { title: "x", cost: 1 })).toEqual([
      403,
      "core.authorization",
      ["cost"],
    ]);
    expect(await refused(other, "PATCH", patch, { phone: null })).toEqual([
      403,
      "core.authorization",
      ["phone"],
    ]);
    expect(await refused(opener, "POST", "/tickets", { title: "x", margin: 2 })).toEqual([
      403,
      "core.authorization",
      ["margin"],
    ]);
    const many = await opener.call("POST", "/tickets/create_many", {
      items: [{ title: "y", margin: 2 }, { title: "z" }],
    });
    expect([many.body.done, many.body.outcomes[0].error.context.members]).toEqual([1, ["margin"]]);
    const updated = await other.call("POST", "/tickets/update_many", {
      items: [{ id: ticket, rev: 2, patch: { phone: null } }],
    });
    expect(updated.body.outcomes[0].error.context.members).toEqual(["phone"]);
    const where = await other.call("POST", "/tickets/update_where", {
      filters: { $values: { id: ticket } },
      patch: { cost: 0 },
    });
    expect([where.status, where.body.code]).toEqual([409, "bulk_refused"]);
    expect(
      await refused(other, "POST", "/tickets/upsert", {
        by: ["key"],
        document: { title: "e", key: "k1" },
      }),
    ).toEqual([403, "core.authorization", ["key"]]);
    const { title, cost, margin, phone, rev } = (await staff.call("GET", `/tickets/${ticket}`))
      .body;
    expect([title, cost, margin, phone, rev]).toEqual(["Leak", 12.5, 3, "030 1", 2]);
    expect(await listed(opener, "/tickets/list", { filters: { $values: { title: "x" } } })).toEqual(
      [],
    );
    // What a handler writes is its own affair.
    const priced = await opener.call("POST", "/priced", { title: "p" });
    expect([priced.status, shown(priced.body)]).toEqual([200, ["phone", "key"]]);
    expect((await staff.call("GET", `/tickets/${priced.body.id}`)).body.cost).toBe(12.5);
  });

  test("nobody finds out by asking what they may not see", async () => {
    const { staff, opener, other, ticket } = await cast();
    const mine = await other.make("tickets", { title: "Own", phone: "040 9" });
    const dear = { filters: { $values: { cost: { $gt: 10 } } } };
    expect(await listed(staff, "/tickets/list", dear)).toHaveLength(1);
    for (const [path, body] of [
      ["/tickets/list", dear],
      ["/tickets/list_cursor", { sorts: { cost: "desc" } }],
      ["/tickets/raw_list", { ...dear, return_fields: ["id"] }],
      ["/tickets/agg_list", { aggregates: { $computed: { all: { $sum: "cost" } } } }],
      ["/search/ticket_search/typed", { query: "leak", filters: { $values: { margin: 3 } } }],
      ["/search/ticket_search/typed", { query: "leak", options: { facets: ["cost"] } }],
      ["/comments/list", { filters: { $values: { "ticket.cost": { $gt: 10 } } } }],
      ["/comments/list", { sorts: { "ticket.cost": "asc" } }],
      ["/notes/list", { filters: { $exists: { "tickets.note": {} } } }],
      ["/tickets/delete_where", { ...dear, dry_run: true }],
    ] as const) {
      const { status, body: answer } = await opener.call("POST", path, body);
      expect([path, status, answer.code]).toEqual([path, 403, "core.authorization"]);
    }
    // Where it depends on the document, those count in which they may see it.
    const idsOf = async (by: Somebody, body: object, path = "/tickets/list") =>
      (await listed(by, path, body)).map(({ id }: { id: string }) => id);
    const withPhone = { filters: { $not: { $values: { phone: null } } } };
    expect(await idsOf(staff, withPhone)).toEqual(expect.arrayContaining([mine, ticket]));
    expect(await idsOf(opener, withPhone)).toEqual([ticket]);
    expect(await idsOf(other, withPhone)).toEqual([mine]);
    expect(await idsOf(other, { filters: { $not: { $values: { phone: "030 1" } } } })).toEqual([
      mine,
    ]);
    expect(await idsOf(other, { sorts: { phone: "asc" } })).toEqual([mine]);
    const comment = await other.make("comments", { text: "c", ticket });
    const called = { filters: { $values: { "ticket.phone": "030 1" } } };
    expect(await idsOf(opener, called, "/comments/list")).toEqual([comment]);
    expect(await idsOf(other, called, "/comments/list")).toEqual([]);
    expect(
      await idsOf(other, { filters: { $values: { "ticket.title": "Leak" } } }, "/comments/list"),
    ).toEqual([comment]);
    const [{ all, phones }] = await listed(other, "/tickets/agg_list", {
      aggregates: { $computed: { all: { $count: {} }, phones: { $count_distinct: "phone" } } },
    });
    expect([all, phones]).toEqual([2, 1]);
  });

  test("signals have what everybody may see, and chosen payloads what was chosen", async () => {
    const { staff, opener, ticket } = await cast();
    await opener.call("PATCH", `/tickets/${ticket}?rev=2`, { title: "Flood" });
    const heard = async (event: string) => {
      const { body } = await staff.call("GET", "/realtime/history");
      return body.signals.findLast((signal: { event: string }) => signal.event === event)?.data;
    };
    await expect.poll(async () => (await heard("ticket.changed"))?.title).toBe("Flood");
    expect(shown(await heard("ticket.changed"))).toEqual([]);
    expect(await heard("ticket.called")).toEqual({ phone: "030 1" });
  });

  test("SQL of the author's own names such a field only on purpose", async () => {
    const { other } = await cast();
    const { status, body } = await other.call("GET", "/summed");
    expect([status, body.code]).toEqual([200, undefined]);
    expect(body.refusal).toContain("only some may see cost of tickets");
    expect(body.sum).toBe(12.5);
  });

  test("an answer with all of its members has an entity tag, and none of the others has", async () => {
    const { staff, opener } = await cast();
    const note = await opener.make("notes", { text: "a", secret: "s" });
    const tagOf = async (by: Somebody) => (await by.call("GET", `/notes/${note}`)).headers;
    expect((await tagOf(opener)).get("etag")).toBe('"1"');
    expect([(await tagOf(staff)).get("etag"), (await tagOf(staff)).get("last-modified")]).toEqual([
      null,
      null,
    ]);
    const cached = await service.call("GET", `/notes/${note}`, {
      headers: { authorization: `Bearer ${staff.token}`, "if-none-match": '"1"' },
    });
    expect([cached.status, cached.body.secret]).toEqual([200, undefined]);
  });
});

test("the documents and the client say what may be absent", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { schemas } = (project.openapi as any).components;
  const { required, "x-visible": visible } = schemas.Ticket;
  expect(required).not.toContain("cost");
  expect(schemas.TicketsCard.required).toEqual(["id", "title"]);
  expect([visible.cost, visible.phone]).toEqual([["staff"], ["own", "staff", "assigned"]]);
  expect(schemas.TicketsCreate["x-visible"]).toEqual(visible);
  expect(readFileSync(join(project.root, "generated/types/models.ts"), "utf8")).toContain(
    "  readonly cost?: number;",
  );
});

const registry = (visible: string, more = "") => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], staff: [principal], slow: [{rate_limit: 5/1m}], odd: [registry/code.ts#hook]}
identity: {methods: [token]}
documents: {tickets: {type: {title: string, cost: integer}, guard: open, visible: ${visible}}}
${more}`,
  "registry/code.ts": "export const hook = () => undefined;\n",
});

test.each([
  ["{price: staff}", "", "OPW113 tickets has no field price"],
  ["{cost: nobody}", "", "OPW050 no policy is called nobody"],
  ["{cost: slow}", "", "OPW113 slow asks rate_limit"],
  ["{cost: [staff, odd]}", "", "OPW113 odd asks"],
  [
    "{title: staff}",
    "search: {found: {of: tickets, text: [title], guard: open}}",
    "OPW113 a search in title",
  ],
])("`check` refuses what can't be hidden: %s", async (visible, more, told) => {
  await expect(testProject(registry(visible, more))).rejects.toThrow(told);
});
