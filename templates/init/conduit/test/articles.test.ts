import assert from "node:assert/strict";
import { test } from "node:test";
import { conduit, titles, write, type Caller } from "./api.js";

const missing = [401, { errors: { token: ["is missing"] } }];
const unknown = [404, { errors: { article: ["not found"] } }];
const forbidden = [403, { errors: { article: ["forbidden"] } }];

test("an article is written, read, changed and deleted by its author", async () => {
  await using app = await conduit();
  const jake = await app.register("jake");
  const article = await write(jake, "How to train your dragon", ["dragons", "training"]);
  const { createdAt, updatedAt, ...rest } = article;
  assert.deepEqual(rest, {
    slug: "how-to-train-your-dragon",
    title: "How to train your dragon",
    description: "About it",
    body: "All of it",
    tagList: ["dragons", "training"],
    favorited: false,
    favoritesCount: 0,
    author: { username: "jake", bio: null, image: null, following: false },
  });
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(await app.nobody.call("GET", `/articles/${article.slug}`), [200, { article }]);

  await app.clock.advance("1 minute");
  const put = (slug: string, change: object) => jake.call("PUT", `/articles/${slug}`, { article: change });
  const [status, changed] = await put(article.slug, { body: "More of it" });
  assert.deepEqual([status, changed.article.body, changed.article.slug], [200, "More of it", article.slug]);
  assert.equal(changed.article.createdAt, createdAt);
  assert.notEqual(changed.article.updatedAt, updatedAt);
  assert.deepEqual(changed.article.tagList, ["dragons", "training"]);
  const tagged = await put(article.slug, { tagList: ["training", "fire", "training"] });
  assert.deepEqual(tagged[1].article.tagList, ["training", "fire"]);
  assert.deepEqual((await put(article.slug, { tagList: [] }))[1].article.tagList, []);
  assert.equal((await put(article.slug, { tagList: null }))[0], 422);
  const renamed = (await put(article.slug, { title: "Did you train it?" }))[1].article;
  assert.equal(renamed.slug, "did-you-train-it");
  assert.deepEqual(await jake.call("GET", `/articles/${article.slug}`), unknown);

  await jake.call("POST", `/articles/${renamed.slug}/comments`, { comment: { body: "Mine" } });
  await jake.call("POST", `/articles/${renamed.slug}/favorite`);
  assert.deepEqual(await jake.call("DELETE", `/articles/${renamed.slug}`), [204, null]);
  assert.deepEqual(await jake.call("GET", `/articles/${renamed.slug}`), unknown);
});

test("two articles of one title have a slug each, and words of any script are kept", async () => {
  await using app = await conduit();
  const jake = await app.register("jake");
  const [first, second] = [await write(jake, "The same"), await write(jake, "The same")];
  assert.notEqual(first.slug, second.slug);
  assert.equal((await jake.call("GET", `/articles/${second.slug}`))[1].article.slug, second.slug);
  assert.equal((await write(jake, "日本 語!")).slug, "日本-語");
  assert.notEqual((await write(jake, "Feed")).slug, "feed");
  assert.notEqual((await write(jake, "?!")).slug, "");
  const { slug } = await write(jake, "𠮷".repeat(3000));
  assert.equal((await jake.call("GET", `/articles/${encodeURIComponent(slug)}`))[1].article.slug, slug);
});

test("what is blank is refused by its name; only authors change and delete", async () => {
  await using app = await conduit();
  const [jake, anne] = [await app.register("jake"), await app.register("anne")];
  for (const member of ["title", "description", "body"]) {
    for (const nothing of ["", " "]) {
      const article = { title: "A", description: "B", body: "C", [member]: nothing };
      assert.deepEqual(await jake.call("POST", "/articles", { article }), [
        422,
        { errors: { [member]: ["can't be blank"] } },
      ]);
    }
  }
  const { slug } = await write(jake, "Mine");
  const article = { body: "Yours" };
  assert.deepEqual(await anne.call("PUT", `/articles/${slug}`, { article }), forbidden);
  assert.deepEqual(await anne.call("DELETE", `/articles/${slug}`), forbidden);
  assert.deepEqual(await anne.call("PUT", "/articles/nothing", { article }), unknown);
  assert.deepEqual(await anne.call("DELETE", "/articles/nothing"), unknown);
  const whole = { title: "A", description: "B", body: "C" };
  for (const [method, path, body] of [
    ["POST", "/articles", { article: whole }],
    ["PUT", `/articles/${slug}`, { article }],
    ["DELETE", `/articles/${slug}`],
    ["GET", "/articles/feed"],
    ["POST", `/articles/${slug}/favorite`],
    ["DELETE", `/articles/${slug}/favorite`],
    ["POST", `/articles/${slug}/comments`, { comment: { body: "D" } }],
    ["DELETE", `/articles/${slug}/comments/1`],
  ] as const)
    assert.deepEqual(await app.nobody.call(method, path, body), missing);
  assert.equal((await jake.call("GET", `/articles/${slug}`))[1].article.body, "All of it");
});

