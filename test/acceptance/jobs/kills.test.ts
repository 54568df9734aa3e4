// Processes that are killed while jobs run: no run is lost, and no step commits twice. OPWRIGHT_TEST_KILLS says how often
// (`npm run test:long`).
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type VersionProcess } from "../../support/version-process.js";

const kills = Number(process.env["OPWRIGHT_TEST_KILLS"] ?? 3);
const runs = 40;
const steps = 6;

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  marks: {type: {run: string, step: integer}, tenant: false, guard: open}
jobs:
  marks.make: {in: {name: string}, run: registry/jobs.ts#make, retries: 100, timeout: 30s}
job_runs: {guard: open}
operations:
  marks.start: {post: /start, in: {count: integer, round: integer}, run: registry/handlers.ts#start, guard: open}
`,
  "registry/handlers.ts": `import { enqueue } from "../generated/jobs.js";
export const start = async ({ count, round }, context) => {
  for (let index = 0; index < count; index += 1)
    await enqueue(context, "marks.make", { name: round + "." + index });
};
`,
  "registry/jobs.ts": `import { setTimeout as sleep } from "node:timers/promises";
import { collection } from "opwright/runtime";
import { marksSpec } from "../generated/documents/marks.js";
export const make = async ({ name }, _context, { step, commit }) => {
  for (let index = 0; index < ${steps}; index += 1) {
    const waited = await step("wait " + index, async () => { await sleep(15); return index; });
    await commit("mark " + index, async (context) => void (await collection(marksSpec, context).create({ run: name, step: waited })));
  }
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project?.remove());

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`jobs on ${engine.name}`, () => {
    test("are done once each, however often their processes are killed", async () => {
      const database = await engine.create();
      const version = await versionOf(project);
      const environment = {
        ...database.environment,
        JOBS_LEASE_SECONDS: "4",
        JOBS_BACKOFF_SECONDS: "0.05",
        SECRETS_ACCESS_TOKEN: randomBytes(32).toString("base64url"),
      };
      const start = async (): Promise<{ process: VersionProcess; url: string }> => {
        const process = version.spawn(environment);
        const [, url = ""] = await process.says(/(http:\/\/[\w.:[\]]+)/);
        return { process, url };
      };
      // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
      const call = async (url: string, path: string, body?: object): Promise<any> => {
        const response = await fetch(`${url}${path}`, {
          method: body === undefined ? "GET" : "POST",
          headers: { "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        expect(response.ok, `${path} ${response.status}`).toBe(true);
        return response.status === 204 ? undefined : response.json();
      };
      let server = await start();
      for (let round = 0; round < kills; round += 1) {
        await call(server.url, "/start", { count: runs, round });
        await sleep(50 + Math.random() * 400);
        server.process.child.kill("SIGKILL");
        expect(await server.process.exited).toBe("SIGKILL");
        server = await start();
      }
      const made = async (): Promise<readonly { run: string; step: number }[]> => {
        const all: { run: string; step: number }[] = [];
        for (let page = 1; ; page += 1) {
          const { hits } = await call(server.url, "/marks/list", { size: 1000, page });
          all.push(...hits);
          if (hits.length < 1000) return all;
        }
      };
      const total = kills * runs * steps;
      for (let waited = 0; waited < 120_000; waited += 250) {
        if ((await made()).length >= total) break;
        await sleep(250);
      }
      const marks = (await made()).map(({ run, step }) => `${run} ${step}`).sort();
      const expected = Array.from({ length: total }, (_, index) => {
        const run = Math.floor(index / steps);
        return `${Math.floor(run / runs)}.${run % runs} ${index % steps}`;
      }).sort();
      expect(marks).toEqual(expected);
      await sleep(500);
      expect(await call(server.url, "/job_runs?state=failed")).toMatchObject({ runs: [] });
      server.process.child.kill("SIGTERM");
      expect(await server.process.exited).toBe(0);
      await database.drop();
    }, 7_200_000);
  });
