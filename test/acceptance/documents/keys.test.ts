// Keys: a text by which callers name a document in place of its id, in paths and in references.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  member: [principal, tenant]
  own: [principal, tenant, {scope: own_rows}]
  hooked: [registry/code.ts#noteGuard, principal, tenant, {authorize: articles.read}]
identity: {methods: [token, password]}
tenancy: {}
documents:
  articles:
    type: {slug: string, title: string, labels: [{ref: labels, on_delete: remove}], parent: {ref: articles?, on_delete: set_null}}
    defaults: {labels: [], parent: null}
    key: slug
    guard: {read: member, write: member, revisions: hooked}
    soft_delete: true
    history: {revisions: true}
    bulk: {max: 10}
    upsert: true
    views: {card: [slug, title]}
    hooks: {update: {before: [registry/code.ts#noteId]}, kill: {tx_before: [registry/code.ts#noteId]}}
  labels: {type: {name: string}, key: name, guard: own}
  comments:
    type: {text: string, article: {ref: articles, on_delete: cascade}}
    guard: member
    soft_delete: true
    bulk: {max: 10}
  wraps: {type: {slug: string}, key: slug, guard: member, soft_delete: true, hooks: {delete: {wrap: [registry/code.ts#passKey]}}}
  plain: {type: {text: string}, guard: member}
operations:
  articles.remark: {post: /remark, in: {article: string, text: string}, out: {id: uuid}, run: registry/code.ts#remark, guard: member}
  articles.noted: {get: /noted, in: {}, out: {ids: "string[]"}, run: registry/code.ts#noted, guard: member}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { commentsSpec } from "../generated/documents/comments.js";
const ids = [];
export const noteId = ({ id }) => void ids.push(id);
export const noteGuard = ({ id }) => void ids.push(id);
export const passKey = (input, _context, next) => next({ ...input, id: "wrapped" });
export const noted = () => ({ ids });
export const remark = ({ article, text }, context) =>
  collection(commentsSpec, context).create({ article, text });
`,
};

const project = onEachEngine(files, ({ people, service }) => {
  const somebody = async (tenant = "", ...permissions: readonly string[]) => {
    const member = await people.member(tenant, ...permissions);
    return { ...member, ...people.by(member.token) };
  };
  const faultsOf = ({ status, body }: { readonly status: number; readonly body: unknown }) => [
    status,
    ...(
      body as { context: { errors: readonly { path: string; keyword: string }[] } }
    ).context.errors.map(({ path, keyword }) => `${path} ${keyword}`),
  ];

  test("every path about one document takes its key", async () => {
    const by = await somebody();
    const id = await by.make("articles", { slug: "héllo wörld/1", title: "a" });
    const key = encodeURIComponent("héllo wörld/1");
    const at = `/articles/${key}`;
    expect((await by.call("GET", at)).body.id).toBe(id);
    expect((await by.call("GET", `/articles/${id.toUpperCase()}`)).body.id).toBe(id);
    expect((await by.call("GET", `/articles/views/card/${key}`)).body.title).toBe("a");
    const patched = await by.call("PATCH", `${at}?rev=1`, { title: "b" });
    expect([patched.status, patched.body.data.title]).toEqual([200, "b"]);
    expect((await by.call("GET", `${at}/revisions/1`)).status).toBe(200);
    expect((await by.call("GET", `${at}/revisions/1/diff`)).body.changes).toHaveLength(1);
    expect((await by.call("POST", `${at}/revert?rev=2&to=1`)).body.title).toBe("a");
    expect((await by.call("POST", `${at}/delete?rev=3`)).body.is_deleted).toBe(true);
    expect((await by.call("GET", at)).status).toBe(404);
    expect((await by.call("POST", `${at}/restore?rev=4`)).body.is_deleted).toBe(false);
    // It goes by its new key from now on, and by its id all along.
    await by.call("PATCH", `${at}?rev=5`, { slug: "other" });
    expect((await by.call("GET", at)).status).toBe(404);
    expect((await by.call("GET", "/articles/other")).body.id).toBe(id);
    expect((await by.call("DELETE", "/articles/other")).status).toBe(204);
    expect((await by.call("GET", "/articles/other")).status).toBe(404);
  });

  test("the author's hooks get the id", async () => {
    const by = await somebody();
    const id = await by.make("articles", { slug: "hooked", title: "a" });
    await by.call("PATCH", "/articles/hooked?rev=1", { title: "b" });
    await by.call("DELETE", "/articles/hooked");
    const { ids } = (await by.call("GET", "/noted")).body;
    expect(ids.slice(-2)).toEqual([id, id]);
  });

  test("a key that moves to another document has another tag", async () => {
    const by = await somebody();
    const call = (method: string, path: string, headers: Record<string, string>, body?: object) =>
      service.call(method, path, {
        headers: { authorization: `Bearer ${by.token}`, ...headers },
        ...(body === undefined ? {} : { body }),
      });
    await by.make("articles", { slug: "moving", title: "a" });
    const { headers } = await by.call("GET", "/articles/moving");
    const etag = headers.get("etag") ?? "";
    const same = await call("GET", "/articles/moving", { "if-none-match": etag });
    expect([same.status, headers.get("last-modified")]).toEqual([304, null]);
    const held = await call(
      "PATCH",
      "/articles/moving?rev=1",
      { "if-match": etag },
      { title: "b" },
    );
    expect(held.status).toBe(200);
    await by.call("PATCH", "/articles/moving?rev=2", { slug: "moved" });
    await by.make("articles", { slug: "moving", title: "c" });
    const other = await call("GET", "/articles/moving", { "if-none-match": etag });
    expect([other.status, other.body.title]).toEqual([200, "c"]);
    const stale = { "if-match": etag };
    const patched = await call("PATCH", "/articles/moving", stale, { title: "d" });
    expect([patched.status, (await call("DELETE", "/articles/moving", stale)).status]).toEqual([
      412, 412,
    ]);
  });

  test("a hook that passes on a key by itself finds nothing", async () => {
    const by = await somebody();
    await by.make("wraps", { slug: "wrapped" });
    expect((await by.call("POST", "/wraps/wrapped/delete?rev=1")).status).toBe(404);
  });

  test("a key is of one tenant, and tells nobody what they may not read", async () => {
    const [by, other] = [await somebody(), await somebody()];
    await by.make("articles", { slug: "mine", title: "a" });
    expect((await other.call("GET", "/articles/mine")).status).toBe(404);
    await other.make("articles", { slug: "mine", title: "b" });
    expect((await other.call("GET", "/articles/mine")).body.title).toBe("b");
    const colleague = await somebody(by.tenantId);
    await by.make("labels", { name: "bug" });
    expect((await colleague.call("GET", "/labels/bug")).status).toBe(404);
    expect((await colleague.call("GET", "/labels/no")).status).toBe(404);
    // Neither does a guard behind a hook of the author's.
    for (const key of ["mine", "nobodys"])
      expect((await by.call("GET", `/articles/${key}/revisions`)).status).toBe(403);
    const reader = await somebody(by.tenantId, "articles.read");
    expect((await reader.call("GET", "/articles/mine/revisions")).status).toBe(200);
  });

  test("references take keys, and keep ids", async () => {
    const by = await somebody();
    const bug = await by.make("labels", { name: "bug" });
    const urgent = await by.make("labels", { name: "urgent" });
    const one = await by.make("articles", { slug: "one", title: "a", labels: ["urgent", bug] });
    const read = (await by.call("GET", "/articles/one?expand=labels")).body;
    expect([read.labels, read.expanded.labels.length]).toEqual([[urgent, bug], 2]);
    const two = await by.make("articles", { slug: "two", title: "b", parent: "one" });
    expect((await by.call("GET", "/articles/two")).body.parent).toBe(one);
    const patched = await by.call("PATCH", "/articles/two?rev=1", { labels: ["bug"] });
    expect(patched.body.diff).toEqual({ labels: [bug] });
    const comment = await by.make("comments", { text: "c", article: "two" });
    expect((await by.call("GET", `/comments/${comment}`)).body.article).toBe(two);
    const remark = await by.call("POST", "/remark", { article: "one", text: "r" });
    expect((await by.call("GET", `/comments/${remark.body.id}`)).body.article).toBe(one);
    const many = await by.call("POST", "/comments/create_many", {
      items: [
        { text: "1", article: "one" },
        { text: "2", article: "nothing" },
        { text: "3", article: two },
      ],
    });
    expect([many.body.done, many.body.outcomes[0].document.article]).toEqual([2, one]);
    expect(many.body.outcomes[1].error.context.errors[0]).toMatchObject({
      path: "/article",
      keyword: "ref",
    });
    const updated = await by.call("POST", "/comments/update_many", {
      items: [{ id: comment, rev: 1, patch: { article: "one" } }],
    });
    expect(updated.body.outcomes[0].document.article).toBe(one);
    const upserted = await by.call("POST", "/articles/upsert", {
      by: ["slug"],
      document: { slug: "two", title: "c", parent: "one", labels: ["urgent"] },
    });
    expect([upserted.body.created, upserted.body.data.labels]).toEqual([false, [urgent]]);
  });

  test("a key that nothing has leads nowhere, and one can't look like an id", async () => {
    const by = await somebody();
    await by.make("labels", { name: "bug" });
    expect(
      faultsOf(
        await by.call("POST", "/articles", {
          slug: "a",
          title: "a",
          labels: ["bug", "no", "nor"],
          parent: "none",
        }),
      ),
    ).toEqual([422, "/labels/1 ref", "/labels/2 ref", "/parent ref"]);
    expect(
      faultsOf(await by.call("POST", "/articles", { slug: "a", title: "a", labels: ["bug", ""] })),
    ).toEqual([422, "/labels/1 ref"]);
    const twice = { slug: "a", title: "a", labels: ["bug", "bug"] };
    expect(faultsOf(await by.call("POST", "/articles", twice))).toEqual([
      422,
      "/labels uniqueItems",
    ]);
    for (const slug of ["", ".", "..", "018f2a4c-0000-7000-8000-000000000000"])
      expect(faultsOf(await by.call("POST", "/articles", { slug, title: "a" }))).toEqual([
        422,
        "/slug key",
      ]);
    await by.make("articles", { slug: "taken", title: "a" });
    const taken = await by.call("POST", "/articles", { slug: "taken", title: "b" });
    expect([taken.status, taken.body.context.members]).toEqual([409, ["slug"]]);
    expect(faultsOf(await by.call("GET", "/plain/no-uuid"))).toEqual([422, "/id format"]);
  });
});

test("the documents say what is taken", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { paths, components } = project.openapi as any;
  const [id] = paths["/articles/{id}"].get.parameters;
  const description = "Its id, or its slug.";
  expect(id.schema).toEqual({ type: "string", description });
  const { CommentsCreate, ArticlesPatch } = components.schemas;
  expect(CommentsCreate.properties.article.format).toBeUndefined();
  expect(ArticlesPatch.properties.labels.items).toEqual({ type: "string" });
});

const registry = (document: string) => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents: {things: {${document}, guard: open}}
`,
});

test.each([
  ["type: {slug: string}, key: slog", "things has no field slog"],
  ["type: {slug: integer}, key: slug", "slug is not a text"],
  ["type: {slug: string?}, key: slug", "slug is not a text"],
  ["type: {slug: string}, key: slug, visible: {slug: open}", "slug is for some alone"],
  [
    "type: {slug: string}, key: slug, soft_delete: true, unique: [{fields: [slug], where: not_deleted}]",
    "leaves out deleted documents",
  ],
])("`check` refuses what can't be a key: %s", async (document, told) => {
  await expect(testProject(registry(document))).rejects.toThrow(`OPW114`);
  await expect(testProject(registry(document))).rejects.toThrow(told);
});
