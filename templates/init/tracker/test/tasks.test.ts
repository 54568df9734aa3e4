import assert from "node:assert/strict";
import { test } from "node:test";
import { projects, tasks } from "../generated/client/index.js";
import { testService } from "../generated/testing.js";

const writes = {
  permissions: ["tasks.read", "tasks.write", "projects.read", "projects.write"],
};

test("whoever completes a task tells the webhooks, and who watches the project", async () => {
  await using app = await testService();
  const bob = await app.as("bob", writes);
  const project = await projects.create(bob, { name: "Home", key: "HOME" });
  const task = await tasks.create(bob, { title: "Water the plants", project: project.id });
  await tasks.complete(bob, { id: task.id, rev: task.rev });
  assert.deepEqual(
    app.outbox.map(({ name }) => name),
    ["tasks.completed"],
  );
  assert.deepEqual(app.signals.at(-1)?.to, { topic: `project:${project.id}` });
});

test("a task of an archived project is not completed", async () => {
  await using app = await testService();
  const bob = await app.as("bob", writes);
  const project = await projects.create(bob, { name: "Home", key: "HOME", archived: true });
  const task = await tasks.create(bob, { title: "Water the plants", project: project.id });
  const refused = await tasks.complete(bob, { id: task.id, rev: task.rev }).settled();
  assert.equal(refused.ok ? null : refused.error.code, "core.domain");
});

test("tasks of another tenant are not there", async () => {
  await using app = await testService();
  const bob = await app.as("bob", writes);
  const eve = await app.as("eve", { ...writes, tenant: "elsewhere" });
  const project = await projects.create(bob, { name: "Home", key: "HOME" });
  const { id } = await tasks.create(bob, { title: "Water the plants", project: project.id });
  const unseen = await tasks.get(eve, { id }).settled();
  assert.equal(unseen.ok ? null : unseen.error.code, "core.not_found");
});
