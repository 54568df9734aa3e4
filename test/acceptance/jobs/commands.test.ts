// `node server.js jobs …` as operators use it, beside a running server; on each engine.
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf } from "../../support/version-process.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
jobs:
  notes.fail: {in: {text: string}, run: registry/jobs.ts#fail, retries: 0}
  notes.fine: {run: registry/jobs.ts#fine, keep: 1d}
job_runs: {guard: open}
operations:
  notes.start: {post: /start, in: {job: string}, run: registry/handlers.ts#start, guard: open}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ job }, context) => {
  await (job === "notes.fail" ? enqueue(context, job, { text: "t" }) : enqueue(context, "notes.fine", {}));
};
`,
  "registry/jobs.ts": `export const fail = async ({ text }) => {
  throw new Error("cannot " + text);
};
export const fine = async () => undefined;
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project?.remove());

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`the command jobs on ${engine.name}`, () => {
    test("says what there is, lists and retries what failed, pauses and resumes", async () => {
      const database = await engine.create();
      const version = await versionOf(project);
      const environment = {
        ...database.environment,
        DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-jobs-")),
        SECRETS_ACCESS_TOKEN: randomBytes(32).toString("base64url"),
      };
      const server = version.spawn(environment);
      onTestFinished(async () => {
        server.child.kill("SIGTERM");
        expect(await server.exited).toBe(0);
        await database.drop();
      });
      const [, url = ""] = await server.says(/(http:\/\/[\w.:[\]]+)/);
      const start = async (job: string): Promise<void> => {
        const body = JSON.stringify({ job });
        const headers = { "content-type": "application/json" };
        const { status } = await fetch(`${url}/start`, { method: "POST", headers, body });
        expect(status).toBe(204);
      };
      const jobs = (...args: readonly string[]) => version.run(environment, "jobs", ...args);
      const said = (...args: readonly string[]) => {
        const { code, stdout, stderr } = jobs(...args);
        expect([code, stderr]).toEqual([0, ""]);
        return stdout.startsWith("{") || stdout.startsWith("[") ? JSON.parse(stdout) : stdout;
      };
      await start("notes.fail");
      await expect.poll(() => said().failed, { timeout: 10_000 }).toBe(1);
      const [failed] = said("failed", "notes.fail");
      expect(failed).toMatchObject({ job: "notes.fail", attempts: 1, error: "cannot t" });
      expect(said("failed", "notes.fine")).toEqual([]);
      expect(said("retry", "notes.fail")).toBe("1\n");
      await expect
        .poll(() => said("failed")[0]?.failed_at, { timeout: 10_000 })
        .not.toBe(failed.failed_at);
      expect(said("pause", "notes.fine")).toBe("notes.fine is paused\n");
      await start("notes.fine");
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(said()).toMatchObject({ ready: 1, running: 0, paused: ["notes.fine"] });
      expect(said("resume", "notes.fine")).toBe("notes.fine goes on\n");
      await expect.poll(() => said().ready, { timeout: 10_000 }).toBe(0);
      const unknown = jobs("pause", "notes.fin");
      expect(unknown.code).toBe(1);
      expect(unknown.stderr).toContain(
        "there is no job notes.fin; there are notes.fail, notes.fine",
      );
      expect(jobs("stop").code).toBe(2);
    }, 120_000);
  });
