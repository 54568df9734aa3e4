// Searches over other searches: one ranking of the hits of several documents, each as far as the caller may read it.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject } from "../../support/project-service.js";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  member: [principal, tenant]
  own: [principal, tenant, {scope: own_rows}]
  staff: [principal, tenant, {authorize: "{resource}.read"}]
  anybody: []
  limited: [principal, tenant, {rate_limit: 3/1m}]
identity: {methods: [token]}
tenancy: {}
documents:
  tickets: {type: {title: string, text: string, state: [open, done]}, guard: member, soft_delete: true}
  comments: {type: {text: string, ticket: {ref: tickets}}, guard: member}
  drafts: {type: {text: string}, guard: own}
  reports: {type: {text: string}, guard: {read: staff, write: member}}
  plains: {type: {text: string, report: {ref: reports?}}, defaults: {report: null}, guard: member}
  limits: {type: {text: string}, guard: limited}
search:
  plain_search: {of: plains, text: [text], guard: own}
  limit_search: {of: limits, text: [text], guard: member}
  scoped: {over: [plain_search], guard: member}
  slow: {over: [limit_search], guard: member}
  ticket_search: {of: tickets, text: {title: 2, text: 1}, guard: member, language: en}
  comment_search: {of: comments, text: [text], guard: member}
  draft_search: {of: drafts, text: [text], guard: member}
  report_search: {of: reports, text: [text], guard: staff}
  everything: {over: [ticket_search, comment_search, draft_search, report_search], guard: member}
  conversations: {over: [ticket_search, comment_search], guard: anybody, mount: {at: /talks}}
