// Idempotency-Key and deadlines over HTTP (decisions.md "Idempotency, deadlines, metadata"; attacks 46, 47).
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tasksSpec } from "../../../generated/documents/tasks.js";
import type { TasksCreate } from "../../../generated/types/tasks.js";
import {
  documents,
  fail,
  json,
  nothing,
  params,
  query,
  route,
  type ExecutionContext,
} from "../../../runtime/index.js";
import { defineService } from "../../../runtime/server/service.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";
import { documentStore } from "../../../runtime/ports/documents.js";

const project = "01890000-0000-7000-8000-000000000003";
let afterCommits = 0;

/** Says when an operation has begun, and lets it go on. */
const held = new EventEmitter();
const slowCreate = async (payload: TasksCreate, context: ExecutionContext) => {
  const created = await documents.create(tasksSpec)(payload, context);
  await sleep(payload.title === "slow" ? 300 : 0);
  if (payload.title === "held") {
    held.emit("begun");
    await once(held, "released");
  }
  if (payload.title === "conflict") throw fail("core.conflict", { reason: "said so" });
  if (payload.title === "broken") throw new Error("a secret in a message");
  return created;
};

const definition = defineService({
  name: "slow",
  title: "Slow",
  version: "1.0.0",
  routes: [
    route({
      operationId: "slow.create",
      method: "POST",
      path: "/slow",
      status: 201,
      input: json<TasksCreate>(() => null),
      hooks: [{ phase: "after_commit", run: () => void (afterCommits += 1) }],
      transaction: "write",
      deadlineSeconds: 0.15,
      idempotencyKey: true,
      run: slowCreate,
    }),
    route({
      operationId: "patient.create",
      method: "POST",
      path: "/patient",
      status: 201,
      input: json<TasksCreate>(() => null),
      transaction: "write",
      idempotencyKey: true,
      run: slowCreate,
    }),
    route({
      operationId: "count.tasks",
      method: "GET",
      path: "/count",
      status: 200,
      input: params({ title: query.string }),
      transaction: "read",
      run: async ({ title }, context) => ({
        count: await context.transaction.of(documentStore).count(tasksSpec, context.tenant, {
          filter: {
            kind: "compare",
            operator: "$eq",
            field: { path: "title", type: "string", isColumn: false },
            value: title,
          },
          sorts: [],
          withDeleted: true,
        }),
      }),
    }),
  ],
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine, { definition });
    });
    afterAll(() => service.stop());

    const send = (path: string, title: string, key: string) =>
      service.post(path, { title, project }, { "idempotency-key": key });
    const count = async (title: string): Promise<number> =>
      (await service.call("GET", `/count?title=${title}`)).body.count;

    test("a repeated request is answered with what was stored", async () => {
      const first = await send("/patient", "once", "key-1");
      const again = await send("/patient", "once", "key-1");
      expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([201, null]);
      expect([
        again.status,
        again.headers.get("idempotency-replayed"),
        again.headers.get("etag"),
      ]).toEqual([201, "true", '"1"']);
      expect(again.body).toEqual(first.body);
      expect(await count("once")).toBe(1);
    });

    test("the order of members does not make another request, another value does", async () => {
      await service.post("/patient", { title: "order", project }, { "idempotency-key": "key-2" });
      const same = await service.post(
        "/patient",
        { project, title: "order" },
        { "idempotency-key": "key-2" },
      );
      expect(same.headers.get("idempotency-replayed")).toBe("true");
      const other = await send("/patient", "other", "key-2");
      expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
    });

    test("while the first is running a second is told to wait; 50 at once run once", async () => {
      const begun = once(held, "begun");
      const first = send("/patient", "held", "key-3");
      await begun;
      const others = await Promise.all(
        Array.from({ length: 49 }, () => send("/patient", "held", "key-3")),
      );
      held.emit("released");
      expect(new Set(others.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
        new Set(["409 idempotency_in_flight"]),
      );
      expect(others[0]?.headers.get("retry-after")).toBe("1");
      expect((await first).status).toBe(201);
      expect(await count("held")).toBe(1);
    });

    test("an error of the operation is stored and its writes are undone; a 500 is not stored", async () => {
      const first = await send("/patient", "conflict", "key-4");
      const again = await send("/patient", "conflict", "key-4");
      expect([first.status, first.body.code, first.body.context]).toEqual([
        409,
        "core.conflict",
        { reason: "said so" },
      ]);
      expect([again.status, again.headers.get("idempotency-replayed"), again.body]).toEqual([
        409,
        "true",
        first.body,
      ]);
      const broken = await send("/patient", "broken", "key-5");
      expect([broken.status, broken.body]).toEqual([
        500,
        {
          detail: "The service could not answer this request.",
          code: "core.internal",
          kind: "internal",
          context: {},
        },
      ]);
      expect(
        (await send("/patient", "broken", "key-5")).headers.get("idempotency-replayed"),
      ).toBeNull();
      expect([await count("conflict"), await count("broken")]).toEqual([0, 0]);
    });

    test.each(["", "a b", "é", "x".repeat(256)])("the key %j is refused", async (key) => {
      const refused = await send("/patient", "bad-key", key);
      expect([refused.status, refused.body.code]).toEqual([400, "idempotency_key_malformed"]);
    });

    test("the key of one operation means nothing to another", async () => {
      await send("/patient", "scoped", "key-6");
      const other = await send("/slow", "scoped-2", "key-6");
      expect(other.status).toBe(201);
    });

    test("at the deadline the caller gets 504, and nothing commits after it", async () => {
      const before = afterCommits;
      const late = await send("/slow", "slow", "key-7");
      expect([late.status, late.body.code, late.body.kind]).toEqual([
        504,
        "deadline_exceeded",
        "timeout",
      ]);
      const seen = await count("slow");
      await sleep(400);
      expect([await count("slow"), afterCommits]).toEqual([seen, before]);
    });

    test("X-Deadline-Budget tightens and never loosens", async () => {
      const call = (path: string, title: string, budget: string) =>
        service.post(path, { title, project }, { "x-deadline-budget": budget });
      expect((await call("/patient", "slow", "0.05")).status).toBe(504);
      expect((await call("/slow", "slow", "999999999")).status).toBe(504);
      expect((await call("/patient", "quick", "5")).status).toBe(201);
      for (const budget of ["0", "-1", "NaN", "1e9", "abc", "", "Infinity", "0x10"]) {
        const refused = await call("/patient", "quick", budget);
        expect([budget, refused.status, refused.body.code]).toEqual([
          budget,
          400,
          "deadline_malformed",
        ]);
      }
    });

    test("nothing commits for a caller who hangs up", async () => {
      const abort = new AbortController();
      const title = "hung-up";
      const sent = fetch(`${service.url}/patient`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ title: "slow", project, labels: [title] }),
        signal: abort.signal,
      });
      const before = await count("slow");
      await sleep(80);
      abort.abort();
      await expect(sent).rejects.toThrow();
      await sleep(450);
      expect(await count("slow")).toBe(before);
    });
  });
}

describe.each(engines.filter((engine) => engine.isAvailable))("strangers ($name)", (engine) => {
  test("callers who choose the same key do not get each other's answers", async () => {
    let runs = 0;
    const anonymous = route({
      operationId: "open.run",
      method: "POST",
      path: "/run",
      status: 200,
      input: nothing,
      transaction: "write",
      idempotencyKey: true,
      run: () => ({ runs: (runs += 1) }),
    });
    const service = await startTestService(engine, {
      definition: defineService({
        name: "open",
        title: "Open",
        version: "1.0.0",
        routes: [anonymous],
      }),
      environment: { TRUSTED_PROXIES: "1" },
    });
    const from = async (address: string): Promise<unknown> => {
      const headers = { "idempotency-key": "1", "x-forwarded-for": address };
      return (await service.call("POST", "/run", { headers })).body;
    };
    expect(await from("192.0.2.1")).toEqual({ runs: 1 });
    expect(await from("192.0.2.2")).toEqual({ runs: 2 });
    expect(await from("192.0.2.1")).toEqual({ runs: 1 });
    await service.stop();
  });
});
