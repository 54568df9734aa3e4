// What follows the end of a transaction: work for its commit, work for where it is undone, and what becomes of their faults.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fail, type ExecutionContext } from "../../../runtime/index.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

/** What the next handler does. */
const next: { work: (context: ExecutionContext) => Promise<void> } = {
  work: async () => undefined,
};
Object.assign(globalThis, { commitUnderTest: next });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: commits, title: Commits, version: 1.0.0}
policies: {open: []}
operations:
  act.write: {post: /write, run: registry/act.ts#act, guard: open}
  act.read: {post: /read, transaction: read, run: registry/act.ts#act, guard: open}
  act.hooked: {post: /hooked, run: registry/act.ts#nothing, guard: open, hooks: {before: [registry/act.ts#before]}}
  act.wrapped: {post: /wrapped, run: registry/act.ts#nothing, guard: open, hooks: {wrap: [registry/act.ts#wrap]}}
  act.told: {post: /told, run: registry/act.ts#nothing, guard: open, hooks: {on_success: [registry/act.ts#before]}}
  act.once: {post: /once, run: registry/act.ts#act, guard: open, idempotency: true}
`,
  "registry/act.ts": `export const act = (_input, context) => globalThis.commitUnderTest.work(context);
export const nothing = async () => {};
export const before = (_input, context) => globalThis.commitUnderTest.work(context);
export const wrap = async (input, context, next) => {
  await globalThis.commitUnderTest.work(context);
  return next(input);
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const told: unknown[] = [];
    const lines: object[] = [];
    let service: TestService;
    beforeAll(async () => {
      const error = (fields: object, message: string): void => {
        told.push(message);
        lines.push(fields);
      };
      service = await project.start(engine, { log: { ...silentLog, error } });
    });
    afterAll(() => service.stop());

    const act = (
      work: (context: ExecutionContext) => Promise<void>,
      path = "/write",
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer> => {
      next.work = work;
      return service.post(path, {}, headers);
    };

    test("the answer waits for what follows the commit, and a fault of it is logged", async () => {
      const done: string[] = [];
      const answer = await act(async (context) => {
        context.whenUndone(() => void done.push("undone"));
        context.whenCommitted(async () => Promise.reject(new Error("no mail today")));
        context.whenCommitted(async () => {
          await new Promise((resolve) => setImmediate(resolve));
          done.push("followed");
        });
        done.push("handled");
      });
      expect([answer.status, done]).toEqual([204, ["handled", "followed"]]);
      expect(told).toEqual(["what follows the transaction has failed"]);
    });

    test("a rollback is followed by its own work alone, the latest first", async () => {
      const done: string[] = [];
      const undoes = (context: ExecutionContext, name: string): void => {
        context.whenCommitted(() => void done.push(`committed ${name}`));
        context.whenUndone(async () => void done.push(`undone ${name}`));
      };
      const part = (context: ExecutionContext): Promise<void> =>
        context
          .commit(async () => {
            undoes(context, "part");
            throw new Error("only this part");
          })
          .catch(() => undefined);
      const kept = await act(async (context) => {
        undoes(context, "whole");
        await part(context);
      });
      expect([kept.status, done.splice(0)]).toEqual([204, ["undone part", "committed whole"]]);
      const lost = await act(async (context) => {
        undoes(context, "whole");
        await part(context);
        throw new Error("all of it");
      });
      expect([lost.status, done]).toEqual([500, ["undone part", "undone whole"]]);
    });

    const outside = ["/read", "/hooked", "/wrapped", "/told"];

    test.each(outside)(
      "outside a transaction the answer waits for the work too: %s",
      async (path) => {
        const done: string[] = [];
        const answer = await act(async (context) => {
          context.whenCommitted(async () => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            context.whenCommitted(async () => {
              await new Promise((resolve) => setImmediate(resolve));
              done.push("followed again");
            });
            done.push("followed");
          });
          done.push("handled");
        }, path);
        expect([answer.status, done]).toEqual([204, ["handled", "followed", "followed again"]]);
      },
    );

    test.each(["/write", ...outside])(
      "the log names operation and line of work that fails: %s",
      async (path) => {
        lines.length = 0;
        const answer = await act(async (context) => {
          context.whenCommitted(() => Promise.reject(new Error("no mail today")));
        }, path);
        expect([answer.status, lines]).toEqual([
          204,
          [
            {
              operation: `act.${path.slice(1)}`,
              requestId: answer.headers.get("x-request-id"),
              at: expect.stringContaining("after-commit.test.ts:"),
              err: expect.objectContaining({ message: "no mail today" }),
            },
          ],
        ]);
      },
    );

    test("work outside a transaction whose handler fails is waited for", async () => {
      for (const isAsync of [true, false]) {
        const done: string[] = [];
        const answer = await act((context) => {
          context.whenCommitted(async () => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            done.push("followed");
          });
          if (isAsync) return Promise.reject(new Error("later"));
          throw new Error("at once");
        }, "/read");
        expect([answer.status, done]).toEqual([500, ["followed"]]);
      }
    });

    test("a failure that is kept under its key is undone as any other", async () => {
      const done: string[] = [];
      const fails = (context: ExecutionContext): Promise<void> => {
        context.whenCommitted(() => void done.push("committed"));
        context.whenUndone(() => void done.push("undone"));
        return Promise.reject(fail("core.conflict"));
      };
      const key = { "idempotency-key": "once" };
      expect((await act(fails, "/once", key)).status).toBe(409);
      expect(done).toEqual(["undone"]);
      const replay = await act(fails, "/once", key);
      expect([replay.status, replay.headers.get("idempotency-replayed"), done]).toEqual([
        409,
        "true",
        ["undone"],
      ]);
    });
  });
}
