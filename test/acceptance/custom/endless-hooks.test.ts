// Hooks and work behind a commit that never settle: the answer goes out, the log names them, and a stop waits for none.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";

const phases = ["after_commit", "on_success", "finally"];

const files = {
  "registry/service.yaml": `registry: 1
service: {name: endless, title: Endless, version: 1.0.0}
policies: {open: []}
documents: {notes: {type: {text: string}, guard: open}}
operations:
${phases
  .map(
    (phase) =>
      `  act.${phase}: {post: /${phase}, run: registry/act.ts#create, guard: open, deadline: 1s, hooks: {${phase}: [registry/act.ts#endless]}}\n`,
  )
  .join(
    "",
  )}  act.on_failure: {post: /on_failure, run: registry/act.ts#refuse, guard: open, deadline: 1s, hooks: {on_failure: [registry/act.ts#endless]}}
  act.committed: {post: /committed, run: registry/act.ts#committed, guard: open, deadline: 1s}
  act.undone: {post: /undone, run: registry/act.ts#undone, guard: open, deadline: 1s}
  act.several: {post: /several, run: registry/act.ts#create, guard: open, deadline: 1s, hooks: {after_commit: [registry/act.ts#endless], finally: [registry/act.ts#last]}}
`,
  "registry/act.ts": `import { collection, fail } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const create = async (_input, context) => { await collection(notesSpec, context).create({ text: "kept" }); };
export const refuse = async () => { throw fail("core.conflict"); };
export const endless = () => new Promise(() => {});
export const last = async (_input, context) => { context.log.warn({}, "the last hook"); };
export const committed = async (input, context) => { context.whenCommitted(endless); await create(input, context); };
export const undone = async (input, context) => { context.whenUndone(endless); await refuse(); };
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`hooks without an end, on ${engine.name}`, () => {
    const log = recordingLog();
    let service: TestService;
    beforeAll(async () => {
      service = await project.start(engine, { log });
    });
    afterAll(() => service?.stop());

    test("the answer goes out within the grace, and the log names operation and hook", async () => {
      const calls = [...phases, "on_failure", "committed", "undone", "several"];
      const begun = performance.now();
      const answers = await Promise.all(
        calls.map(async (name) => [name, (await service.post(`/${name}`, {})).status]),
      );
      expect(performance.now() - begun).toBeLessThan(9_000);
      // Nothing was decided where nothing has committed.
      const failing = ["on_failure", "undone"];
      expect(answers).toEqual(calls.map((name) => [name, failing.includes(name) ? 504 : 204]));
      for (const name of calls) {
        const find = () =>
          log.lines.find(
            ({ error, fields }) =>
              /has not settled after \d\.\d s/.test(error) && fields["operation"] === `act.${name}`,
          );
        await expect.poll(() => find() !== undefined, { timeout: 5_000 }).toBe(true);
        const line = find();
        expect(line?.fields["requestId"]).toEqual(expect.any(String));
        const isWork = ["committed", "undone"].includes(name);
        expect(line?.error).toContain(isWork ? "the work of context.when" : "the hook endless");
      }
      expect(log.lines.some(({ message }) => message === "the last hook")).toBe(true);
      const { body } = await service.post("/notes/list", {});
      expect(JSON.stringify(body).match(/"kept"/g)).toHaveLength(phases.length + 2);
    }, 20_000);

    test("a stop waits for none of them", async () => {
      const calling = service.post("/committed", {}).catch(() => undefined);
      await sleep(200);
      const begun = performance.now();
      await service.stop();
      expect(performance.now() - begun).toBeLessThan(9_000);
      await calling;
    }, 20_000);
  });
}
