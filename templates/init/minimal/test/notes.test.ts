import assert from "node:assert/strict";
import { test } from "node:test";
import { notes } from "../generated/client/index.js";
import { testService } from "../generated/testing.js";

test("a note is kept, and nobody changes it by accident", async () => {
  await using app = await testService();
  const { id, rev } = await notes.create(app.client(), { text: "hello" });
  await notes.update(app.client(), { id, rev, patch: { pinned: true } });
  const stale = await notes.update(app.client(), { id, rev, patch: { text: "bye" } }).settled();
  assert.equal(stale.ok ? null : stale.error.code, "revision_mismatch");
  assert.equal((await notes.get(app.client(), { id })).text, "hello");
});

test("the service greets", async () => {
  await using app = await testService();
  const { greeting } = await notes.greet(app.client(), { name: "Ann" });
  assert.equal(greeting, "Hello, Ann");
});
