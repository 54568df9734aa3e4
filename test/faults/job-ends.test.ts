// Jobs that end while the database is away: what they have done is noted once it is there again, and nothing is done twice.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseAt, engines } from "../support/engines.js";
import { testProject, type TestProject } from "../support/project-service.js";
import { startProxy } from "./proxy.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
jobs:
  slow.once: {in: {number: integer}, run: registry/jobs.ts#slow, retries: 0, keep: 1d}
job_runs: {guard: open}
operations:
  slow.start: {post: /start, in: {number: integer}, run: registry/handlers.ts#start, guard: open}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ number }, context) => void (await enqueue(context, "slow.once", { number }));
`,
  "registry/jobs.ts": `export const state = { begun: [], gate: Promise.resolve() };
export const slow = async ({ number }) => {
  state.begun.push(number);
  await state.gate;
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project?.remove());

const [engine] = engines.filter(({ name }) => name === "postgres");

describe.skipIf(engine?.isAvailable !== true)("jobs whose database is away when they end", () => {
  test("are done, and done once", async () => {
    if (engine === undefined) throw new Error("there is no PostgreSQL");
    const database = await engine.create();
    const { hostname, port } = new URL(database.url);
    const proxy = await startProxy(hostname, Number(port || 5432));
    const behind = databaseAt(proxy.url(database.url));
    const service = await project.start({ ...engine, create: async () => behind });
    onTestFinished(async () => {
      await service.stop();
      await proxy.close();
      await database.drop();
    });
    const { state } = await project.load("registry/jobs.ts");
    let open = (): void => undefined;
    state.gate = new Promise<void>((resolve) => (open = resolve));
    for (let number = 0; number < 5; number += 1) await service.post("/start", { number });
    await vi.waitFor(() => expect(state.begun).toHaveLength(5));
    await proxy.become({ kind: "refuse" });
    proxy.cut();
    open();
    await sleep(4_000);
    await proxy.become({ kind: "pass" });
    await vi.waitFor(async () => {
      const { body } = await service.call("GET", "/job_runs");
      expect(body.runs.map((run: { state: string }) => run.state)).toEqual(
        Array.from({ length: 5 }, () => "done"),
      );
    }, 20_000);
    expect([...state.begun].sort()).toEqual([0, 1, 2, 3, 4]);
  });
});
