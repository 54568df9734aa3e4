// Scopes of policies that let anybody in: what strangers see, and what those who have signed in see besides.
import { expect, test } from "vitest";
import { cli } from "../../generator/cli.js";
import { writeProject } from "../../generator/scenario.js";
import { onEachEngine } from "../../support/on-each-engine.js";

const registry = (policy: string): string =>
  `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  api_keys: {}
policies:
  reader: ${policy}
  writer: [principal, {scope: own_rows}]
scopes: {published: registry/scopes.ts#published}
documents:
  articles:
    type: {title: string, state: [draft, published], sort: integer}
    guard: {read: reader, write: writer}
    tenant: false
    indexes: [[sort]]
  comments: {type: {text: string, article: {ref: articles}}, guard: {read: reader_of_all, write: signed}, tenant: false}
search:
  article_search: {of: articles, text: [title], guard: reader, mount: {at: /search}}
operations:
  articles.count: {get: /count, out: {count: integer}, run: registry/handlers.ts#count, guard: reader_of_all}
`.replace("  writer:", "  reader_of_all: []\n  signed: [principal]\n  writer:");

const files = {
  "registry/service.yaml": registry(
    "[{scope: published, strangers: true, override: [articles.admin]}]",
  ),
  "registry/scopes.ts": `import type { OpenScopePort } from "opwright/runtime";
export const published: OpenScopePort = ({ identity }) => {
  const isPublished = { $values: { state: "published" } };
  return identity === null
    ? isPublished
    : { $or: [isPublished, { $values: { owner_id: identity.principalId } }] };
};
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { articlesSpec } from "../generated/documents/articles.js";
export const count = async (_input, context) => ({ count: await collection(articlesSpec, context).count() });
`,
};

onEachEngine(
  files,
  ({ service, people }) => {
    test("narrow what strangers read, on every path", async () => {
      const [ada, bob] = [await people.person(), await people.person()];
      const tokenOf = async ({ id }: typeof ada) => (await people.session(id, null)).access_token;
      const [adas, bobs] = [await tokenOf(ada), await tokenOf(bob)];
      const made = async (token: string, state: string, sort: number): Promise<string> =>
        (await people.as(token, "POST", "/articles", { title: "word", state, sort })).body.id;
      const [draft, shown] = [await made(adas, "draft", 1), await made(adas, "published", 2)];
      const read = async (id: string) => (await service.call("GET", `/articles/${id}`)).status;
      expect([await read(draft), await read(shown)]).toEqual([404, 200]);
      const idsOf = (answer: { readonly body: { readonly hits: { readonly id: string }[] } }) =>
        answer.body.hits.map(({ id }) => id);
      expect(idsOf(await service.post("/articles/list", {}))).toEqual([shown]);
      expect(idsOf(await service.post("/search/typed", { query: "word" }))).toEqual([shown]);
      expect((await service.call("GET", "/count")).body).toEqual({ count: 1 });
      expect((await people.as(adas, "GET", "/count")).body).toEqual({ count: 2 });
      expect((await people.as(bobs, "GET", "/count")).body).toEqual({ count: 1 });
      expect((await people.as(adas, "GET", `/articles/${draft}`)).status).toBe(200);
      expect((await people.as(bobs, "GET", `/articles/${draft}`)).status).toBe(404);
      // What is hidden is not named, expanded or sorted by either.
      const hidden = await people.as(bobs, "POST", "/comments", { text: "x", article: draft });
      expect(hidden.status).toBe(422);
      const comment = await people.as(adas, "POST", "/comments", { text: "x", article: draft });
      const expanded = await service.call("GET", `/comments/${comment.body.id}?expand=article`);
      expect(expanded.body.expanded.article).toBeNull();
      const filters = { $values: { "article.title": "word" } };
      expect((await service.post("/comments/list", { filters })).body.count).toBe(0);
      // Who may see all does, and credentials that are not valid are no stranger's.
      await people.grant(null, bob.id, "articles.admin");
      expect((await people.as(bobs, "GET", `/articles/${draft}`)).status).toBe(200);
      expect((await people.as("nonsense", "GET", `/articles/${shown}`)).status).toBe(401);
      // A key for some permissions is nobody's, unless one of these lifts the scope.
      await people.grant(null, bob.id, "articles.other");
      const draftOfBob = await made(bobs, "draft", 3);
      const other = await people.as(bobs, "POST", "/api-keys", { scopes: ["articles.other"] });
      const byOther = (id: string) =>
        service.call("GET", `/articles/${id}`, { headers: { "X-API-Key": other.body.api_key } });
      expect([(await byOther(shown)).status, (await byOther(draftOfBob)).status]).toEqual([
        200, 404,
      ]);
      const key = await people.as(bobs, "POST", "/api-keys", { scopes: ["articles.admin"] });
      const asKey = (id: string) =>
        service.call("GET", `/articles/${id}`, { headers: { "X-API-Key": key.body.api_key } });
      expect((await asKey(draftOfBob)).status).toBe(200);
    });
  },
  { signsIn: false },
);

test.each([
  ["[{scope: own_rows, strangers: true}]", "strangers belongs to one of `scopes`"],
  ["[principal, {authorize: articles.read, strangers: true}]", "strangers belongs to"],
  ["[{scope: published}]", "authn.principal"],
])("a policy that makes no sense is told: %s", async (policy, told) => {
  const { root, remove } = writeProject({ ...files, "registry/service.yaml": registry(policy) });
  const { code, stdout } = await cli(root, "check");
  expect([code, stdout]).toEqual([1, expect.stringContaining(told)]);
  remove();
});
