// What a trace says of an author's code: each hook and handler for as long as it takes, refusals that are no failures, and
// libraries of the author's that trace by themselves.
import { trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {text: string}
    guard: open
    tenant: false
    bulk: {max: 10}
    mount: {at: /notes}
    hooks: {create: {wrap: [registry/hooks.ts#aroundCreate]}}
jobs:
  naps.take: {run: registry/jobs.ts#take, keep: 1d}
operations:
  notes.go:
    post: /go
    in: {how: string}
    out: {done: boolean}
    run: registry/handlers.ts#go
    guard: open
    hooks: {wrap: [registry/hooks.ts#around]}
  notes.look:
    post: /look
    out: {done: boolean}
    run: registry/handlers.ts#look
    guard: open
    transaction: read
`,
  "registry/hooks.ts": `import { trace } from "@opentelemetry/api";
const library = (name: string) => trace.getTracer("library").startSpan(name).end();
export const around = async (input, context, next) => {
  await new Promise((resolve) => setTimeout(resolve, 40));
  library("called by around");
  const output = await next(input);
  await new Promise((resolve) => setTimeout(resolve, 40));
  return output;
};
export const aroundCreate = (input, context, next) => next(input);
`,
  "registry/handlers.ts": `import { fail } from "opwright/runtime";
import { trace } from "@opentelemetry/api";
import { enqueue } from "../generated/jobs.js";
const library = (name: string) => trace.getTracer("library").startSpan(name).end();
export const go = async ({ how }, context) => {
  if (how === "refuse") throw fail("core.domain");
  if (how === "break") throw new Error("odd");
  if (how === "nap") await enqueue(context, "naps.take", {});
  context.whenCommitted(() => library("called behind"));
  return { done: true };
};
export const look = () => {
  library("called by look");
  return { done: true };
};
`,
  "registry/jobs.ts": `import { trace } from "@opentelemetry/api";
export const take = async (_input, context, { sleep }) => {
  trace.getTracer("library").startSpan("called by take").end();
  await sleep("nap", "1s");
};
`,
};

const exporter = new InMemorySpanExporter();
const [sqlite] = engines;

describe("an author's code in traces", () => {
  let project: TestProject;
  let service: TestService;

  beforeAll(async () => {
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
    project = await testProject(files);
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await project.start(sqlite, { environment: { JOBS_BACKOFF_SECONDS: "0.05" } });
  });
  afterAll(async () => {
    await service?.stop();
    project?.remove();
    // Files that share this process are to trace nothing.
    trace.disable();
  });
  beforeEach(() => exporter.reset());

  const spans = () => exporter.getFinishedSpans();
  const spanOf = (name: string) => {
    const found = spans().find((span) => span.name === name);
    if (found === undefined)
      throw new Error(
        `no ${name} in ${spans()
          .map((span) => span.name)
          .join(", ")}`,
      );
    return found;
  };
  const millisOf = (name: string): number => {
    const [seconds, nanos] = spanOf(name).duration;
    return seconds * 1_000 + nanos / 1e6;
  };
  const parentOf = (name: string): string | undefined => {
    const id = spanOf(name).parentSpanContext?.spanId;
    return spans().find((span) => span.spanContext().spanId === id)?.name;
  };
  const go = async (how: string): Promise<number> => (await service.post("/go", { how })).status;

  test("a wrap hook is one for as long as it runs, and libraries find the function that calls them", async () => {
    expect(await go("fine")).toBe(200);
    await expect.poll(() => spans().some(({ name }) => name === "POST /go")).toBe(true);
    expect(millisOf("around")).toBeGreaterThan(75);
    expect(parentOf("called by around")).toBe("around");
    expect(parentOf("called behind")).toBe("whenCommitted");
    expect(spans().filter(({ name }) => name === "around")).toHaveLength(1);
    await service.post("/look", {});
    expect(parentOf("called by look")).toBe("look");
  });

  test("so is a hook of a document", async () => {
    await service.post("/notes", { text: "x" });
    await service.post("/notes/create_many", { items: [{ text: "y" }] });
    expect(spans().filter(({ name }) => name === "aroundCreate").length).toBeGreaterThan(1);
  });

  test("what is refused has failed nowhere, and what breaks has failed in all its parts", async () => {
    expect(await go("refuse")).toBe(400);
    await expect.poll(() => spans().some(({ name }) => name === "POST /go")).toBe(true);
    expect(spans().filter(({ status }) => status.code === 2)).toEqual([]);
    expect(spanOf("go").attributes).toEqual({ "opwright.code": "core.domain" });
    exporter.reset();
    expect(await go("break")).toBe(500);
    await expect.poll(() => spans().some(({ name }) => name === "POST /go")).toBe(true);
    const failed = spans().filter(({ status }) => status.code === 2);
    expect(failed.map(({ name }) => name).toSorted()).toEqual([
      "POST /go",
      "around",
      "go",
      "transaction",
    ]);
  });

  test("a job that sleeps has failed in no part", async () => {
    expect(await go("nap")).toBe(200);
    await expect
      .poll(() => spans().filter(({ name }) => name === "job naps.take").length, {
        timeout: 20_000,
      })
      .toBe(2);
    expect(spans().filter(({ status }) => status.code === 2)).toEqual([]);
    expect(parentOf("called by take")).toBe("job naps.take");
    expect(parentOf("job naps.take")).toBe("POST /go");
  });
});
