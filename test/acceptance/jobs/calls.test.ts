// Operations that jobs call: with the rights of whoever enqueued them, their rules, and once; on each engine.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  member: [principal, tenant]
  writer: [principal, tenant, {authorize: notes.write}]
documents:
  notes: {type: {text: {type: string, minLength: 1}}, guard: member}
jobs:
  notes.call: {in: {text: string}, run: registry/jobs.ts#call, retries: 2, keep: 1d}
  notes.serve: {in: {text: string}, run: registry/jobs.ts#call, as: service, retries: 0, keep: 1d}
operations:
  notes.start: {post: /start, in: {job: string, text: string}, run: registry/handlers.ts#start, guard: member}
  notes.write:
    post: /write/{kind}
    in: {kind: string, text: {type: string, minLength: 1}}
    out: {id: uuid}
    run: registry/handlers.ts#write
    hooks: {before: [registry/handlers.ts#note]}
    guard: writer
    idempotency: true
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { enqueue } from "../generated/jobs.js";
export const state = { hooks: 0, failures: 0 };
export const start = async ({ job, text }, context) => void (await enqueue(context, job, { text }));
export const note = async () => void (state.hooks += 1);
export const write = async ({ kind, text }, context) => ({ id: (await collection(notesSpec, context).create({ text: kind + " " + text })).id });
`,
  "registry/jobs.ts": `import { notesWrite } from "../generated/routes/notes.js";
import { state } from "./handlers.js";
export const ids = [];
export const call = async ({ text }, _context, run) => {
  const { id } = await run.call("write", notesWrite, { kind: "by job", text });
  ids.push(id);
  if (state.failures > 0) {
    state.failures -= 1;
    throw new Error("once");
  }
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project?.remove());

const server = process.env["OPWRIGHT_TEST_POSTGRES"];
for (const { name, isAvailable } of engines) {
  const database = name === "postgres" && server !== undefined ? { database: server } : {};

  describe.skipIf(!isAvailable)(`operations that jobs call on ${name}`, () => {
    const started = async () => {
      const { testService } = await project.load("generated/testing.ts");
      const { state } = await project.load("registry/handlers.ts");
      const { ids } = await project.load("registry/jobs.ts");
      Object.assign(state, { hooks: 0, failures: 0 });
      ids.length = 0;
      const app = await testService({ ...database });
      onTestFinished(() => app.close());
      const { notes } = await project.load("generated/client/index.ts");
      return { app, state, ids, notes };
    };

    test("are done once, in the name of the caller, with their hooks", async () => {
      const { app, state, ids, notes } = await started();
      const ada = await app.as("ada", { permissions: ["notes.write"] });
      state.failures = 1;
      await notes.start(ada, { job: "notes.call", text: "a" });
      await app.jobs.done();
      await app.clock.advance("1 minute");
      await app.jobs.done();
      const { hits } = await notes.list(await app.as("ada"), {});
      expect(hits).toMatchObject([{ text: "by job a" }]);
      expect(ids).toEqual([hits[0].id, hits[0].id]);
      expect(state.hooks).toBe(1);
      expect(await app.jobs.list("notes.call")).toMatchObject([{ state: "done", attempts: 2 }]);
    });

    test("refuse who may not, an input that is not as declared, and the service itself", async () => {
      const { app, notes } = await started();
      const [eve, ada] = [
        await app.as("eve"),
        await app.as("ada", { permissions: ["notes.write"] }),
      ];
      await notes.start(eve, { job: "notes.call", text: "e" });
      await app.jobs.done();
      const [refused] = await app.jobs.list("notes.call");
      expect(refused).toMatchObject({
        state: "scheduled",
        error: expect.stringMatching(/^core\.authorization: /),
      });
      await notes.start(ada, { job: "notes.call", text: "" });
      await notes.start(ada, { job: "notes.serve", text: "s" });
      await app.jobs.done();
      const [invalid] = await app.jobs.list("notes.call");
      expect(invalid).toMatchObject({ error: expect.stringMatching(/^core\.validation: /) });
      expect(await app.jobs.list("notes.serve")).toMatchObject([
        { state: "failed", error: expect.stringMatching(/^core\.authentication: /) },
      ]);
    });
  });
}