`,
};

interface Hit {
  readonly kind: string;
  readonly score: number;
  readonly document: { readonly id: string };
}

const project = onEachEngine(files, ({ people, service }) => {
  const somebody = async (tenant = "", ...permissions: string[]) => {
    const member = await people.member(tenant, ...permissions);
    return { ...member, ...people.by(member.token) };
  };
  type Somebody = Awaited<ReturnType<typeof somebody>>;
  const find = (by: Somebody, body: object, path = "/search/everything") =>
    by.call("POST", path, body);
  const shown = (hits: readonly Hit[]) =>
    hits.map(({ kind, document }) => `${kind} ${document.id}`);

  test("the best hits come first, whatever they are", async () => {
    const by = await somebody();
    const other = await somebody(by.tenantId);
    const best = await by.make("tickets", { title: "rocket rocket", text: "", state: "open" });
    const said = await by.make("comments", { text: "the rocket is late", ticket: best });
    const lesser = await by.make("tickets", {
      title: "other",
      text: "a long text about a rocket and what it is and when it comes",
      state: "done",
    });
    const draft = await by.make("drafts", { text: "rocket rocket" });
    await other.make("drafts", { text: "rocket of another" });
    await by.make("reports", { text: "rocket" });
    await (await somebody()).make("tickets", { title: "rocket", text: "", state: "open" });
    const { status, body } = await find(by, { query: "rocket", options: { highlight: true } });
    expect(status).toBe(200);
    expect(new Set(shown(body.hits))).toEqual(
      new Set([`tickets ${best}`, `tickets ${lesser}`, `comments ${said}`, `drafts ${draft}`]),
    );
    const scores = body.hits.map(({ score }: Hit) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    expect(body.hits[0]).toMatchObject({
      kind: "tickets",
      document: { id: best, title: "rocket rocket", state: "open" },
      highlights: { title: ["<em>rocket</em> <em>rocket</em>"] },
    });
    expect([body.counts, body.has_more, body.next_cursor]).toEqual([
      { tickets: 2, comments: 1, drafts: 1 },
      false,
      null,
    ]);
    // A score is that of the search alone.
    const alone = await by.call("POST", "/search/ticket_search/typed", { query: "rocket" });
    expect(
      body.hits.filter(({ kind }: Hit) => kind === "tickets").map(({ score }: Hit) => score),
    ).toEqual(alone.body.scores);
    const reader = await somebody(by.tenantId, "reports.read");
    expect((await find(reader, { query: "rocket" })).body.counts).toEqual({
      tickets: 2,
      comments: 1,
      drafts: 0,
      reports: 1,
    });
  });

  test("pages go on where they ended, each hit once", async () => {
    const by = await somebody();
    const ticket = await by.make("tickets", { title: "anchor", text: "word", state: "open" });
    const made = [`tickets ${ticket}`];
    for (let at = 0; at < 12; at += 1) {
      // Many are equally good.
      const text = "word ".repeat(1 + (at % 3)).trim();
      made.push(`comments ${await by.make("comments", { text, ticket })}`);
      made.push(`drafts ${await by.make("drafts", { text })}`);
    }
    for (const size of [1, 2, 7, 100]) {
      const hits: Hit[] = [];
      let after: string | null = null;
      do {
        const page: {
          readonly body: {
            readonly hits: readonly Hit[];
            readonly next_cursor: string | null;
            readonly has_more: boolean;
          };
        } = await find(by, { query: "word", size, ...(after === null ? {} : { after }) });
        hits.push(...page.body.hits);
        expect(page.body.has_more).toBe(page.body.next_cursor !== null);
        after = page.body.next_cursor;
      } while (after !== null);
      expect(shown(hits).toSorted()).toEqual(made.toSorted());
      const rank = ["tickets", "comments", "drafts"];
      const ordered = hits.toSorted(
        (a, b) =>
          b.score - a.score ||
          rank.indexOf(a.kind) - rank.indexOf(b.kind) ||
          (a.document.id < b.document.id ? -1 : 1),
      );
      expect(shown(hits)).toEqual(shown(ordered));
    }
  });

  test("a cursor is for its query", async () => {
    const by = await somebody();
    for (const text of ["word", "word"]) await by.make("drafts", { text });
    const { body } = await find(by, { query: "word", size: 1 });
    const again = (more: object) =>
      find(by, { query: "word", size: 1, after: body.next_cursor, ...more });
    expect((await again({})).body.hits).toHaveLength(1);
    for (const more of [
      { query: "other" },
      { kinds: ["drafts"] },
      { filters: { drafts: { $values: { text: { $eq: "word" } } } } },
    ])
      expect((await again(more)).body.code).toBe("invalid_cursor");
    expect(
      (await find(await somebody(by.tenantId), { query: "word", after: body.next_cursor })).body
        .code,
    ).toBe("invalid_cursor");
  });

  test("kinds and filters narrow it, and typing errors may count", async () => {
    const by = await somebody();
    const open = await by.make("tickets", { title: "planet", text: "", state: "open" });
    const done = await by.make("tickets", { title: "planet", text: "", state: "done" });
    const said = await by.make("comments", { text: "planet", ticket: done });
    const of = async (body: object) =>
      shown((await find(by, { query: "planet", ...body })).body.hits).toSorted();
    expect(await of({ kinds: ["comments"] })).toEqual([`comments ${said}`]);
    expect(await of({ filters: { tickets: { $values: { state: { $eq: "open" } } } } })).toEqual([
      `comments ${said}`,
      `tickets ${open}`,
    ]);
    expect(
      await of({
        filters: { comments: { $values: { "ticket.state": { $eq: "open" } } } },
        kinds: ["comments"],
      }),
    ).toEqual([]);
    expect(await of({ query: "plamet" })).toEqual([]);
    expect(await of({ query: "plamet", options: { fuzzy: true } })).toEqual(
      [`comments ${said}`, `tickets ${done}`, `tickets ${open}`].toSorted(),
    );
    expect(
      (await find(by, { query: "planet", options: { search_count: "none" } })).body.counts,
    ).toEqual({});
    // Without words, it is everything.
    expect(await of({ query: "", kinds: ["tickets"] })).toHaveLength(2);
  });

  test("what is asked wrong is told with its place", async () => {
    const by = await somebody();
    const wrong: readonly [object, string, string][] = [
      [{}, "core.validation", "/query"],
      [{ query: "a", kinds: [] }, "core.validation", "/kinds"],
      [{ query: "a", kinds: ["people"] }, "field_not_queryable", "/kinds/0"],
      [{ query: "a", filters: { people: {} } }, "core.validation", "/filters/people"],
      [
        { query: "a", filters: { tickets: { $values: { none: { $eq: 1 } } } } },
        "field_not_queryable",
        "/filters/tickets/$values/none",
      ],
      [{ query: "a", size: 0 }, "core.validation", "/size"],
      [{ query: "a", sorts: {} }, "core.validation", "/sorts"],
      [{ query: "a", options: { facets: ["state"] } }, "core.validation", "/options/facets"],
      [{ query: "a", filters: null }, "core.validation", "/filters"],
      [
        { query: "a", kinds: ["drafts"], filters: { tickets: { none: 1 } } },
        "query_invalid",
        "/filters/tickets/none",
      ],
      [
        { query: "a", options: { highlight: { fields: ["text"] } } },
        "core.validation",
        "/options/highlight/fields",
      ],
    ];
    for (const [body, code, path] of wrong) {
      const answer = await find(by, body);
      const { context } = answer.body;
      expect([answer.body.code, context.path ?? context.errors[0].path]).toEqual([code, path]);
    }
    expect((await find(by, { query: "a", after: "x" })).body.code).toBe("invalid_cursor");
  });

  test("a search has its own guard beside that of its documents", async () => {
    const by = await somebody();
    const other = await somebody(by.tenantId);
    const mine = await by.make("plains", { text: "rocket" });
    await other.make("plains", { text: "rocket" });
    const alone = await by.call("POST", "/search/plain_search/typed", { query: "rocket" });
    expect(alone.body.hits.map(({ id }: { readonly id: string }) => id)).toEqual([mine]);
    const joint = await find(by, { query: "rocket" }, "/search/scoped");
    expect([shown(joint.body.hits), joint.body.counts]).toEqual([
      [`plains ${mine}`],
      { plains: 1 },
    ]);
    // Nobody filters by what they may not read: that is refused, and not left out.
    const filters = { plains: { $values: { "report.text": { $eq: "a" } } } };
    expect((await find(by, { query: "rocket", filters }, "/search/scoped")).status).toBe(403);
    const answers = [];
    for (let at = 0; at < 4; at += 1)
      answers.push((await find(by, { query: "a" }, "/search/slow")).status);
    expect(answers).toEqual([200, 200, 200, 429]);
  });

  test("who may read none of it is refused", async () => {
    const headers = { "content-type": "application/json" };
    const asked = { method: "POST", headers, body: JSON.stringify({ query: "a" }) };
    const refused = await fetch(`${service.url}/talks`, asked);
    expect([refused.status, ((await refused.json()) as { readonly code: string }).code]).toEqual([
      401,
      "core.authentication",
    ]);
    const by = await somebody();
    expect((await find(by, { query: "a" }, "/talks")).status).toBe(200);
    const none = await find(by, { query: "a", kinds: ["reports"] });
    expect([none.status, none.body.code]).toEqual([403, "core.authorization"]);
  });

  test("the client knows each kind of hit", async () => {
    const by = await somebody();
    await by.make("drafts", { text: "client" });
    const { everything, createClient } = await project.load("generated/client/index.ts");
    const client = createClient({
      baseUrl: service.url,
      headers: { authorization: `Bearer ${by.token}` },
    });
    const { hits } = await everything.find(client, { query: "client" });
    expect(hits).toMatchObject([{ kind: "drafts", document: { text: "client" } }]);
  });
});

describe.each(engines)("on $name", (engine) => {
  test.skipIf(!engine.isAvailable)("a cursor counts on the order of the searches", async () => {
    const versionOf = (over: string, title = "Demo") =>
      testProject({
        "registry/service.yaml": `registry: 1
