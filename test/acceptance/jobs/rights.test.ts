// Whose rights runs have, how many there are at once, and whose turn it is; on each engine.
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ExecutionContext } from "../../../runtime/operations/context.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  member: [principal, tenant]
  own: [principal, tenant, {scope: own_rows}]
  open: []
documents:
  notes: {type: {text: string}, guard: own}
jobs:
  notes.count: {in: {who: string}, run: registry/jobs.ts#count}
  notes.all: {in: {who: string}, run: registry/jobs.ts#count, as: service}
  slow.each: {in: {name: string}, run: registry/jobs.ts#slow, concurrency: {max: 2, per: tenant}}
  slow.one: {in: {name: string}, run: registry/jobs.ts#slow, concurrency: {max: 1}}
  slow.free: {in: {name: string}, run: registry/jobs.ts#slow}
  slow.keyed: {in: {name: string}, run: registry/jobs.ts#slow, unique: [name], concurrency: {max: 1, per: key}}
  bad.input: {in: {name: {type: string, maxLength: 3}}, run: registry/jobs.ts#slow}
job_runs: {guard: member}
operations:
  notes.start: {post: /start, in: {job: string, input: {type: object}, priority: integer?}, run: registry/handlers.ts#start, guard: member}
  notes.anyone: {post: /anyone, in: {}, run: registry/handlers.ts#anyone, guard: open}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ job, input, priority }, context) => {
  await enqueue(context, job, input, priority === undefined ? {} : { priority });
};
export const anyone = async (_input, context) => {
  await enqueue(context, "notes.count", { who: "nobody" });
};
`,
  "registry/jobs.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const state = { counts: {}, order: [], running: new Map(), most: new Map(), gate: Promise.resolve() };
export const count = async ({ who }, context) => {
  const hits = await collection(notesSpec, context).find();
  state.counts[who] = [hits.length, context.identity?.principalId ?? null];
};
export const slow = async ({ name }, context) => {
  const key = context.operationId + " " + name;
  const now = (state.running.get(key) ?? 0) + 1;
  state.running.set(key, now);
  state.most.set(key, Math.max(now, state.most.get(key) ?? 0));
  state.order.push(name);
  await state.gate;
  state.running.set(key, state.running.get(key) - 1);
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

  describe.skipIf(!isAvailable)(`runs on ${name}`, () => {
    const started = async (environment = {}) => {
      const { testService } = await project.load("generated/testing.ts");
      const { state } = await project.load("registry/jobs.ts");
      Object.assign(state, { counts: {}, order: [], gate: Promise.resolve() });
      state.running.clear();
      state.most.clear();
      const app = await testService({ ...database, environment });
      onTestFinished(() => app.close());
      const { notes } = await project.load("generated/client/index.ts");
      return { app, state, notes };
    };

    test("see what those see who have enqueued them, or all", async () => {
      const { app, state, notes } = await started();
      const [ada, bob] = [await app.as("ada"), await app.as("bob")];
      await notes.create(ada, { text: "a" });
      await notes.create(bob, { text: "b" });
      await notes.start(ada, { job: "notes.count", input: { who: "ada" } });
      await notes.start(ada, { job: "notes.all", input: { who: "all" } });
      await app.jobs.done();
      expect(state.counts).toEqual({ ada: [1, ada.principalId], all: [2, null] });
    });

    test("of anonymous callers have nobody's rights", async () => {
      const { app, state, notes } = await started();
      await notes.anyone(app.client(), {});
      await app.jobs.done();
      expect(state.counts).toEqual({});
      expect(app.logs.map(({ message }: { message: string }) => message)).toContain(
        "a job failed, and is tried again",
      );
    });

    test("fail at once for whoever is gone by then", async () => {
      const { app, state, notes } = await started({ JOBS_AT_ONCE: "1" });
      const ada = await app.as("ada");
      let open = (): void => undefined;
      state.gate = new Promise<void>((resolve) => (open = resolve));
      await notes.start(ada, { job: "slow.free", input: { name: "first" } });
      await vi.waitFor(() => expect(state.order).toEqual(["first"]));
      await notes.start(ada, { job: "notes.count", input: { who: "ada" } });
      await app.write(({ transaction }: ExecutionContext) =>
        transaction.of(tenantStore).removeMember(ada.tenantId, ada.principalId, Date.now()),
      );
      open();
      await app.jobs.done();
      expect(state.counts).toEqual({});
      expect(await app.jobs.list("notes.count")).toMatchObject([
        {
          state: "failed",
          attempts: 1,
          error: "whoever enqueued it is inactive or no longer a member",
        },
      ]);
    });

    test("are no more at once than the job says, of a tenant or of all", async () => {
      const { app, state, notes } = await started();
      const [ada, bob] = [await app.as("ada"), await app.as("bob", { tenant: "other" })];
      let open = (): void => undefined;
      state.gate = new Promise<void>((resolve) => (open = resolve));
      for (const [who, person] of [
        ["ada", ada],
        ["bob", bob],
      ] as const)
        for (let index = 0; index < 3; index += 1) {
          await notes.start(person, { job: "slow.each", input: { name: who } });
          await notes.start(person, { job: "slow.one", input: { name: "one" } });
        }
      await vi.waitFor(() => expect(state.order).toHaveLength(5));
      open();
      await app.jobs.done();
      expect(state.order).toHaveLength(12);
      expect(Object.fromEntries(state.most)).toEqual({
        "jobs.slow.each ada": 2,
        "jobs.slow.each bob": 2,
        "jobs.slow.one one": 1,
      });
    });

    test("with a key are one at a time, where the job says so", async () => {
      const { app, state, notes } = await started();
      const [ada, bob] = [await app.as("ada"), await app.as("bob", { tenant: "other" })];
      let open = (): void => undefined;
      state.gate = new Promise<void>((resolve) => (open = resolve));
      const start = (who: unknown, name: string) =>
        notes.start(who, { job: "slow.keyed", input: { name } });
      await start(ada, "a");
      await vi.waitFor(() => expect(state.order).toEqual(["a"]));
      for (const [who, name] of [
        [ada, "a"],
        [ada, "b"],
        [bob, "a"],
      ] as const)
        await start(who, name);
      await vi.waitFor(() => expect(state.order).toHaveLength(3));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect([...state.order].sort()).toEqual(["a", "a", "b"]);
      open();
      await app.jobs.done();
      expect([...state.order].sort()).toEqual(["a", "a", "a", "b"]);
    });

    test("take turns between tenants, and those of higher priority come first", async () => {
      const { app, state, notes } = await started({ JOBS_AT_ONCE: "1" });
      const [ada, bob] = [await app.as("ada"), await app.as("bob", { tenant: "other" })];
      let open = (): void => undefined;
      state.gate = new Promise<void>((resolve) => (open = resolve));
      await notes.start(ada, { job: "slow.free", input: { name: "first" } });
      await vi.waitFor(() => expect(state.order).toEqual(["first"]));
      for (let index = 0; index < 4; index += 1)
        await notes.start(ada, { job: "slow.free", input: { name: "ada" } });
      await notes.start(ada, { job: "slow.each", input: { name: "urgent" }, priority: 5 });
      await notes.start(bob, { job: "slow.free", input: { name: "bob" } });
      open();
      await app.jobs.done();
      expect(state.order.slice(0, 3).sort()).toEqual(["bob", "first", "urgent"]);
      expect(state.order.slice(3)).toEqual(["ada", "ada", "ada", "ada"]);
    });

    test("are refused with an input that is not as declared, and the caller is told so", async () => {
      const { app, notes } = await started();
      const ada = await app.as("ada");
      const refused = await notes
        .start(ada, { job: "bad.input", input: { name: "too long" } })
        .settled();
      expect(refused).toMatchObject({ ok: false, error: { status: 500 } });
      expect(await app.jobs.list()).toEqual([]);
      expect(inspect(app.logs, { depth: 6 })).toContain(
        "the input of bad.input is not what `jobs` declares",
      );
    });
  });
}
