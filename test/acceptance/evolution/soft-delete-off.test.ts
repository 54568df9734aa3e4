// Soft deletion that is turned off: what is marked as deleted would be there again.
import { describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject } from "../../support/project-service.js";

const registry = (more: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open${more}}
`,
});

describe.each(engines)("$name", (engine) => {
  test.skipIf(!engine.isAvailable)(
    "what the version before still deletes isn't listed again, in that release or a later one",
    async () => {
      const soft = await testProject(registry(", soft_delete: true"));
      const hard = await testProject(registry(""), soft);
      const later = await testProject(registry(", indexes: [[text]]"), hard);
      const { same, drop } = await sharedDatabase(engine);
      try {
        const old = await soft.start(same);
        const next = await hard.start(same);
        const { id } = (await old.post("/notes", { text: "secret" })).body;
        expect((await next.post("/notes/list", {})).body.count).toBe(1);
        expect((await old.post(`/notes/${id}/delete?rev=1`, {})).status).toBe(200);
        const last = await later.start(same);
        for (const service of [next, last]) {
          expect((await service.post("/notes/list", {})).body).toMatchObject({
            hits: [],
            count: 0,
          });
          expect((await service.call("GET", `/notes/${id}`)).status).toBe(404);
        }
        await Promise.all([old.stop(), next.stop(), last.stop()]);
      } finally {
        for (const version of [soft, hard, later]) version.remove();
        await drop();
      }
    },
  );
  test.skipIf(!engine.isAvailable)(
    "the migration refuses while any document is marked",
    async () => {
      const soft = await testProject(registry(", soft_delete: true"));
      const hard = await testProject(registry(""), soft);
      const { same, drop } = await sharedDatabase(engine);
      try {
        const old = await soft.start(same);
        const { id } = (await old.post("/notes", { text: "a" })).body;
        await old.post(`/notes/${id}/delete?rev=1`, {});
        const fault = await hard.start(same).catch((error: unknown) => error);
        expect(((fault as Error).cause as Error).message).toBe(
          'migration 0002_notes.sql has changed nothing, since it cannot make notes without soft_delete (1 row with state "marked as deleted")',
        );
        await old.call("DELETE", `/notes/${id}?rev=2`);
        const next = await hard.start(same);
        expect((await next.post("/notes/list", {})).body.count).toBe(0);
        await Promise.all([old.stop(), next.stop()]);
      } finally {
        for (const version of [soft, hard]) version.remove();
        await drop();
      }
    },
  );
});
