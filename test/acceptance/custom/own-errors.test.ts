// Errors of the author's own: typed, declared for operations and hooks, told in every document, and masked where they are not declared.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], polite: [politeness]}
errors:
  out_of_stock: {kind: conflict, detail: There are not enough left., context: {left: integer}}
  too_early: {kind: throttled, detail: Come back later., retryable: true}
  impolite: {kind: authorization, detail: Say please.}
  hurried: {kind: authorization, detail: Say it slowly.}
  whispered: {kind: authorization, detail: Say it aloud.}
  mumbled: {kind: authorization, detail: Say it clearly.}
hooks:
  politeness: {run: registry/handlers.ts#politeness, phase: before, errors: [impolite, hurried, whispered, mumbled]}
operations:
  shop.order:
    post: /orders
    in: {count: integer}
    out: {count: integer}
    run: registry/handlers.ts#order
    guard: open
    errors: [out_of_stock, too_early]
    idempotency: true
  shop.ask: {post: /asks, in: {please: boolean}, run: registry/handlers.ts#order, guard: polite}
  shop.ask_errors: {post: /ask-errors, run: registry/handlers.ts#order, guard: open}
  shop.beg: {post: /begs, in: {please: boolean}, run: registry/handlers.ts#order, guard: polite}
`,
  "registry/handlers.ts": `import { fail } from "../generated/errors.js";
export const order = ({ count }) => {
  if (count > 10) throw fail("too_early");
  if (count > 3) throw fail("out_of_stock", { left: 3 });
  if (count === undefined) throw fail("out_of_stock", { left: 0 });
  return { count };
};
export const politeness = ({ please }) => {
  if (!please) throw fail("impolite");
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

test("codes that several operations may throw are printed once", () => {
  const routes = readFileSync(join(project.root, "generated/routes/shop.ts"), "utf8");
  expect(
    routes.match(/const shopAskErrors_ = \["hurried", "impolite", "mumbled", "whispered"\];/g),
  ).toHaveLength(1);
  expect(routes.match(/  errors: shopAskErrors_,/g)).toHaveLength(2);
  expect(routes.match(/"mumbled"/g)).toHaveLength(1);
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    const log = recordingLog();
    beforeAll(async () => {
      service = await project.start(engine, { log });
    });
    afterAll(() => service.stop());

    test("an error has the status of its kind, its detail and its context", async () => {
      const refused = await service.post("/orders", { count: 4 });
      expect(refused).toMatchObject({
        status: 409,
        body: {
          detail: "There are not enough left.",
          code: "out_of_stock",
          kind: "conflict",
          context: { left: 3 },
        },
      });
      expect(refused.headers.get("x-error-code")).toBe("out_of_stock");
      const early = await service.post("/orders", { count: 11 });
      expect([early.status, early.body.code, early.headers.get("retry-after")]).toEqual([
        429,
        "too_early",
        "1",
      ]);
      expect((await service.post("/orders", { count: 1 })).body).toEqual({ count: 1 });
    });

    test("under a key it is answered again as it was, and what may be tried again runs again", async () => {
      const key = (name: string): Record<string, string> => ({ "idempotency-key": name });
      const first = await service.post("/orders", { count: 5 }, key("a"));
      const again = await service.post("/orders", { count: 5 }, key("a"));
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(again.headers.get("idempotency-replayed")).toBe("true");
      await service.post("/orders", { count: 12 }, key("b"));
      const retried = await service.post("/orders", { count: 12 }, key("b"));
      expect([retried.status, retried.headers.get("idempotency-replayed")]).toEqual([429, null]);
    });

    test("a hook may answer with what is declared for it; what is not declared is masked", async () => {
      expect(await service.post("/asks", { please: false })).toMatchObject({
        status: 403,
        body: { code: "impolite", detail: "Say please.", context: {} },
      });
      expect(await service.post("/asks", { please: true })).toMatchObject({
        status: 500,
        body: { code: "core.internal", context: {} },
      });
      const [line] = log.lines.filter(({ error }) => error.includes("shop.ask"));
      expect(line?.error).toContain(
        "shop.ask does not declare the error out_of_stock: list it in the `errors` of the operation, or of a hook under `hooks:`",
      );
    });
  });
}

test("the document and the catalog tell which operation answers what", async () => {
  const document = project.openapi as {
    readonly paths: Record<string, Record<string, Record<string, unknown>>>;
    readonly components: Record<string, Record<string, unknown>>;
  };
  expect(document.components["x-errors"]).toEqual({
    hurried: { kind: "authorization", status: 403, detail: "Say it slowly.", retryable: false },
    impolite: { kind: "authorization", status: 403, detail: "Say please.", retryable: false },
    mumbled: { kind: "authorization", status: 403, detail: "Say it clearly.", retryable: false },
    whispered: { kind: "authorization", status: 403, detail: "Say it aloud.", retryable: false },
    out_of_stock: {
      kind: "conflict",
      status: 409,
      detail: "There are not enough left.",
      retryable: false,
      context: { $ref: "#/components/schemas/OutOfStockContext" },
    },
    too_early: { kind: "throttled", status: 429, detail: "Come back later.", retryable: true },
  });
  const order = document.paths["/orders"]?.["post"];
  expect(order?.["x-error-codes"]).toEqual(expect.arrayContaining(["out_of_stock", "too_early"]));
  expect(order?.["x-error-codes"]).not.toContain("impolite");
  expect(Object.keys(order?.["responses"] as object)).toEqual(
    expect.arrayContaining(["409", "429"]),
  );
  expect(document.components["responses"]?.["409"]).toMatchObject({
    "x-error-codes": expect.arrayContaining(["out_of_stock", "core.conflict"]),
  });
});
