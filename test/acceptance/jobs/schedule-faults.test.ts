// What attacks on schedules have found: one that can't be fired, clocks that are ahead, keys, runs that begin anew, and how
// long runs have waited; on each engine.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { jobStore } from "../../../runtime/ports/jobs.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
jobs:
  night.report: {cron: "0 3 * * *", retries: 0, run: registry/jobs.ts#report, keep: 365d}
  tick.keyed:
    cron: "*/10 * * * *"
    missed: all
    in: {kind: {type: string, default: x}}
    unique: [kind]
    concurrency: {max: 1, per: key}
    timeout: 1d
    run: registry/jobs.ts#wait
    keep: 365d
  odd.tick: {cron: "0 4 * * *", in: {kind: string?}, run: registry/jobs.ts#quiet, keep: 365d}
  plain.job: {run: registry/jobs.ts#quiet, keep: 365d}
  long.sleep: {run: registry/jobs.ts#sleeper, keep: 365d}
  slot.hold: {run: registry/jobs.ts#wait, timeout: 1d, keep: 365d}
job_runs: {guard: open}
operations:
  jobs.start: {post: /start, in: {job: string}, out: {id: uuid}, run: registry/handlers.ts#start, guard: open}
  jobs.state: {post: /state, out: {ready: integer, scheduled: integer, lag: integer}, run: registry/handlers.ts#state, guard: open}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ job }, context) => ({ id: await enqueue(context, job, {}) });
export const told = { state: undefined };
export const state = async (_input, context) => {
  const { ready, scheduled, lagMillis } = await told.state(context);
  return { ready, scheduled, lag: Math.round(lagMillis / 1000) };
};
`,
  "registry/jobs.ts": `export const seen = [];
export const state = { fails: false, underWay: 0, most: 0, gate: Promise.resolve() };
export const quiet = async () => undefined;
export const report = async (_input, _context, { plannedAt }) => {
  seen.push(plannedAt.toISOString());
  if (state.fails) throw new Error("not tonight");
};
export const wait = async () => {
  state.underWay += 1;
  state.most = Math.max(state.most, state.underWay);
  await state.gate;
  state.underWay -= 1;
};
export const sleeper = async (_input, _context, { sleep }) => sleep("rest", "3d");
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

  describe.skipIf(!isAvailable)(`faults of schedules on ${name}`, () => {
    const started = async (clock: string, further: object = {}) => {
      const { testService } = await project.load("generated/testing.ts");
      const { seen, state } = await project.load("registry/jobs.ts");
      const { told } = await project.load("registry/handlers.ts");
      // oxlint-disable-next-line typescript/no-explicit-any -- the context of an author's handler
      told.state = (context: any) => context.transaction.of(jobStore).state(context.clock.now());
      seen.length = 0;
      Object.assign(state, { fails: false, underWay: 0, most: 0, gate: Promise.resolve() });
      const app = await testService({ clock, ...database, ...further });
      onTestFinished(() => app.close());
      await app.jobs.done();
      const post = async (path: string, body: object = {}) => {
        const headers = { "content-type": "application/json" };
        const init = { method: "POST", headers, body: JSON.stringify(body) };
        const answer = await fetch(`${app.url}${path}`, init);
        const text = await answer.text();
        return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
      };
      const states = async (job: string): Promise<readonly string[]> =>
        (await app.jobs.list(job, null)).map((run: { readonly state: string }) => run.state);
      /** Has what waits wait until the function that is returned is called. */
      const close = (): (() => void) => {
        let open = (): void => undefined;
        state.gate = new Promise<void>((resolve) => (open = resolve));
        onTestFinished(() => open());
        return () => open();
      };
      return { app, post, states, seen, state, close };
    };

    test("one that can't be fired keeps nothing else from running, and is told of", async () => {
      const { service } = await project.load("generated/service.ts");
      const { jobs } = service.jobs as { jobs: Record<string, { input: unknown }> };
      const odd = jobs["odd.tick"];
      const { input } = odd ?? {};
      onTestFinished(() => void Object.assign(odd ?? {}, { input }));
      const { app, post, states } = await started("2026-06-01T00:00:00Z");
      const refuse = (): never => {
        throw new TypeError("it takes more");
      };
      Object.assign(odd ?? {}, { input: refuse });
      await app.clock.set("2026-06-01T04:00:01Z");
      await post("/start", { job: "plain.job" });
      await app.jobs.done();
      expect(await states("plain.job")).toEqual(["done"]);
      expect(await states("night.report")).toEqual(["done"]);
      const lines = app.logs.filter(({ message }: { message: string }) => /schedule/.test(message));
      expect(lines).toMatchObject([{ level: "error", fields: { job: "odd.tick" } }]);
      Object.assign(odd ?? {}, { input });
      await app.clock.set("2026-06-02T04:00:01Z");
      await app.jobs.done();
      expect(await states("odd.tick")).toEqual(["done"]);
    });

    test("those that a clock has moved on which was ahead come in their times again", async () => {
      const { app, post, seen } = await started("2026-06-01T00:00:00Z");
      await app.clock.set("2026-07-01T03:00:01Z");
      await app.jobs.done();
      await app.clock.set("2026-06-01T00:00:00Z");
      await post("/start", { job: "plain.job" });
      await app.jobs.done();
      for (const time of ["01T01:30", "01T03:00", "02T03:00"]) {
        await app.clock.set(`2026-06-${time}:01Z`);
        await app.jobs.done();
      }
      expect(seen.slice(1)).toEqual(["2026-06-01T03:00:00.000Z", "2026-06-02T03:00:00.000Z"]);
    });

    test("a run that begins anew is that of its time", async () => {
      const { app, post, seen, state } = await started("2026-06-01T00:00:00Z");
      state.fails = true;
      await app.clock.set("2026-06-01T03:00:10Z");
      await app.jobs.done();
      state.fails = false;
      await app.clock.set("2026-06-01T09:30:00Z");
      const [failed] = await app.jobs.list("night.report", null);
      expect((await post(`/job_runs/${failed.id}/retry`)).status).toBe(204);
      await app.jobs.done();
      expect(seen).toEqual(["2026-06-01T03:00:00.000Z", "2026-06-01T03:00:00.000Z"]);
    });

    test("`unique` and `concurrency` per key hold for them", async () => {
      // The clock goes on by more than usual leases hold.
      const environment = { JOBS_LEASE_SECONDS: "3600" };
      const { app, state, states, close } = await started("2026-06-01T00:05:00Z", { environment });
      const open = close();
      await app.clock.set("2026-06-01T01:05:00Z");
      await vi.waitFor(() => expect(state.underWay).toBe(1), 10_000);
      for (const minute of ["15", "25"]) {
        await app.clock.set(`2026-06-01T01:${minute}:00Z`);
        await vi.waitFor(async () => expect((await states("tick.keyed")).length).toBe(2), 10_000);
      }
      open();
      await app.jobs.done();
      expect(state.most).toBe(1);
      const runs = await app.jobs.list("tick.keyed", null);
      expect(
        runs.map(({ plannedAt }: { plannedAt: Date }) => plannedAt.toISOString()).toSorted(),
      ).toEqual(["2026-06-01T01:00:00.000Z", "2026-06-01T01:20:00.000Z"]);
    });

    test("what waits for room is counted as ready, from when it could have begun", async () => {
      const environment = { JOBS_AT_ONCE: "1" };
      const { app, post, state, close } = await started("2026-06-01T00:05:00Z", { environment });
      await post("/start", { job: "long.sleep" });
      await app.jobs.done();
      await app.clock.set("2026-06-04T00:04:00Z");
      await app.jobs.done();
      const open = close();
      await post("/start", { job: "slot.hold" });
      await vi.waitFor(() => expect(state.underWay).toBe(1), 10_000);
      await app.clock.set("2026-06-04T00:07:00Z");
      // Two minutes, and not the three days that it slept.
      await vi.waitFor(
        async () => expect((await post("/state")).body).toMatchObject({ ready: 1, lag: 120 }),
        10_000,
      );
      open();
    });
  });
}
