// Writing what a filter finds: it is looked for before the transaction begins, and looked at again inside it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceDefinition } from "../../../runtime/server/service.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {text: string, state: [open, done]}
    guard: open
    tenant: false
    bulk: {max: 1000}
    idempotency: [update_where]
  rows:
    type: {text: string}
    guard: open
    tenant: false
    bulk: {max: 1000}
    hooks: {update_where: {tx_before: [registry/hooks.ts#another]}}
`,
  "registry/hooks.ts": `import { collection } from "opwright/runtime";
import { rowsSpec } from "../generated/documents/rows.js";
export const another = async (_input, context) => {
  await collection(rowsSpec, context).create({ text: "of a hook" });
};
`,
};

/** Every letter may be where it begins, and none is. */
const slowPatterns = Array.from({ length: 32 }, (_one, at) => `${"%a%".repeat(60)}~${String(at)}%`);
const slow = {
  $or: [
    { $values: { state: "open" } },
    ...slowPatterns.map((pattern) => ({ $values: { text: { $like: pattern } } })),
  ],
};
const text = "banana ".repeat(80);

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let open: string[];
    beforeAll(async () => {
      const { service: definition } = (await project.load("generated/service.ts")) as {
        readonly service: ServiceDefinition;
      };
      service = await startTestService(engine, {
        definition,
        folder: `${project.root}/generated`,
        environment: { QUERY_BUDGET: "none", QUERY_BUDGET_ANONYMOUS: "none" },
      });
      const make = (state: string): Promise<Answer> =>
        service.post("/notes/create_many", {
          items: Array.from({ length: 1_000 }, () => ({ text, state })),
        });
      for (let portion = 0; portion < 8; portion += 1)
        expect((await make("done")).body.done).toBe(1_000);
      const items = Array.from({ length: 3 }, () => ({ text: "short", state: "open" }));
      const made = await service.post("/notes/create_many", { items });
      open = made.body.outcomes.map((one: { document: { id: string } }) => one.document.id);
    }, 120_000);
    afterAll(() => service.stop());

    test("other writers don't wait while it is looked for, and what no longer passes is left alone", async () => {
      const finished: string[] = [];
      const noted = async (name: string, answer: Promise<Answer>): Promise<Answer> => {
        const given = await answer;
        finished.push(name);
        return given;
      };
      const body = { filters: slow, patch: { text: "found" } };
      const key = { "idempotency-key": "looking" };
      const changing = noted("changed", service.post("/notes/update_where", body, key));
      const moved = { text: "moved", state: "done" };
      const leaving = await noted(
        "left",
        service.call("PATCH", `/notes/${open[1] ?? ""}?rev=1`, { body: moved }),
      );
      expect(leaving.body.data).toMatchObject({ ...moved, rev: 2 });
      const changed = await changing;
      expect(finished).toEqual(["left", "changed"]);
      expect(changed.body).toEqual({ matched: 2, done: 2 });
      const { body: stays } = await service.call("GET", `/notes/${open[1] ?? ""}`);
      expect(stays).toMatchObject({ ...moved, rev: 2 });
      const again = await service.post("/notes/update_where", body, key);
      expect(again.headers.get("idempotency-replayed")).toBe("true");
      expect(again.body).toEqual({ matched: 2, done: 2 });
    }, 60_000);

    test("a repetition under a key is answered as before, also where the filter finds too many by now", async () => {
      const key = { "idempotency-key": "again" };
      const of = (state: string): object => ({
        filters: { $values: { text: "kept", state } },
        patch: { state: "done" },
      });
      await service.post("/notes", { text: "kept", state: "open" });
      const first = await service.post("/notes/update_where", of("open"), key);
      expect(first.body).toEqual({ matched: 1, done: 1 });
      const items = Array.from({ length: 1_000 }, () => ({ text: "kept", state: "open" }));
      await service.post("/notes/create_many", { items });
      await service.post("/notes", { text: "kept", state: "open" });
      expect((await service.post("/notes/update_where", of("open"))).status).toBe(422);
      const again = await service.post("/notes/update_where", of("open"), key);
      expect(again.body).toEqual({ matched: 1, done: 1 });
    });

    test("documents written by earlier hooks of the transaction are found, too", async () => {
      const filters = { $values: { text: "of a hook" } };
      const changed = await service.post("/rows/update_where", {
        filters,
        patch: { text: "seen" },
      });
      expect(changed.body).toEqual({ matched: 1, done: 1 });
    });
  });
}
