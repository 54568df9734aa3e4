// Jobs of two versions side by side: what waits, schedules, and pauses, whatever they are called; on each engine.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { jobStore } from "../../../runtime/ports/jobs.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const filesOf = (jobs: string, enqueued: string) => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
jobs:
${jobs}
job_runs: {guard: open}
operations:
  notes.start: {post: /start, in: {delay: string?}, out: {id: uuid}, run: registry/handlers.ts#start, guard: open}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ delay }, context) => ({ id: await enqueue(context, ${enqueued}, delay === undefined ? {} : { delay }) });
`,
  "registry/jobs.ts": `export const seen = [];
export const note = async (input, context) => void seen.push(input);
`,
});

const run = "run: registry/jobs.ts#note, keep: 1d";
let older: TestProject;
let newer: TestProject;
beforeAll(async () => {
  older = await testProject(
    filesOf(
      `  notes.write: {in: {text: string, gone: string}, retries: 0, ${run}}
  notes.tick: {cron: "0 0 1 1 *", ${run}}
  notes.same: {cron: "0 0 1 2 *", ${run}}`,
      '"notes.write", { text: "old", gone: "g" }',
    ),
  );
  newer = await testProject(
    filesOf(
      `  notes.save: {was: notes.write, in: {text: string, size: {type: integer, default: 3}, must: string?}, retries: 0, ${run}}
  notes.tick: {cron: "0 0 1 3 *", ${run}}
  notes.kept: {was: notes.same, cron: "0 0 1 2 *", ${run}}
  notes.more: {in: {text: string}, ${run}}`,
      '"notes.more", { text: "new" }',
    ),
    older,
  );
});
afterAll(() => {
  older?.remove();
  newer?.remove();
});

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`versions on ${engine.name}`, () => {
    const both = async () => {
      const shared = await sharedDatabase(engine);
      const running = new Set<TestService>();
      onTestFinished(async () => {
        for (const one of running) await one.stop();
        await shared.drop();
      });
      return async (project: TestProject, environment = {}) => {
        const one = await project.start(shared.same, { environment });
        running.add(one);
        return {
          post: async (path: string, body: object = {}) => (await one.post(path, body)).body,
          get: async (path: string) => (await one.call("GET", path)).body,
          connection: one.running.connection,
          stop: async () => {
            running.delete(one);
            await one.stop();
          },
        };
      };
    };

    test("each begins what it knows, in the shape that it declares", async () => {
      const start = await both();
      const old = await start(older, { JOBS_AT_ONCE: "0" });
      const { id } = await old.post("/start");
      const { seen } = await newer.load("registry/jobs.ts");
      seen.length = 0;
      const next = await start(newer);
      await vi.waitFor(() => expect(seen).toEqual([{ text: "old", size: 3 }]), 5_000);
      const saved = { job: "notes.save", state: "done" };
      await vi.waitFor(async () => expect(await next.get(`/job_runs/${id}`)).toMatchObject(saved));
      await next.stop();
      const idle = await start(newer, { JOBS_AT_ONCE: "0" });
      const { id: unknown } = await idle.post("/start");
      const again = await start(older);
      const { id: own } = await again.post("/start");
      await vi.waitFor(
        async () =>
          expect(await again.get(`/job_runs/${own}`)).toMatchObject({
            job: "notes.write",
            state: "done",
          }),
        5_000,
      );
      expect(await idle.get(`/job_runs/${unknown}`)).toMatchObject({ state: "ready" });
    });

    test("schedules of an older process that starts later set none back", async () => {
      const start = await both();
      const old = await start(older);
      const nextOf = async (from: typeof old): Promise<readonly string[]> => {
        const ids = [
          "notes.tick 0 0 1 1 * UTC",
          "notes.tick 0 0 1 3 * UTC",
          "notes.same 0 0 1 2 * UTC",
          "notes.kept 0 0 1 2 * UTC",
        ];
        const found = await from.connection.database.reader.of(jobStore).schedules(ids);
        return found.map(({ id }) => id);
      };
      await vi.waitFor(async () => expect(await nextOf(old)).toHaveLength(2), 5_000);
      const next = await start(newer);
      const all = [
        "notes.same 0 0 1 2 * UTC",
        "notes.tick 0 0 1 1 * UTC",
        "notes.tick 0 0 1 3 * UTC",
      ];
      await vi.waitFor(async () => expect(await nextOf(next)).toEqual(all), 5_000);
      const again = await start(older);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await nextOf(again)).toEqual(all);
    });
  });
