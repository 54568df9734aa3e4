// `set` with `on: absent`: what whoever creates leaves out is computed, and what they send is theirs.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {member: [principal]}
identity: {methods: [token, password], sign_up: {verify: none, profile: profiles}}
documents:
  profiles: {type: {name: string}, guard: member, unique: [[owner_id]], tenant: false}
  posts:
    type:
      title: string
      slug: {type: string, pattern: "^[a-z0-9-]+$"}
      words: integer
      tags: "string[]"
      count: integer
      due: date?
      author: uuid
      by: {ref: profiles?}
      published: date-time
      status: [draft, open]
    guard: member
    tenant: false
    bulk: {max: 10}
    upsert: true
    unique: [[slug]]
    history: {revisions: true}
    states: {field: status, initial: [draft, open], from: {draft: [open], open: [draft]}}
    set:
      slug: {from: registry/code.ts#slug, on: absent}
      words: registry/code.ts#words
      due: {from: registry/code.ts#due, on: absent}
      count: {$count: tags, on: absent}
      author: {from: $caller, on: absent}
      by: {from: $profile, on: absent}
      published: {from: $now, on: absent}
      status: {from: registry/code.ts#status, on: absent}
  notes:
    type: {text: string, short: string}
    guard: member
    tenant: false
    set: {short: registry/code.ts#short}
operations:
  notes.file: {post: /file, in: {text: string}, out: {short: string}, run: registry/code.ts#file, guard: member}
  posts.quick: {post: /quick, in: {title: string, slug: string?}, out: {id: uuid, slug: string}, run: registry/code.ts#quick, guard: member}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { postsSpec } from "../generated/documents/posts.js";
export const slug = ({ title }) => title.toLowerCase().replaceAll(" ", "-");
export const words = ({ title }) => title.split(" ").length;
export const due = ({ title }, { now }) => (title === "never" ? null : title === "today" ? now.slice(0, 10) : "2030-01-01");
export const short = ({ text }) => text.slice(0, 3);
export const file = async (input, context) => collection(notesSpec, context).create(input);
export const status = () => "draft";
export const quick = async (input, context) => collection(postsSpec, context).create({ tags: [], ...input });
`,
};

onEachEngine(files, ({ people, service }) => {
  test("each way to create computes what is left out, and keeps what is sent", async () => {
    const { token, id } = await people.member("");
    const as = (method: string, path: string, body?: object) =>
      people.as(token, method, path, body);
    const other = "01890000-0000-7000-8000-000000000009";
    const { status, body } = await as("POST", "/posts", { title: "Two Words", tags: ["a", "b"] });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        slug: "two-words",
        words: 2,
        count: 2,
        due: "2030-01-01",
        author: id,
        by: null,
        status: "draft",
        published: body.created_at,
      }),
    ]);
    const sent = {
      slug: "own",
      due: null,
      count: 9,
      author: other,
      published: "2000-01-01T00:00:00.000Z",
      status: "open",
    };
    const made = await as("POST", "/posts", { title: "Two Words", tags: [], ...sent });
    expect(made.body).toMatchObject({ ...sent, words: 2 });
    // A patch may change it, and computes nothing anew.
    const patched = await as("PATCH", `/posts/${body.id}?rev=1`, { title: "Other", tags: [] });
    expect(patched.body.data).toMatchObject({
      slug: "two-words",
      count: 2,
      words: 1,
      due: "2030-01-01",
    });
    const again = await as("PATCH", `/posts/${body.id}?rev=2`, { slug: "new", due: null });
    expect(again.body.data).toMatchObject({ slug: "new", due: null });
    const many = await as("POST", "/posts/create_many", {
      items: [
        { title: "Many", tags: [] },
        { title: "Many", tags: [], slug: "many-2" },
      ],
    });
    expect(
      many.body.outcomes.map(
        ({ document }: { readonly document: { readonly slug: string } }) => document.slug,
      ),
    ).toEqual(["many", "many-2"]);
    const upserted = await as("POST", "/posts/upsert", {
      by: ["slug"],
      document: { title: "Up", tags: [], slug: "many" },
    });
    expect(upserted.body).toMatchObject({
      created: false,
      data: { slug: "many", title: "Up", due: "2030-01-01" },
    });
    expect((await as("POST", "/quick", { title: "Quick One" })).body).toMatchObject({
      slug: "quick-one",
    });
    expect((await as("POST", "/quick", { title: "Quick One", slug: "q" })).body).toMatchObject({
      slug: "q",
    });
    expect((await as("POST", "/posts", { title: "never", tags: [] })).body).toMatchObject({
      due: null,
    });
  });

  test("a function knows when the document is written", async () => {
    const { token } = await people.member("");
    const made = await people.as(token, "POST", "/posts", { title: "today", tags: [] });
    expect(made.body.due).toBe(made.body.created_at.slice(0, 10));
  });

  test("one file may set members of two documents, and write both", async () => {
    const { token } = await people.member("");
    const made = await people.as(token, "POST", "/file", { text: "abcdef" });
    expect([made.status, made.body]).toEqual([200, { short: "abc" }]);
  });

  test("whose fault a value is, is told right", async () => {
    const { token } = await people.member("");
    const as = (body: object) => people.as(token, "POST", "/posts", body);
    expect((await as({ title: "Ünwelcome", tags: [] })).status).toBe(500);
    const refused = await as({ title: "Ünwelcome", tags: [], slug: "Ü" });
    expect([refused.status, refused.body.context.errors[0].path]).toEqual([422, "/slug"]);
    expect((await as({ title: "a", tags: [], slug: null })).status).toBe(422);
    expect(
      (await service.call("GET", "/openapi.json")).body.components.schemas.PostsCreate.required,
    ).toEqual(["title", "tags"]);
  });
});
