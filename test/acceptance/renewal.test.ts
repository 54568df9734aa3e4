// Rows of an older shape are stored anew, but not while a process of the older version lives.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentsFamily } from "../../runtime/families/documents/index.js";
import type { PeriodicJob } from "../../runtime/operations/periodic.js";
import { documentStore } from "../../runtime/ports/documents.js";
import type { ServiceDefinition } from "../../runtime/server/service.js";
import { engines, type TestEngine } from "../engines.js";
import { testProject, type TestProject } from "./project-service.js";

const registry = (members: string, defaults: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  open: []
documents:
  notes: {guard: open, type: {text: string, ${members}}, defaults: {${defaults}}}
`,
});

let versions: readonly [TestProject, TestProject];
beforeAll(async () => {
  const first = await testProject(registry("old: string", "old: x"));
  versions = [first, await testProject(registry("size: integer", "size: 7"), first)];
});
afterAll(() => versions.forEach((version) => version.remove()));

/** The jobs of a version, and its documents. */
async function partOf(project: TestProject) {
  const { service } = (await project.load("generated/service.ts")) as {
    readonly service: ServiceDefinition;
  };
  const documents = service.documents ?? [];
  // oxlint-disable-next-line typescript/no-unsafe-argument -- these jobs need no resources
  const jobs = documentsFamily.jobs(documents, null as never) as readonly PeriodicJob[];
  return { documents, jobs };
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("a row is stored anew once no process of its version has lived for a while", async () => {
      const { url, drop } = await engine.create();
      const same: TestEngine = {
        ...engine,
        create: async () => ({ url, drop: async () => undefined }),
      };
      const [first, second] = [await versions[0].start(same), await versions[1].start(same)];
      try {
        const [old, next] = [await partOf(versions[0]), await partOf(versions[1])];
        const { write } = second.running.connection;
        const done = (jobs: readonly PeriodicJob[]): Promise<readonly boolean[]> =>
          write("test.jobs", async ({ transaction }) => {
            const more: boolean[] = [];
            for (const job of jobs) more.push(await job.batch(transaction));
            return more;
          });
        await done(old.jobs);
        const { body } = await first.post("/notes", { text: "a", old: "kept" });
        await done(next.jobs);
        expect((await first.call("GET", `/notes/${body.id}`)).body.old).toBe("kept");

        // As if its last sign of life were long ago.
        await write("test.jobs", ({ transaction }) =>
          transaction.leases.take("documents.notes", "shape 1", Date.now(), Date.now() - 1),
        );
        await done(next.jobs);
        const [spec] = next.documents;
        if (spec === undefined) throw new Error("there is no document");
        const left = await write("test.jobs", ({ transaction }) =>
          transaction.of(documentStore).renew(spec, [], 10),
        );
        expect(left).toEqual({ renewed: 0, next: null });
        const { size, rev } = (await second.call("GET", `/notes/${body.id}`)).body;
        expect([size, rev]).toEqual([7, 1]);
      } finally {
        await first.stop();
        await second.stop();
        await drop();
      }
    });
  });
}
