// Schedules of jobs and the clock: once among processes, missed times, daylight saving; and the kit's `app.jobs`.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant]}
documents:
  notes: {type: {text: string}, guard: member}
jobs:
  night.report: {cron: "30 2 * * *", timezone: Europe/Berlin, run: registry/jobs.ts#report, keep: 365d}
  hour.each: {cron: "0 * * * *", missed: all, run: registry/jobs.ts#report, keep: 365d}
  hour.once: {cron: "0 * * * *", run: registry/jobs.ts#report, keep: 365d}
  hour.none: {cron: "0 * * * *", missed: skip, run: registry/jobs.ts#report, keep: 365d}
  day.tenants: {cron: "0 6 * * *", per: tenant, run: registry/jobs.ts#perTenant, keep: 365d}
  busy.each: {cron: "45 0 * * *", timeout: 1d, run: registry/jobs.ts#busy, keep: 365d}
  later.write: {in: {text: string}, run: registry/jobs.ts#write, keep: 365d}
operations:
  later.start: {post: /later, in: {text: string}, run: registry/handlers.ts#start, guard: member}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ text }, context) => {
  await enqueue(context, "later.write", { text }, { delay: "3d" });
};
`,
  "registry/jobs.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const seen = [];
export const report = async (_input, context, { plannedAt }) => void seen.push([context.operationId, plannedAt.toISOString()]);
export const gate = { opened: Promise.resolve() };
export const busy = async (_input, context, { plannedAt }) => {
  seen.push([context.operationId, plannedAt.toISOString()]);
  await gate.opened;
};
export const perTenant = async (_input, context) => void seen.push(["day.tenants", context.tenant]);
export const write = async ({ text }, _context, { commit, sleep }) => {
  await sleep("rest", "2h");
  await commit("note", async (context) => void (await collection(notesSpec, context).create({ text })));
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

  describe.skipIf(!isAvailable)(`schedules on ${name}`, () => {
    const started = async (clock: string, further: object = {}) => {
      const { testService } = await project.load("generated/testing.ts");
      const { seen } = await project.load("registry/jobs.ts");
      seen.length = 0;
      const app = await testService({ clock, ...database, ...further });
      onTestFinished(() => app.close());
      // The schedules count from the start of the service.
      await app.jobs.done();
      const timesOf = (job: string): readonly string[] =>
        (seen as [string, string][]).filter(([one]) => one === job).map(([, at]) => at);
      return { app, timesOf };
    };

    test("keep to the wall clock when it is set forward and back", async () => {
      const { app, timesOf } = await started("2026-03-27T12:00:00Z");
      for (const day of ["28", "29", "30"]) {
        await app.clock.set(`2026-03-${day}T12:00:00Z`);
        await app.jobs.done();
      }
      // On 29 March there is no half past two: it runs when the clock has been set forward.
      expect(timesOf("jobs.night.report")).toEqual([
        "2026-03-28T01:30:00.000Z",
        "2026-03-29T01:00:00.000Z",
        "2026-03-30T00:30:00.000Z",
      ]);
      const autumn = await started("2026-10-24T12:00:00Z");
      for (const time of ["25T00:45", "25T01:45", "26T12:00"]) {
        await autumn.app.clock.set(`2026-10-${time}:00Z`);
        await autumn.app.jobs.done();
      }
      // On 25 October half past two comes twice: it runs once, the first time.
      expect(autumn.timesOf("jobs.night.report")).toEqual([
        "2026-10-25T00:30:00.000Z",
        "2026-10-26T01:30:00.000Z",
      ]);
    });

    test("make up for what was missed as the job says", async () => {
      const { app, timesOf } = await started("2026-06-01T00:30:00Z");
      await app.clock.set("2026-06-01T04:10:00Z");
      await app.jobs.done();
      expect([...timesOf("jobs.hour.each")].sort()).toEqual(
        ["01", "02", "03", "04"].map((hour) => `2026-06-01T${hour}:00:00.000Z`),
      );
      expect(timesOf("jobs.hour.none")).toEqual([]);
      await app.clock.set("2026-06-01T05:00:30Z");
      await app.jobs.done();
      expect(timesOf("jobs.hour.none")).toEqual(["2026-06-01T05:00:00.000Z"]);
    });

    test("a time that is a moment away does not take the place of the one before", async () => {
      const { app, timesOf } = await started("2026-06-01T00:30:00Z");
      for (const time of ["01:59:59.700Z", "02:00:00.100Z"]) {
        await app.clock.set(`2026-06-01T${time}`);
        await app.jobs.done();
      }
      const hours = ["2026-06-01T01:00:00.000Z", "2026-06-01T02:00:00.000Z"];
      expect(timesOf("jobs.hour.each")).toEqual(hours);
      expect(timesOf("jobs.hour.once")).toEqual(hours);
    });

    test("no time is missed because the process is busy with other runs", async () => {
      const { app, timesOf } = await started("2026-06-01T00:30:00Z", {
        environment: { JOBS_AT_ONCE: "1" },
      });
      const { gate } = await project.load("registry/jobs.ts");
      let open = (): void => undefined;
      gate.opened = new Promise<void>((resolve) => (open = resolve));
      await app.clock.set("2026-06-01T00:45:00Z");
      await vi.waitFor(() => expect(timesOf("jobs.busy.each")).toHaveLength(1));
      await app.clock.set("2026-06-01T01:00:10Z");
      const planned = async () => (await app.jobs.list("hour.none", null)).length;
      await vi.waitFor(async () => expect(await planned()).toBe(1), 5_000);
      open();
      await app.jobs.done();
      expect(timesOf("jobs.hour.none")).toEqual(["2026-06-01T01:00:00.000Z"]);
    });

    test("have a run for each active tenant", async () => {
      const { app, timesOf } = await started("2026-06-01T00:30:00Z");
      const [ada, bob] = [await app.as("ada"), await app.as("bob", { tenant: "other" })];
      await app.clock.advance("1 day");
      await app.jobs.done();
      expect([...timesOf("day.tenants")].sort()).toEqual([ada.tenantId, bob.tenantId].sort());
    });

    test("delays and sleep end when the clock says so", async () => {
      const { app } = await started("2026-06-01T00:30:00Z");
      const ada = await app.as("ada");
      const { later, notes } = await project.load("generated/client/index.ts");
      await later.start(ada, { text: "at last" });
      const texts = async () =>
        (await notes.list(ada, {})).hits.map(({ text }: { text: string }) => text);
      await app.clock.advance("2 days");
      await app.jobs.done();
      expect(await app.jobs.list("later.write")).toMatchObject([{ state: "scheduled" }]);
      await app.clock.advance("1 day");
      await app.jobs.done();
      expect(await app.jobs.list("later.write")).toMatchObject([
        { state: "scheduled", input: { text: "at last" }, attempts: 0 },
      ]);
      expect(await texts()).toEqual([]);
      await app.clock.advance("2 hours");
      await app.jobs.done();
      expect(await texts()).toEqual(["at last"]);
      expect(await app.jobs.list("later.write")).toMatchObject([{ state: "done", attempts: 1 }]);
    });
  });
}
