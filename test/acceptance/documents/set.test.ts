// Fields that the service sets: from the caller, the clock, pure functions and what is computed of the document.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token, password], sign_up: {verify: none, profile: profiles}}
policies: {open: [], writer: [principal]}
documents:
  articles:
    type:
      title: string
      slug: string
      author: uuid
      editor: uuid?
      published: date-time
      touched: date-time
      total: {type: number, multipleOf: 0.01}
      size: integer
      extra: number
      lines: {type: array, items: {type: object, properties: {name: {type: string}, price: {type: number}}, required: [name, price]}}
    guard: {read: open, write: writer}
    tenant: false
    history: true
    unique: [[slug]]
    upsert: true
    bulk: {max: 10}
    set:
      author: $caller
      editor: {from: $caller, on: write}
      published: $now
      touched: {from: $now, on: write}
      slug: registry/slug.ts#slug
      total: {$sum: ["lines[].price", extra]}
      size: {$count: lines}
  profiles: {type: {name: string}, guard: open, tenant: false, soft_delete: true, unique: [[owner_id]]}
  posts:
    type: {text: string, author: {ref: profiles}, editor: {ref: profiles?}}
    guard: open
    tenant: false
    bulk: {max: 10}
    upsert: true
    unique: [[author, text]]
    set: {author: $profile, editor: {from: $profile, on: write}}
  notes: {type: {text: string, by: uuid}, guard: open, tenant: false, set: {by: $caller}}
  stones: {type: {text: string, key: string}, guard: open, tenant: false, set: {key: {from: registry/slug.ts#broken, on: create}}}
operations:
  articles.draft: {post: /draft, in: {title: string}, out: {slug: string, author: uuid}, run: registry/handlers.ts#draft, guard: writer}
`,
  "registry/slug.ts": `export const slug = ({ title, author }) => title.toLowerCase().replaceAll(/[^a-z]+/g, "-") + "-" + author.slice(-4);
export const broken = ({ text }) => { if (text === "throw") throw new Error("no"); return text === "wait" ? Promise.resolve("x") : 5; };
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { articlesSpec } from "../generated/documents/articles.js";
export const draft = ({ title }, context) => collection(articlesSpec, context).create({ title, extra: 0, lines: [] });
`,
};

onEachEngine(files, ({ service, people, project }) => {
  const somebody = async () => {
    const { id } = await people.person();
    const { access_token: token } = await people.session(id, null);
    return { id, ...people.by(token) };
  };
  const lines = [
    { name: "a", price: 2 },
    { name: "b", price: 3.5 },
  ];

  test("prices add up as decimals", async () => {
    const ann = await somebody();
    for (const [extra, prices, total] of [
      [0, [0.1, 0.2], 0.3],
      [0.01, [19.99, 5.01, 0.07], 25.08],
      [0, Array.from({ length: 100 }, () => 0.1), 10],
      [-0.3, [0.1, 0.2], 0],
    ] as const) {
      const title = `Cart ${uuidv7()}`;
      const lines = prices.map((price) => ({ name: "a", price }));
      const made = await ann.call("POST", "/articles", { title, extra, lines });
      expect([made.status, made.body.total]).toEqual([201, total]);
    }
  });

  test("members that the service sets are there, follow changes, and are in no payload", async () => {
    const [ann, bob] = [await somebody(), await somebody()];
    const given = { title: `Hello ${uuidv7()}`, extra: 1, lines };
    const made = await ann.call("POST", "/articles", given);
    expect(made).toMatchObject({
      status: 201,
      body: { author: ann.id, editor: ann.id, total: 6.5, size: 2 },
    });
    expect(made.body.slug).toMatch(new RegExp(`^hello-.*${ann.id.slice(-4)}$`));
    expect(Date.now() - Date.parse(made.body.published)).toBeLessThan(60_000);
    for (const taken of ["author", "slug", "total", "published"])
      expect(
        await ann.call("POST", "/articles", { ...given, [taken]: made.body[taken] }),
      ).toMatchObject({
        status: 422,
        body: { context: { errors: [{ path: `/${taken}`, keyword: "additionalProperties" }] } },
      });
    const at = `/articles/${made.body.id}`;
    expect((await ann.call("PATCH", `${at}?rev=1`, { slug: "mine" })).status).toBe(422);
    const changed = await bob.call("PATCH", `${at}?rev=1`, { title: "Other", lines: [] });
    expect(changed.body).toMatchObject({
      data: {
        author: ann.id,
        editor: bob.id,
        published: made.body.published,
        total: 1,
        size: 0,
        rev: 2,
      },
      diff: { editor: bob.id, total: 1, size: 0, slug: `other-${ann.id.slice(-4)}` },
    });
    expect(Date.parse(changed.body.data.touched)).toBeGreaterThanOrEqual(
      Date.parse(made.body.touched),
    );
    // Nothing is touched where nothing changes.
    expect((await ann.call("PATCH", `${at}?rev=2`, { title: "Other" })).body).toMatchObject({
      data: { rev: 2, editor: bob.id },
      diff: {},
    });
    // A merge is a change as well.
    expect((await ann.call("PATCH", `${at}?rev=1`, { extra: 4 })).body.data).toMatchObject({
      rev: 3,
      total: 4,
      title: "Other",
    });
  });

  test("handlers, many at once and upserts have it, too", async () => {
    const ann = await somebody();
    const title = `T${uuidv7()}`;
    expect((await ann.call("POST", "/draft", { title })).body).toMatchObject({ author: ann.id });
    const items = ["x", "y"].map((extra) => ({
      title: `${title}${extra}${extra}`,
      extra: 2,
      lines,
    }));
    const { body } = await ann.call("POST", "/articles/create_many", { items });
    expect(body.outcomes[1].document).toMatchObject({ author: ann.id, total: 7.5 });
    const { id } = body.outcomes[1].document;
    const updated = await ann.call("POST", "/articles/update_many", {
      items: [{ id, patch: { lines: [] } }],
    });
    expect(updated.body.outcomes[0].document).toMatchObject({ total: 2, size: 0, rev: 2 });
    // A name that follows from the document is unique as any other, and finds it.
    const document = { title, extra: 7, lines };
    const kept = await ann.call("POST", "/articles/upsert", { by: ["slug"], document });
    expect(kept.body).toMatchObject({ created: false, data: { title, rev: 2, total: 12.5 } });
    expect(await ann.call("POST", "/articles", { title, extra: 0, lines })).toMatchObject({
      status: 409,
      body: { code: "unique_violation", context: { members: ["slug"] } },
    });
  });

  test("a person that must be named has to exist", async () => {
    const headers = { authorization: "" };
    const nobody = await service.call("POST", "/notes", { body: { text: "a" }, headers });
    expect(nobody).toMatchObject({
      status: 401,
      body: { code: "core.authentication" },
    });
  });

  test("a profile is the caller's own, and who has none is refused where one is needed", async () => {
    const registered = async () => {
      const login = `${uuidv7()}@example.test`;
      const profile = { name: login };
      const body = { login, password: "correct horse battery", profile };
      const { body: tokens } = await service.post("/auth/sign-up", body);
      const call = (method: string, path: string, given?: object): Promise<Answer> =>
        people.as(tokens.access_token, method, path, given);
      const { body: me } = await call("GET", "/auth/me");
      return { call, profile: me.profile.id as string };
    };
    const [ann, bob] = [await registered(), await registered()];
    const made = await ann.call("POST", "/posts", { text: "one" });
    expect(made.body).toMatchObject({ author: ann.profile, editor: ann.profile });
    const { id } = made.body;
    const read = await bob.call("GET", `/posts/${id}?expand=author`);
    expect(read.body.expanded.author).toMatchObject({ id: ann.profile });
    const changed = await bob.call("PATCH", `/posts/${id}?rev=1`, { text: "two" });
    expect(changed.body.data).toMatchObject({ author: ann.profile, editor: bob.profile });
    const many = await bob.call("POST", "/posts/create_many", { items: [{ text: "x" }, {}] });
    expect(many.body).toMatchObject({
      outcomes: [{ document: { author: bob.profile } }, { error: { code: "core.validation" } }],
    });
    const kept = { by: ["author", "text"], document: { text: "x" } };
    expect((await bob.call("POST", "/posts/upsert", kept)).body.created).toBe(false);
    expect((await ann.call("POST", "/posts/upsert", kept)).body.created).toBe(true);

    // Somebody whom an administrator added, and nobody.
    const eve = await somebody();
    const refused = { status: 403, body: { code: "profile_required", kind: "authorization" } };
    expect(await eve.call("POST", "/posts", { text: "none" })).toMatchObject(refused);
    expect(await eve.call("POST", "/posts/upsert", kept)).toMatchObject(refused);
    const items = [{ text: "none" }];
    const none = await eve.call("POST", "/posts/create_many", { items });
    expect(none.body.outcomes).toMatchObject([{ error: { code: "profile_required" } }]);
    const headers = { authorization: "" };
    const nobody = await service.call("POST", "/posts", { body: { text: "none" }, headers });
    expect(nobody).toMatchObject({ status: 401, body: { code: "core.authentication" } });
    // Where null is a value, it is that.
    const patched = await eve.call("PATCH", `/posts/${id}?rev=2`, { text: "three" });
    expect(patched.body.data).toMatchObject({ author: ann.profile, editor: null });
    const carl = await registered();
    const gone = await carl.call("POST", `/profiles/${carl.profile}/delete?rev=1`, {});
    expect(gone.status).toBe(200);
    expect(await carl.call("POST", "/posts", { text: "none" })).toMatchObject(refused);
    const { paths } = project.openapi as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
    };
    expect(JSON.stringify(paths["/posts"]?.["post"])).toContain("profile_required");
    expect(JSON.stringify(paths["/posts/{id}"]?.["patch"])).not.toContain("profile_required");
  });

  test("a function that fails, waits or makes what the field cannot be is the service's fault", async () => {
    for (const text of ["throw", "wait", "number"])
      expect(await service.post("/stones", { text })).toMatchObject({
        status: 500,
        body: { code: "core.internal", context: {} },
      });
  });
});