/** Three articles a minute apart: two of Jake's, one of Anne's. */
async function three(app: Awaited<ReturnType<typeof conduit>>): Promise<readonly [Caller, Caller]> {
  const [jake, anne] = [await app.register("jake"), await app.register("anne")];
  await write(jake, "One", ["dragons"]);
  await app.clock.advance("1 minute");
  await write(anne, "Two", ["dragons", "cooking"]);
  await app.clock.advance("1 minute");
  await write(jake, "Three");
  return [jake, anne];
}

test("lists are newest first, without bodies, by tag, author and who likes them", async () => {
  await using app = await conduit();
  const [, anne] = await three(app);
  const list = (query = "") => app.nobody.call("GET", `/articles${query}`);
  const [status, all] = await list();
  assert.deepEqual([status, all.articlesCount, "body" in all.articles[0]], [200, 3, false]);
  assert.deepEqual(titles([status, all]), ["Three", "Two", "One"]);
  assert.deepEqual(all.articles[1].tagList, ["dragons", "cooking"]);
  assert.deepEqual(titles(await list("?tag=dragons")), ["Two", "One"]);
  assert.deepEqual(titles(await list("?author=jake")), ["Three", "One"]);
  assert.deepEqual(titles(await list("?author=jake&tag=dragons")), ["One"]);
  assert.deepEqual(await list("?author=bob"), [200, { articles: [], articlesCount: 0 }]);
  await anne.call("POST", "/articles/one/favorite");
  assert.deepEqual(titles(await list("?favorited=anne")), ["One"]);
  assert.deepEqual(titles(await list("?favorited=jake")), []);
  const [, second] = await list("?limit=1&offset=1");
  assert.deepEqual([titles([200, second]), second.articlesCount], [["Two"], 3]);
  assert.deepEqual(titles(await list("?limit=2&offset=1")), ["Two", "One"]);
  assert.deepEqual(Object.keys((await list("?limit=0"))[1].errors), ["limit"]);
});

test("the feed has articles of whom the caller follows", async () => {
  await using app = await conduit();
  const [jake, anne] = await three(app);
  assert.deepEqual(await anne.call("GET", "/articles/feed"), [200, { articles: [], articlesCount: 0 }]);
  await anne.call("POST", "/profiles/jake/follow");
  const [, feed] = await anne.call("GET", "/articles/feed?limit=1");
  assert.deepEqual([titles([200, feed]), feed.articlesCount], [["Three"], 2]);
  assert.equal(feed.articles[0].author.following, true);
  assert.deepEqual(titles(await anne.call("GET", "/articles/feed?offset=1")), ["One"]);
  assert.deepEqual(titles(await jake.call("GET", "/articles/feed")), []);
});

test("each likes an article once, and everybody sees how many do", async () => {
  await using app = await conduit();
  const [jake, anne] = await three(app);
  const likes = async (by: Caller, method: string) => {
    const [status, { article }] = await by.call(method, "/articles/one/favorite");
    return [status, article.favorited, article.favoritesCount];
  };
  for (const _time of [1, 2]) assert.deepEqual(await likes(anne, "POST"), [200, true, 1]);
  assert.deepEqual(await likes(jake, "POST"), [200, true, 2]);
  const seen = (await app.nobody.call("GET", "/articles/one"))[1].article;
  assert.deepEqual([seen.favorited, seen.favoritesCount], [false, 2]);
  assert.equal((await anne.call("GET", "/articles?favorited=jake"))[1].articles[0].favorited, true);
  for (const _time of [1, 2]) assert.deepEqual(await likes(anne, "DELETE"), [200, false, 1]);
  for (const method of ["POST", "DELETE"])
    assert.deepEqual(await anne.call(method, "/articles/nothing/favorite"), unknown);
});

test("tags are those of articles, the most used first", async () => {
  await using app = await conduit();
  assert.deepEqual(await app.nobody.call("GET", "/tags"), [200, { tags: [] }]);
  await three(app);
  assert.deepEqual(await app.nobody.call("GET", "/tags"), [200, { tags: ["dragons", "cooking"] }]);
});