service: {name: demo, title: ${title}, version: 1.0.0}
policies: {open: []}
documents:
  as: {type: {text: string}, guard: open, tenant: false}
  bs: {type: {text: string}, guard: open, tenant: false}
search:
  a_search: {of: as, text: [text], guard: open}
  b_search: {of: bs, text: [text], guard: open}
  both: {over: [${over}], guard: open}
`,
      });
    const versions = [
      await versionOf("a_search, b_search"),
      await versionOf("a_search, b_search", "Other"),
      await versionOf("b_search, a_search"),
    ];
    const { same, drop } = await sharedDatabase(engine);
    const answers: unknown[] = [];
    let after: string | null = null;
    for (const version of versions) {
      const environment = {
        SECRETS_SIGNING: createHash("sha256").update("signing").digest("base64url"),
      };
      const service = await version.start(same, { environment });
      if (after === null)
        for (const kind of ["as", "bs"]) await service.post(`/${kind}`, { text: "word" });
      const more: object = after === null ? {} : { after };
      const { body } = await service.post("/search/both", { query: "word", size: 1, ...more });
      answers.push(body.code ?? body.hits[0].kind);
      after ??= body.next_cursor;
      await service.stop();
    }
    await drop();
    for (const version of versions) version.remove();
    expect(answers).toEqual(["as", "bs", "invalid_cursor"]);
  });
});

describe("the documents", () => {
  test("say what each kind of hit is", () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
    const { paths, components } = project.openapi as any;
    const operation = paths["/search/everything"].post;
    expect(operation.summary).toBe("Search tickets, comments, drafts, reports together");
    const answer = operation.responses["200"].content["application/json"].schema;
    const schema =
      answer.$ref === undefined ? answer : components.schemas[answer.$ref.split("/").at(-1)];
    expect(
      schema.properties.hits.items.oneOf.map(
        (one: { readonly properties: { readonly kind: { readonly const: string } } }) =>
          one.properties.kind.const,
      ),
    ).toEqual(["tickets", "comments", "drafts", "reports"]);
  });
});
