import assert from "node:assert/strict";
import { test } from "node:test";
import { conduit, write, type Answer } from "./api.js";

test("comments are added, listed newest first, and deleted by whom they are of", async () => {
  await using app = await conduit();
  const [jake, anne] = [await app.register("jake"), await app.register("anne")];
  const path = `/articles/${(await write(jake, "Mine")).slug}/comments`;
  const add = (body: string) => anne.call("POST", path, { comment: { body } });
  const [status, { comment }] = await add("First");
  assert.equal(status, 201);
  assert.ok(Number.isInteger(comment.id));
  assert.deepEqual([comment.body, comment.author.username], ["First", "anne"]);
  assert.match(comment.createdAt, /^\d{4}-\d\d-\d\dT/);
  await app.clock.advance("1 minute");
  await add("Second");
  const bodies = ([, { comments }]: Answer) => comments.map(({ body }: { body: string }) => body);
  assert.deepEqual(bodies(await app.nobody.call("GET", path)), ["Second", "First"]);
  await jake.call("POST", "/profiles/anne/follow");
  assert.equal((await jake.call("GET", path))[1].comments[0].author.following, true);

  const one = `${path}/${comment.id}`;
  assert.deepEqual(await jake.call("DELETE", one), [403, { errors: { comment: ["forbidden"] } }]);
  assert.deepEqual(await anne.call("DELETE", one), [204, null]);
  assert.deepEqual(await anne.call("DELETE", one), [404, { errors: { comment: ["not found"] } }]);
  assert.deepEqual(bodies(await app.nobody.call("GET", path)), ["Second"]);
});

test("a comment says something, about an article that is there", async () => {
  await using app = await conduit();
  const jake = await app.register("jake");
  const { slug } = await write(jake, "Mine");
  const blank = await jake.call("POST", `/articles/${slug}/comments`, { comment: { body: "" } });
  assert.deepEqual(blank, [422, { errors: { body: ["can't be blank"] } }]);
  const unknown = [404, { errors: { article: ["not found"] } }];
  const comment = { body: "Hello" };
  assert.deepEqual(await jake.call("POST", "/articles/nothing/comments", { comment }), unknown);
  assert.deepEqual(await jake.call("GET", "/articles/nothing/comments"), unknown);
  assert.deepEqual(await jake.call("DELETE", "/articles/nothing/comments/1"), unknown);
  assert.deepEqual(await jake.call("GET", `/articles/${slug}/comments`), [200, { comments: [] }]);
});
