// What attacks on jobs have found: mistakes of authors, odd texts, other callers' runs; on each engine.
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ExecutionContext } from "../../../runtime/operations/context.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  member: [principal, tenant]
  own: [principal, tenant, {scope: own_rows, override: [notes.admin]}]
documents:
  notes: {type: {text: string}, guard: own}
jobs:
  all.run: {in: {how: string, text: string?}, run: registry/jobs.ts#run, retries: 2, unique: [text], keep: 1d}
  last.run: {in: {how: string}, run: registry/jobs.ts#run, retries: 0, keep: 1d}
  slow.run: {run: registry/jobs.ts#slow, timeout: 1s, retries: 0}
job_runs: {guard: member}
operations:
  notes.start:
    post: /start
    in: {job: string, how: string, text: string?, delay: string?, key: string?, priority: integer?}
    out: {id: uuid}
    run: registry/handlers.ts#start
    guard: member
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ job, how, text, delay, key, priority }, context) => {
  const input = job === "slow.run" ? {} : job === "all.run" && text !== undefined ? { how, text } : { how };
  const options = Object.fromEntries(Object.entries({ delay, key, priority }).filter(([, one]) => one !== undefined));
  return { id: await enqueue(context, job, input, options) };
};
`,
  "registry/jobs.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const state = { done: [], order: [], gate: Promise.resolve() };
const ways = {
  nul: () => { throw new Error("bad \\0 \\ud83d byte"); },
  fine: () => void state.done.push("fine"),
  count: async (run, context) => void state.done.push((await collection(notesSpec, context).find()).length),
  nothing: ({ giveUp }) => giveUp(undefined),
  nested: ({ commit, step }) => commit("outer", () => step("inner", async () => 1)),
  beside: ({ step }) => Promise.all([step("a", async () => 1), step("b", async () => 2)]),
  sleeping: ({ commit, sleep }) => commit("outer", () => sleep("inner", "1s")),
  twice: async ({ step }) => { await step("a", async () => 1); await step("a", async () => 2); },
  forgotten: async ({ step }) => void step("charge", async () => 1),
  bigint: ({ step }) => step("big", async () => 1n),
  odd: ({ step }) => step("m \\ud83d", async () => 1),
  write: (run, context) => collection(notesSpec, context).create({ text: "outside" }),
  missing: (run, context) => collection(notesSpec, context).get("01890000-0000-7000-8000-000000000000"),
  fetching: () => fetch("http://127.0.0.1:59997/"),
  wait: async () => { state.order.push("wait"); await state.gate; },
};
export const run = async ({ how, text }, context, given) => {
  if (how.startsWith("order ")) state.order.push(how.slice(6));
  else await ways[how](given, context);
};
export const slow = (_input, context) => new Promise((_resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
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

  describe.skipIf(!isAvailable)(`attacks on ${name}`, () => {
    const started = async (environment = {}) => {
      const { testService } = await project.load("generated/testing.ts");
      const { state } = await project.load("registry/jobs.ts");
      Object.assign(state, { done: [], order: [], gate: Promise.resolve() });
      const app = await testService({ ...database, environment });
      onTestFinished(() => app.close());
      const ada = await app.as("ada");
      const { notes, jobRuns } = await project.load("generated/client/index.ts");
      /** Why a run has failed at once. */
      const reasonOf = async (how: string): Promise<string> => {
        const { id } = await notes.start(ada, { job: "last.run", how });
        await app.jobs.done();
        const { state: ended, error } = await jobRuns.get(ada, { id });
        return `${ended}: ${error}`;
      };
      return { app, state, ada, notes, jobRuns, reasonOf };
    };

    test("a text that no database stores spoils no end, not even its own", async () => {
      const { app, state, ada, notes, reasonOf } = await started();
      const eve = await app.as("eve", { tenant: "other" });
      for (let index = 0; index < 5; index += 1) {
        await notes.start(eve, { job: "last.run", how: "nul" });
        await notes.start(ada, { job: "last.run", how: "fine" });
      }
      await app.jobs.done();
      expect(state.done).toHaveLength(5);
      const states = (await app.jobs.list("last.run")).map((one: { state: string }) => one.state);
      expect(new Set(states)).toEqual(new Set(["done"]));
      expect(await reasonOf("nul")).toBe("failed: bad \uFFFD \uFFFD byte");
    });

    test("the reason says what happened, and the log where", async () => {
      const { app, ada, notes, jobRuns, reasonOf } = await started();
      const outside = /^failed: core\.configuration: .*write transaction/;
      expect(await reasonOf("write")).toMatch(outside);
      expect(await reasonOf("missing")).toMatch(/^failed: core\.not_found: /);
      expect(await reasonOf("fetching")).toMatch(/^failed: fetch failed: .*ECONNREFUSED/);
      const { id } = await notes.start(ada, { job: "slow.run", how: "" });
      await vi.waitFor(
        async () =>
          expect(await jobRuns.get(ada, { id })).toMatchObject({
            state: "failed",
            error: "it took longer than 1 s",
          }),
        4_000,
      );
      const line = app.logs.find(
        ({ message, fields }: { message: string; fields: { reason?: string } }) =>
          message === "a job has failed" && fields.reason?.startsWith("fetch failed") === true,
      );
      expect(inspect(line)).toContain("registry/jobs.ts");
    });

    test("mistakes with steps are told", async () => {
      const { reasonOf } = await started();
      expect(await reasonOf("nothing")).toBe("failed: undefined");
      const alone = "a run does one step at a time";
      expect(await reasonOf("nested")).toContain(`inner begins while outer is under way: ${alone}`);
      expect(await reasonOf("beside")).toContain(`b begins while a is under way: ${alone}`);
      expect(await reasonOf("sleeping")).toContain(alone);
      expect(await reasonOf("twice")).toContain("the step a is there twice");
      expect(await reasonOf("forgotten")).toContain("returned without waiting for the step charge");
      expect(await reasonOf("bigint")).toContain("the result of the step big is no JSON");
      expect(await reasonOf("odd")).toContain("the name of a step has 1 to 200 characters");
    });

    test("times, keys and values beyond what is stored are refused where they are enqueued", async () => {
      const { app, ada, notes, jobRuns } = await started();
      const refused = async (options: object): Promise<unknown> =>
        (await notes.start(ada, { job: "last.run", how: "fine", ...options }).settled()).ok;
      for (const options of [
        { delay: "200000000d" },
        { delay: "99999999999999999999d" },
        { delay: "soon" },
        { key: "a\0" },
        { key: "x".repeat(501) },
        { priority: 1001 },
      ])
        expect(await refused(options)).toBe(false);
      const text = Array.from({ length: 8_000 }, () => Math.random().toString(36)[2]).join("");
      const long = { job: "all.run", how: "fine", text, delay: "1h" };
      const first = await notes.start(ada, long);
      expect(await notes.start(ada, long)).toEqual(first);
      // What callers call their keys finds no run that `unique` keeps.
      await notes.start(ada, { job: "all.run", how: "fine", text: "f", delay: "1h" });
      await notes.start(ada, { job: "all.run", how: "fine", key: '["f"]', delay: "1h" });
      expect((await jobRuns.list(ada, {})).runs).toHaveLength(3);
      expect(await app.jobs.list("last.run")).toEqual([]);
    });

    test("a run may what its caller may in the tenant, and nothing once the actor is gone", async () => {
      const { app, state, notes } = await started();
      const [root, eve] = [
        await app.as("root", { permissions: ["notes.admin"] }),
        await app.as("eve"),
      ];
      await notes.create(eve, { text: "e" });
      await notes.start(root, { job: "last.run", how: "count" });
      await notes.start(eve, { job: "last.run", how: "count" });
      const bob = await app.as("bob", { permissions: ["notes.admin"] });
      await app.jobs.done();
      expect([...state.done].sort()).toEqual([1, 1]);
      const { enqueue } = await project.load("generated/jobs.ts");
      const acting = await app.write(async (context: ExecutionContext) => {
        const identity = {
          principalId: eve.principalId,
          actorId: bob.principalId,
          sessionId: null,
          tenant: eve.tenantId,
          expiresAt: null,
        };
        return new ExecutionContext(context.resources, {
          ...context,
          tenant: context.tenant,
          identity,
        });
      });
      await enqueue(acting, "all.run", { how: "count" }, { delay: "1h" });
      await app.write(({ transaction }: ExecutionContext) =>
        transaction.of(identityStore).deactivate(bob.principalId, Date.now()),
      );
      await app.clock.advance("1 hour");
      await app.jobs.done();
      expect(await app.jobs.list("all.run")).toMatchObject([
        { state: "failed", error: "whoever enqueued it is inactive or no longer a member" },
      ]);
    });

    test("no job waits for another of its tenant by its name, and priority counts among them", async () => {
      const { app, state, ada, notes } = await started({ JOBS_AT_ONCE: "1" });
      let open = (): void => undefined;
      state.gate = new Promise<void>((resolve) => (open = resolve));
      await notes.start(ada, { job: "last.run", how: "wait" });
      await vi.waitFor(() => expect(state.order).toEqual(["wait"]));
      for (let index = 0; index < 6; index += 1)
        await notes.start(ada, { job: "all.run", how: "order a", key: `${index}` });
      await notes.start(ada, { job: "last.run", how: "order z" });
      await notes.start(ada, { job: "all.run", how: "order a9", priority: 9, key: "9" });
      await notes.start(ada, { job: "last.run", how: "order z5", priority: 5 });
      open();
      await app.jobs.done();
      expect(state.order.slice(0, 3)).toEqual(["wait", "a9", "z5"]);
      expect(state.order.slice(3, 6)).toContain("z");
    });

    test("a run in another state is 409, and its state is told", async () => {
      const { app, ada, notes, jobRuns } = await started();
      const { id } = await notes.start(ada, { job: "last.run", how: "fine" });
      await app.jobs.done();
      for (const verb of ["retry", "cancel"])
        expect(await jobRuns[verb](ada, { id }).settled()).toMatchObject({
          ok: false,
          error: { status: 409, code: "job_run_state", context: { state: "done" } },
        });
    });
  });
}
