// Making an index anew while writers write: it goes on after it was killed, loses nothing that is newer, and ends as one
// that was written afresh.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tasksSpec } from "../../../generated/documents/tasks.js";
import { taskSearchSpec } from "../../../generated/search/task_search.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { rebuildSearch } from "../../../runtime/families/search/rebuild.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";
import { documentStore } from "../../../runtime/ports/documents.js";
import { searchStore } from "../../../runtime/ports/search.js";

const project = "01890000-0000-7000-8000-00000000000d";
const time = "2026-01-01T00:00:00.000Z";
const count = 2_000;
/** A type that writes no index: what the documents were like before the search was declared. */
const unindexed = { ...tasksSpec, searches: [] };

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    const ids: string[] = [];
    beforeAll(async () => {
      service = await startTestService(engine);
      await service.running.connection.write("test.tasks", async ({ transaction }) => {
        for (let at = 0; at < count; at += 1) {
          const id = uuidv7();
          ids.push(id);
          await transaction.of(documentStore).insert(unindexed, service.tester.tenantId, {
            id,
            rev: 1,
            createdAt: time,
            lastUpdateAt: time,
            isDeleted: false,
            ownerId: null,
            body: JSON.stringify({
              title: `old number${at}`,
              state: "open",
              project,
              assignee: null,
              due: null,
              estimate: null,
              labels: [],
            }),
          });
        }
      });
    }, 60_000);
    afterAll(() => service.stop());

    const counted = async (query: string): Promise<number> =>
      (await service.post("/search/tasks/typed", { query, size: 1 })).body.count;
    const stale = { part: "rows", after: [] } as const;

    test("a rebuild that is killed goes on where it was, and writers win", async () => {
      const { database: stores } = service.running.connection;
      // A row of a document that is gone, with a word that nothing else has.
      const gone = (await service.post("/tasks", { title: "forgotten", project })).body;
      await service.running.connection.write("test.kill", ({ transaction }) =>
        transaction.of(documentStore).remove(unindexed, service.tester.tenantId, gone.id, 1),
      );
      const killed = rebuildSearch(stores, taskSearchSpec, {
        onProgress: () => {
          throw new Error("killed");
        },
      });
      await expect(killed).rejects.toThrow("killed");
      const reached = await counted("old");
      expect(reached).toBeGreaterThan(0);
      expect(reached).toBeLessThan(count);
      // As long as it might live, the next one waits; time passes.
      await service.running.connection.write("test.expire", ({ transaction }) =>
        transaction.leases.take("search.task_search_index", "nobody", Date.now() + 60_000, 0),
      );

      const rebuilt = new AbortController();
      let written = 0;
      const writing = (async () => {
        for (let at = 0; !rebuilt.signal.aborted; at += 1) {
          const id = ids[(at * 7) % ids.length] ?? "";
          const changed = await service.call("PATCH", `/tasks/${id}?rev=1`, {
            body: { title: `new number${at}` },
          });
          expect([200, 409]).toContain(changed.status);
          if (changed.status === 200) written += 1;
          await service.post("/tasks", { title: `new born${at}`, project });
          written += 1;
        }
      })();
      const shown: number[] = [];
      const total = await rebuildSearch(stores, taskSearchSpec, {
        onProgress: (done) => shown.push(done),
      });
      rebuilt.abort();
      await writing;
      expect(total).toBeGreaterThanOrEqual(count);
      // It began behind what the killed one had done.
      expect(shown[0]).toBeGreaterThan(reached);
      const renewed = (await service.post("/search/tasks/typed", { query: "new", size: 1 })).body;
      expect(renewed.count).toBe(written);
      const all = await service.post("/tasks/query", {
        filters: { $values: { title: { $like: "old%" } } },
        size: 1,
      });
      expect(await counted("old")).toBe(all.body.count);
      expect(await counted("forgotten")).toBe(0);
    }, 120_000);

    test("it equals an index that was written afresh", async () => {
      const { database: stores, write } = service.running.connection;
      const rowsOf = async (): Promise<readonly unknown[]> => {
        const found: unknown[] = [];
        for (const query of ["old*", "new*", "number*", "forgotten", "fourgotten", "born1*"]) {
          const options = { fuzzy: true, highlight: true };
          const { body } = await service.post("/search/tasks/typed", { query, options, size: 50 });
          found.push([query, body.count, body.hits, body.scores, body.highlights]);
        }
        const words = await write("test.words", ({ transaction }) =>
          transaction
            .of(searchStore)
            .wordsLike(taskSearchSpec, service.tester.tenantId, "fxxxxxxxx", 4),
        );
        return [...found, words];
      };
      const rebuilt = await rowsOf();
      // Every row out of the index, as no document of another type has its id.
      const other = { ...taskSearchSpec, document: { ...tasksSpec, table: "notes" } };
      await write("test.lose", async ({ transaction }) => {
        let from = (await transaction.of(searchStore).rebuildStep(other, stale, 1_000)).next;
        while (from?.part === "rows")
          from = (await transaction.of(searchStore).rebuildStep(other, from, 1_000)).next;
      });
      expect(await counted("new*")).toBe(0);
      await rebuildSearch(stores, taskSearchSpec, { onProgress: () => undefined });
      expect(await rowsOf()).toEqual(rebuilt);
      expect(rebuilt.at(-1)).toEqual([]);
    }, 60_000);

    // SQLite has one writer at a time: there is nobody to wait for.
    if (engine.name !== "sqlite")
      test("a document that a writer holds is waited for, and has the writer's words", async () => {
        const { database: stores, write } = service.running.connection;
        const made = (await service.post("/tasks", { title: "before held", project })).body;
        let rebuilding: Promise<number> | undefined;
        await write("test.hold", async ({ transaction }) => {
          const stored = await transaction
            .of(documentStore)
            .get(tasksSpec, service.tester.tenantId, made.id);
          if (stored === null) throw new Error("the task is gone");
          const body = JSON.stringify({ ...JSON.parse(stored.body), title: "after held" });
          const next = { ...stored, rev: 2, body };
          await transaction.of(documentStore).replace(tasksSpec, service.tester.tenantId, 1, next);
          await new Promise<void>((resolve) => {
            rebuilding = rebuildSearch(stores, taskSearchSpec, { onProgress: () => resolve() });
          });
        });
        await rebuilding;
        expect([await counted('"after held"'), await counted('"before held"')]).toEqual([1, 0]);
      }, 60_000);
  });
}
