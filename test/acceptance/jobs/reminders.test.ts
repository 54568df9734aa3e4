// `remind:` of documents: runs that follow the time of a field, whoever writes it; on each engine.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant]}
documents:
  bookings:
    type: {guest: string, starts_at: date-time?}
    guard: member
    soft_delete: true
    bulk: {max: 100}
    history: {revisions: true}
    unique: [[guest]]
    upsert: true
    remind:
      - {job: bookings.remind, at: {field: starts_at, minus: 1d}}
      - {job: bookings.rate, at: {field: starts_at, plus: 2h}}
  shared: {type: {at: date-time}, tenant: false, guard: member, remind: {job: shared.due, at: {field: at}}}
  visits: {type: {at: date-time, status: [open, done], by: string?}, guard: member, remind: {job: visits.due, at: {field: at}, where: {status: [open], by: [null]}}}
  trials: {type: {name: string}, guard: member, remind: {job: trials.end, at: {field: created_at, plus: 7d}}}
  passes: {type: {until: date-time, state: [on, off], way: [commit, own, call]}, guard: member, remind: [{job: passes.end, at: {field: until}, where: {state: [on]}}]}
operations:
  passes.stop: {post: "/passes/{id}/stop", in: {id: uuid}, out: {}, run: registry/stop.ts#stop, guard: member}
jobs:
  passes.end: {in: {id: uuid}, run: registry/jobs.ts#end, keep: 365d}
  shared.due: {in: {id: uuid}, run: registry/jobs.ts#note, as: service, keep: 365d}
  bookings.remind: {in: {id: uuid}, run: registry/jobs.ts#note, keep: 365d}
  bookings.rate: {in: {id: uuid}, run: registry/jobs.ts#note, keep: 365d}
  visits.due: {in: {id: uuid}, run: registry/jobs.ts#note, as: service, keep: 365d}
  trials.end: {in: {id: uuid}, run: registry/jobs.ts#note, as: service, keep: 365d}
`,
  "registry/stop.ts": `import { collection } from "opwright/runtime";
import { passesSpec } from "../generated/documents/passes.js";
export const turnOff = (id) => async (context) => {
  await collection(passesSpec, context).update(id, "any", { state: "off" });
};
export const stop = async ({ id }, context) => (await turnOff(id)(context), {});
`,
  "registry/jobs.ts": `import { collection } from "opwright/runtime";
import { passesSpec } from "../generated/documents/passes.js";
import { passesStop } from "../generated/routes/passes.js";
import { turnOff } from "./stop.js";
export const seen = [];
export const end = async ({ id }, context, { commit, call }) => {
  const { way } = await collection(passesSpec, context).get(id);
  if (way === "commit") await commit("off", turnOff(id));
  else if (way === "own") await context.commit(() => turnOff(id)(context));
  else await call("off", passesStop, { id });
  await commit("told", async () => void seen.push(way));
};
export const note = async ({ id }, context, { plannedAt }) =>
  void seen.push(context.operationId.slice(5) + " " + id + " " + plannedAt.toISOString());
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

  describe.skipIf(!isAvailable)(`reminders on ${name}`, () => {
    const started = async () => {
      const { testService } = await project.load("generated/testing.ts");
      const app = await testService({ clock: "2026-06-01T00:00:00Z", ...database });
      onTestFinished(() => app.close());
      const ada = await app.as("ada");
      const { bookings, trials } = await project.load("generated/client/index.ts");
      /** What waits for a booking, as the job and its time. */
      const waits = async (): Promise<readonly string[]> =>
        (await app.jobs.list())
          .filter(({ state }: { state: string }) => state === "scheduled" || state === "ready")
          .map(
            ({ job, plannedAt }: { job: string; plannedAt: Date }) =>
              `${job} ${plannedAt.toISOString().slice(0, 16)}`,
          )
          .sort();
      const of = (day: string): readonly string[] => [
        `bookings.rate 2026-06-${day}T12:00`,
        `bookings.remind 2026-06-${String(Number(day) - 1).padStart(2, "0")}T10:00`,
      ];
      const at = (day: string) => ({ starts_at: `2026-06-${day}T10:00:00Z` });
      return { app, ada, bookings, trials, waits, of, at };
    };

    test("move with the field, by every way to write it, and go with the document", async () => {
      const { ada, bookings, waits, of, at } = await started();
      const made = await bookings.create(ada, { guest: "a", ...at("10") });
      expect(await waits()).toEqual(of("10"));
      const { id } = made;
      await bookings.update(ada, { id, rev: 1, patch: { guest: "b" } });
      expect(await waits()).toEqual(of("10"));
      await bookings.update(ada, { id, rev: 2, patch: { ...at("11") } });
      expect(await waits()).toEqual(of("11"));
      await bookings.upsert(ada, { by: ["guest"], document: { guest: "b", ...at("12") } });
      expect(await waits()).toEqual(of("12"));
      await bookings.updateMany(ada, { items: [{ id, rev: 4, patch: at("13") }] });
      expect(await waits()).toEqual(of("13"));
      await bookings.revert(ada, { id, rev: 5, to: 3 });
      expect(await waits()).toEqual(of("11"));
      await bookings.update(ada, { id, rev: 6, patch: { starts_at: null } });
      expect(await waits()).toEqual([]);
      await bookings.update(ada, { id, rev: 7, patch: { ...at("14") } });
      expect(await waits()).toEqual(of("14"));
      await bookings.delete(ada, { id, rev: 8 });
      expect(await waits()).toEqual([]);
      await bookings.restore(ada, { id, rev: 9 });
      expect(await waits()).toEqual(of("14"));
      await bookings.delete(ada, { id, rev: 10 });
      await bookings.kill(ada, { id });
      expect(await waits()).toEqual([]);
      await bookings.createMany(ada, { items: [{ guest: "m", ...at("20") }] });
      expect(await waits()).toEqual(of("20"));
    });

    test("times at the edges of what a document may say are no fault", async () => {
      const { ada, bookings, waits } = await started();
      const late = { guest: "late", starts_at: "9999-12-31T23:30:00Z" };
      await bookings.create(ada, late);
      expect(await waits()).toEqual(["bookings.remind 9999-12-30T23:30"]);
      const early = await bookings.create(ada, {
        guest: "early",
        starts_at: "0001-01-01T00:00:00Z",
      });
      expect(early).toMatchObject({ rev: 1 });
    });

    test("of documents that are no tenant's follow whoever writes them, from any tenant", async () => {
      const { app, ada } = await started();
      const { seen } = await project.load("registry/jobs.ts");
      const { shared } = await project.load("generated/client/index.ts");
      seen.length = 0;
      const { id } = await shared.create(ada, { at: "2026-06-02T00:00:00Z" });
      const bob = await app.as("bob", { tenant: "other" });
      await shared.update(bob, { id, rev: 1, patch: { at: "2026-06-03T00:00:00Z" } });
      expect(await app.jobs.list("shared.due", null)).toMatchObject([{ state: "scheduled" }]);
      await app.clock.set("2026-06-04T00:00:00Z");
      await app.jobs.done();
      expect(seen).toEqual([`shared.due ${id} 2026-06-03T00:00:00.000Z`]);
    });

    test("are only for documents that have some values, and come and go with these", async () => {
      const { app, ada, waits } = await started();
      const { seen } = await project.load("registry/jobs.ts");
      const { visits } = await project.load("generated/client/index.ts");
      seen.length = 0;
      const { id } = await visits.create(ada, { at: "2026-06-05T00:00:00Z", status: "done" });
      expect(await waits()).toEqual([]);
      await visits.update(ada, { id, rev: 1, patch: { status: "open" } });
      expect(await waits()).toEqual(["visits.due 2026-06-05T00:00"]);
      await visits.update(ada, { id, rev: 2, patch: { by: "ann" } });
      expect(await waits()).toEqual([]);
      await visits.update(ada, { id, rev: 3, patch: { by: null, at: "2026-06-05T06:00:00Z" } });
      expect(await waits()).toEqual(["visits.due 2026-06-05T06:00"]);
      await app.clock.set("2026-06-05T07:00:00Z");
      await app.jobs.done();
      const again = await app.as("ada");
      // Its time has passed, and it has been reminded of.
      await visits.update(again, { id, rev: 4, patch: { status: "done" } });
      await visits.update(again, { id, rev: 5, patch: { status: "open" } });
      await app.jobs.done();
      expect(seen).toEqual([`visits.due ${id} 2026-06-05T06:00:00.000Z`]);
    });

    test("a run may end what it counts for, and goes on", async () => {
      const { app, ada } = await started();
      const { seen } = await project.load("registry/jobs.ts");
      const { passes } = await project.load("generated/client/index.ts");
      seen.length = 0;
      const until = "2026-06-01T00:10:00Z";
      const ids: string[] = [];
      for (const way of ["commit", "own", "call"])
        ids.push((await passes.create(ada, { until, state: "on", way })).id);
      await app.clock.set("2026-06-01T00:11:00Z");
      await app.jobs.done();
      for (const id of ids) expect((await passes.get(ada, { id })).state).toBe("off");
      expect([...seen].sort()).toEqual(["call", "commit", "own"]);
      const runs: readonly { readonly state: string }[] = await app.jobs.list();
      expect(runs.map(({ state }) => state)).toEqual(["done", "done", "done"]);
      // Somebody else who ends it cancels the run.
      const { id } = await passes.create(ada, {
        until: "2026-06-02T00:00:00Z",
        state: "on",
        way: "own",
      });
      await passes.update(ada, { id, rev: 1, patch: { state: "off" } });
      await app.clock.advance("2 days");
      await app.jobs.done();
      expect(seen).toHaveLength(3);
    });

    test("run at their time, once, and again if the field moves behind it", async () => {
      const { app, ada, bookings, at } = await started();
      const { seen } = await project.load("registry/jobs.ts");
      seen.length = 0;
      const { id } = await bookings.create(ada, { guest: "a", ...at("10") });
      await app.clock.set("2026-06-09T10:00:01Z");
      await app.jobs.done();
      expect(seen).toEqual([`bookings.remind ${id} 2026-06-09T10:00:00.000Z`]);
      // The token of before has expired by now.
      await bookings.update(await app.as("ada"), { id, rev: 1, patch: { ...at("15") } });
      await app.clock.set("2026-06-16T00:00:00Z");
      await app.jobs.done();
      expect([...seen].sort()).toEqual([
        `bookings.rate ${id} 2026-06-15T12:00:00.000Z`,
        `bookings.remind ${id} 2026-06-09T10:00:00.000Z`,
        `bookings.remind ${id} 2026-06-14T10:00:00.000Z`,
      ]);
      // What was over before it was deleted is not done again.
      const again = await app.as("ada");
      await bookings.delete(again, { id, rev: 2 });
      await bookings.restore(again, { id, rev: 3 });
      await app.jobs.done();
      expect(seen).toHaveLength(3);
    });

    test("count from when the document was made, and are undone with a refused write", async () => {
      const { app, ada, bookings, trials, waits, at } = await started();
      const { seen } = await project.load("registry/jobs.ts");
      seen.length = 0;
      const { id } = await trials.create(ada, { name: "t" });
      expect(await waits()).toEqual(["trials.end 2026-06-08T00:00"]);
      await bookings.create(ada, { guest: "taken" });
      const refused = await bookings.create(ada, { guest: "taken", ...at("10") }).settled();
      expect(refused).toMatchObject({ ok: false });
      expect(await waits()).toEqual(["trials.end 2026-06-08T00:00"]);
      await app.clock.advance("7 days");
      await app.jobs.done();
      expect(seen).toEqual([`trials.end ${id} 2026-06-08T00:00:00.000Z`]);
    });
  });
}
