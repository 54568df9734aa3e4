// Views: documents told by some of their members, to those whom the view's own policy lets pass.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { type Somebody } from "../../support/people.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  anybody: [principal, tenant]
  reader: [principal, tenant, {authorize: "{resource}.read"}]
  mine: [principal, tenant, {scope: own_rows}]
  by_editor: [principal, tenant, {scope: edited}]
scopes: {edited: registry/handlers.ts#edited}
documents:
  teams: {type: {name: string, budget: integer}, guard: {read: reader, write: reader}, views: {card: [id, name]}}
  profiles:
    type: {name: string, bio: string?, email: string, team: {ref: teams?, view: card}}
    views:
      public: {fields: [id, name, bio, team], guard: anybody}
      brief: [id, rev, name]
    soft_delete: true
    guard: {read: mine, write: mine}
  posts:
    type: {title: string, secret: string, author: {ref: profiles, view: public}, editor: {ref: profiles?}}
    views: {teaser: {fields: [id, title, author], guard: anybody}, desk: {fields: [id, title], guard: by_editor}}
    guard: {read: reader, write: anybody}
operations:
  profiles.find:
    post: /find
    in: {name: string}
    out: {found: "ProfilesPublic[]", first: ProfilesBrief}
    run: registry/handlers.ts#find
    guard: anybody
`,
  "registry/handlers.ts": `import { collection, unscoped } from "opwright/runtime";
import { profilesBriefSpec, profilesPublicSpec } from "../generated/documents/profiles.js";
export const edited = ({ identity }) => ({ $values: { "editor.owner_id": identity.principalId } });
export const find = async ({ name }, context) => {
  const found = await collection(profilesPublicSpec, context).find({ filters: { $values: { name } } });
  const [{ id }] = found;
  return { found, first: await collection(unscoped(profilesBriefSpec), context).get(id) };
};
`,
};

onEachEngine(files, ({ people }) => {
  const member = async (tenant: string, ...permissions: readonly string[]): Promise<Somebody> => {
    const { token } = await people.member(tenant, ...permissions);
    return people.by(token);
  };

  /** A profile of Ann's with a post about it, and Bob, who may read neither as a whole. */
  const furnished = async () => {
    const tenant = await people.tenant();
    const ann = await member(tenant, "teams.read", "posts.read");
    const bob = await member(tenant);
    const team = await ann.make("teams", { name: "core", budget: 7 });
    const profile = await ann.make("profiles", { name: "Ann", email: "ann@example.com", team });
    const post = await ann.make("posts", {
      title: "T",
      secret: "s",
      author: profile,
      editor: profile,
    });
    return { ann, bob, team, profile, post };
  };

  test("a view tells its members alone, to those whom its policy lets pass", async () => {
    const { ann, bob, team, profile } = await furnished();
    expect((await bob.call("GET", `/profiles/${profile}`)).status).toBe(404);
    const { status, body, headers } = await bob.call("GET", `/profiles/views/public/${profile}`);
    expect([status, body]).toEqual([200, { id: profile, name: "Ann", bio: null, team }]);
    // A tag would be of the whole.
    expect(headers.get("etag")).toBeNull();
    const brief = await ann.call("GET", `/profiles/views/brief/${profile}`);
    expect([brief.status, brief.body]).toEqual([200, { id: profile, rev: 1, name: "Ann" }]);
    // Without a policy of its own it is for those who read the whole.
    expect((await bob.call("GET", `/profiles/views/brief/${profile}`)).status).toBe(404);
  });

  test("its scope may follow a reference that it does not show", async () => {
    const { ann, bob, post } = await furnished();
    for (const [somebody, found] of [
      [ann, [{ id: post, title: "T" }]],
      [bob, []],
    ] as const)
      for (const path of ["list", "list_cursor"]) {
        const { status, body } = await somebody.call("POST", `/posts/views/desk/${path}`, {});
        expect([path, status, body.hits]).toEqual([path, 200, found]);
      }
  });

  test("its lists, by page and by cursor, show and can be asked no more", async () => {
    const { bob, profile } = await furnished();
    for (const path of ["list", "list_cursor"]) {
      const asked = (body: object) => bob.call("POST", `/profiles/views/public/${path}`, body);
      const found = await asked({
        filters: { $values: { name: "Ann" } },
        sorts: { name: "asc" },
      });
      expect([found.status, found.body.hits.map(({ id }: { id: string }) => id)]).toEqual([
        200,
        [profile],
      ]);
      expect(Object.keys(found.body.hits[0])).toEqual(["id", "name", "bio", "team"]);
      for (const hidden of ["email", "rev", "created_at", "is_deleted"]) {
        const filtered = await asked({ filters: { $values: { [hidden]: null } } });
        expect([hidden, filtered.status, filtered.body.code]).toEqual([
          hidden,
          422,
          "field_not_queryable",
        ]);
        const sorted = await asked({ sorts: { [hidden]: "asc" } });
        expect([hidden, sorted.status, sorted.body.code]).toEqual([
          hidden,
          422,
          "field_not_queryable",
        ]);
      }
    }
    const pages = await Promise.all(
      ["a", "b", "c"].map((name) => bob.make("profiles", { name, email: "x" })),
    );
    expect(pages).toHaveLength(3);
    const first = await bob.call("POST", "/profiles/views/public/list_cursor", { size: 2 });
    const second = await bob.call("POST", "/profiles/views/public/list_cursor", {
      size: 2,
      after: first.body.next_cursor,
    });
    const names = [...first.body.hits, ...second.body.hits].map(
      ({ name }: { name: string }) => name,
    );
    expect(names.toSorted()).toEqual(["Ann", "a", "b", "c"]);
  });

  test("what is deleted is in no view", async () => {
    const { ann, bob, profile, post } = await furnished();
    expect((await ann.call("DELETE", `/posts/${post}`)).status).toBe(204);
    expect((await ann.call("POST", `/profiles/${profile}/delete?rev=1`)).status).toBe(200);
    expect((await bob.call("GET", `/profiles/views/public/${profile}`)).status).toBe(404);
    const { body } = await bob.call("POST", "/profiles/views/public/list", {});
    expect([body.hits, body.count]).toEqual([[], 0]);
  });

  test("a reference brings along the view that it names", async () => {
    const { ann, bob, team, profile, post } = await furnished();
    const whole = await ann.call("GET", `/posts/${post}?expand=author.team,editor`);
    expect(whole.body.expanded).toEqual({
      author: {
        id: profile,
        name: "Ann",
        bio: null,
        team,
        expanded: { team: { id: team, name: "core" } },
      },
      editor: expect.objectContaining({ email: "ann@example.com" }),
    });
    // The editor is Ann's own profile, which nobody else sees.
    const tenantless = await bob.call("GET", `/posts/views/teaser/${post}?expand=author`);
    expect([tenantless.status, tenantless.body]).toEqual([
      200,
      {
        id: post,
        title: "T",
        author: profile,
        expanded: { author: { id: profile, name: "Ann", bio: null, team } },
      },
    ]);
    for (const beyond of ["editor", "author.email"])
      expect((await bob.call("GET", `/posts/views/teaser/${post}?expand=${beyond}`)).status).toBe(
        422,
      );
    // Whose team it is may only those see who may read teams.
    expect((await bob.call("GET", `/posts/views/teaser/${post}?expand=author.team`)).status).toBe(
      403,
    );
  });

  test("filters and sorts through a reference ask no more than the view tells", async () => {
    const { ann, bob, post } = await furnished();
    const asked = async (who: Somebody, path: string, name: string) => {
      const { status, body } = await who.call("POST", path, {
        filters: { $values: { [name]: { $neq: "zzz" } } },
        sorts: { [name]: "asc" },
      });
      return [status, status === 200 ? body.hits.map(({ id }: { id: string }) => id) : body.code];
    };
    expect(await asked(ann, "/posts/list", "author.name")).toEqual([200, [post]]);
    expect(await asked(ann, "/posts/list", "author.email")).toEqual([422, "field_not_queryable"]);
    expect(await asked(ann, "/posts/list", "editor.email")).toEqual([200, [post]]);
    expect(await asked(bob, "/posts/views/teaser/list", "author.name")).toEqual([200, [post]]);
    for (const hidden of ["author.email", "editor.name", "secret"])
      expect(await asked(bob, "/posts/views/teaser/list", hidden)).toEqual([
        422,
        "field_not_queryable",
      ]);
    expect((await bob.call("POST", "/posts/list", {})).status).toBe(403);
  });

  test("a view can be asked for what names its documents, as far as that is visible", async () => {
    const { ann, bob, profile, post } = await furnished();
    const named = { $exists: { "posts.author": { $values: { title: "T" } } } };
    const through = { $exists: { "author.posts.editor": {} } };
    const seen = await ann.call("POST", "/profiles/views/public/list", { filters: named });
    expect(seen.body.hits.map(({ id }: { id: string }) => id)).toEqual([profile]);
    const led = await ann.call("POST", "/posts/list", { filters: through });
    expect(led.body.hits.map(({ id }: { id: string }) => id)).toEqual([post]);
    for (const [path, filters] of [
      ["/profiles/views/public/list", named],
      ["/posts/views/teaser/list", through],
    ] as const)
      expect((await bob.call("POST", path, { filters })).status).toBe(403);
  });

  test("handlers answer with a view, and read by it", async () => {
    const { bob, team, profile } = await furnished();
    const { status, body } = await bob.call("POST", "/find", { name: "Ann" });
    expect([status, body]).toEqual([
      200,
      {
        found: [{ id: profile, name: "Ann", bio: null, team }],
        first: { id: profile, rev: 1, name: "Ann" },
      },
    ]);
  });

  test("a reference is kept whatever its view", async () => {
    const { ann, profile } = await furnished();
    const lost = await ann.call("POST", "/posts", {
      title: "T",
      secret: "s",
      author: "018f0000-0000-7000-8000-000000000000",
    });
    expect([lost.status, lost.body.context.errors[0].path]).toEqual([422, "/author"]);
    expect((await ann.call("DELETE", `/profiles/${profile}`)).body.code).toBe("reference_in_use");
  });
});
