// What nobody holds in an author's code ends no process: rejections, throws in timers, errors of emitters (attack 125).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type VersionProcess } from "../../support/version-process.js";

const faults = {
  rejection: `void Promise.reject(new Error("fault of rejection"));`,
  text: `void Promise.reject("fault of text");`,
  chain: `void (async () => { await null; throw new Error("fault of chain"); })();`,
  fetched: `void fetch("http://127.0.0.1:1/fault-of-fetched");`,
  timer: `setTimeout(() => { throw new Error("fault of timer"); }, 5);`,
  emitter: `setImmediate(() => new EventEmitter().emit("error", new Error("fault of emitter")));`,
  connection: `connect(1, "127.0.0.1");`,
  waiting: `void new Promise((_, reject) => setTimeout(reject, 5, new Error("fault of waiting")));`,
  answered: `setTimeout(() => { throw fail("core.domain", { reason: "fault of answered" }); }, 5);`,
  rethrown: `await notes.get(missing).catch((error) => setImmediate(() => { throw error; }));`,
  misused: `await notes.find({ filters: null, sorts: 5 }).catch((error) => setImmediate(() => { throw error; }));`,
  emitted: `await notes.get(missing).catch((error) => setImmediate(() => new EventEmitter().emit("error", error)));`,
  kept: `const kept = new Error("fault of kept"); setImmediate(() => { throw kept; });`,
  quoted: `const { stack } = await notes.get(missing).catch((error) => error); setImmediate(() => { throw new Error(\`fault of quoted: \${stack}\`); });`,
  overdue: `context.signal.addEventListener("abort", () => { throw new Error("fault of overdue"); }); await sleep(1_500);`,
  left: `context.signal.addEventListener("abort", () => { throw new Error("fault of left"); }); await sleep(1_500);`,
  listened: `context.lifetime.onOver(() => { throw new Error("fault of listened"); }); context.signal.addEventListener("abort", () => context.log.info({ later: "code.listened" }, "the next listener")); await sleep(1_500);`,
  create: `void collection(notesSpec, context).create({ text: "fault of create" }).then(() => { throw new Error("fault of then"); });`,
};

/** Those whose deadline is a second. */
const slow = ["overdue", "listened"];

/** Values that throw again when they are read, or that nobody can mark. */
const unreadable = {
  bare: "Object.create(null)",
  inspected: `({ [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("read"); } })`,
  unstacked: `Object.defineProperty(new Error(), "stack", { get() { throw new Error("read"); } })`,
  unmessaged: `Object.defineProperty(new Error(), "message", { get() { throw new Error("read"); } })`,
  getters: `Object.defineProperty(new Error(), "more", { enumerable: true, get() { throw new Error("read"); } })`,
  frozen: `Object.freeze(new Error("frozen"))`,
  proxied: `new Proxy({}, { get() { throw new Error("read"); }, getPrototypeOf() { throw new Error("read"); } })`,
};

const bodies: Readonly<Record<string, string>> = {
  ...faults,
  ...Object.fromEntries(
    Object.entries(unreadable).map(([name, value]) => [
      name,
      `void Promise.reject(${value}); setTimeout(() => { throw ${value}; }, 5);`,
    ]),
  ),
  warned: `process.emitWarning("careful, of warned");`,
  long: `setTimeout(() => { throw new Error("fault of long " + "x".repeat(5_000_000)); }, 5);`,
  aborted: `context.signal.addEventListener("abort", () => { throw new Error("fault of aborted"); }); await new Promise(() => {});`,
};
const names = Object.keys(bodies);

function deadlineOf(name: string): string {
  if (name === "aborted") return ", transaction: read, deadline: 100ms";
  return slow.includes(name) ? ", deadline: 1s" : "";
}

const files = {
  "registry/service.yaml": `registry: 1
service: {name: unheld, title: Unheld, version: 1.0.0}
policies: {open: []}
documents: {notes: {type: {text: string}, guard: open}}
outbox:
  events:
    notes.noted: {data: {text: string}, destination: registry/handlers/delivery.ts#deliver}
    notes.told: {data: {text: string}, destination: registry/handlers/telling.ts#tell}
operations:
  code.ours: {post: /ours, run: registry/handlers/ours.ts#ours, guard: open}
${names.map((name) => `  code.${name}: {post: /${name}, run: registry/handlers/${name}.ts#${name}, guard: open${deadlineOf(name)}}\n`).join("")}  code.staged: {post: /staged, run: registry/handlers/delivery.ts#staged, guard: open}
  code.told: {post: /told, run: registry/handlers/delivery.ts#told, guard: open}
  code.thrown: {post: /thrown, transaction: read, run: registry/handlers/delivery.ts#thrown, guard: open}
`,
  "registry/handlers/telling.ts": `export const tell = async () => { void Promise.reject(new Error("fault of telling")); };
`,
  "registry/handlers/delivery.ts": `import { stageEvent } from "../../generated/outbox.js";
import { setTimeout as sleep } from "node:timers/promises";
export const staged = async (_input, context) => { await stageEvent(context, "notes.noted", { text: "x" }); };
export const told = async (_input, context) => { await stageEvent(context, "notes.told", { text: "x" }); };
export const thrown = () => { throw new Error("fault of thrown"); };
export const deliver = async (_event, context) => {
  context.signal.addEventListener("abort", () => { throw new Error("fault of delivery"); });
  await sleep(60_000, undefined, { signal: context.signal });
};
`,
  "registry/handlers/ours.ts": `import { Lifetime } from "opwright/runtime";
export const ours = async () => {
  const lifetime = Lifetime.within(5);
  // What the runtime calls in its own timer, and is no function.
  lifetime.onOver(undefined as never);
};
`,
  ...Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [
      `registry/handlers/${name}.ts`,
      `import { EventEmitter } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { collection, fail } from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
const missing = "00000000-0000-7000-8000-000000000000";
export const ${name} = async (_input, context) => {
  const notes = collection(notesSpec, context);
  ${body}
  void [EventEmitter, connect, notes, missing, fail, sleep];
};
`,
    ]),
  ),
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

/** The lines of its log. */
const linesOf = ({ output }: VersionProcess): readonly Record<string, unknown>[] =>
  output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`faults that nobody holds, on ${engine.name}`, () => {
    let database: FreshDatabase;
    let running: VersionProcess;
    let url: string;
    beforeAll(async () => {
      database = await engine.create();
      const version = await versionOf(project);
      running = version.spawn({ ...database.environment, SETTLE_SECONDS: "0" });
      url = (await running.says(/"url":"([^"]+)"/))[1] ?? "";
    });
    afterAll(async () => {
      running.child.kill("SIGKILL");
      await running.exited;
      await database.drop();
    });
    const call = async (name: string): Promise<Response> =>
      fetch(`${url}/${name}`, { method: "POST" });
    /** The line that a fault leaves, once there is one. */
    const told = async (name: string): Promise<Record<string, unknown>> => {
      const isOf = (line: Record<string, unknown>): boolean =>
        String(line["msg"]).startsWith("nobody") && JSON.stringify(line).includes(`code.${name}`);
      await expect.poll(() => linesOf(running).some(isOf)).toBe(true);
      return linesOf(running).find(isOf) ?? {};
    };

    test.each(["rejection", "chain", "timer", "emitter", "waiting", "answered", "kept"])(
      "%s: one line with operation, request and the author's line; the process goes on",
      async (name) => {
        const { status, headers } = await call(name);
        expect(status).toBe(204);
        const line = await told(name);
        expect(line["operation"]).toBe(`code.${name}`);
        expect(line["requestId"]).toBe(headers.get("x-request-id"));
        expect(line["at"]).toMatch(new RegExp(`registry/handlers/${name}\\.ts:9:\\d+`));
        expect((await fetch(`${url}/livez`)).status).toBe(200);
      },
    );

    test.each(["text", "fetched", "connection"])(
      "%s, whose stack leads nowhere: one line that lists who comes into question",
      async (name) => {
        const { status, headers } = await call(name);
        expect(status).toBe(204);
        const line = await told(name);
        expect(line["candidates"]).toContainEqual({
          operation: `code.${name}`,
          requestId: headers.get("x-request-id"),
        });
        expect((await fetch(`${url}/livez`)).status).toBe(200);
      },
    );

    test("operations without code of the author's are no candidates, nor those that ended long ago", async () => {
      expect((await call("thrown")).status).toBe(500);
      const note = { method: "POST", body: '{"text":"a"}' };
      const json = { headers: { "content-type": "application/json" } };
      for (let made = 0; made < 64; made += 1)
        expect((await fetch(`${url}/notes`, { ...note, ...json })).status).toBe(201);
      const before = linesOf(running).length;
      expect((await call("text")).status).toBe(204);
      const isOf = ({ thrown }: Record<string, unknown>): boolean => thrown === "'fault of text'";
      await expect.poll(() => linesOf(running).slice(before).some(isOf)).toBe(true);
      const { candidates } = linesOf(running).slice(before).find(isOf) ?? {};
      expect(candidates).toEqual([{ operation: "code.text", requestId: expect.any(String) }]);
    });

    test("a rejection of a destination is told with the event and where it goes", async () => {
      expect((await call("told")).status).toBe(204);
      const isOf = (line: Record<string, unknown>): boolean =>
        JSON.stringify(line).includes("fault of telling");
      await expect.poll(() => linesOf(running).some(isOf)).toBe(true);
      expect(linesOf(running).find(isOf)).toMatchObject({
        operation: "outbox.notes.told",
        destination: "registry/handlers/telling.ts#tell",
        at: expect.stringMatching(/registry\/handlers\/telling\.ts:1:\d+/),
      });
    });

    test.each(Object.keys(unreadable))(
      "%s, which throws where it is read: a line each for rejection and exception, and the process goes on",
      async (name) => {
        const before = linesOf(running).length;
        expect((await call(name)).status).toBe(204);
        const told = (): readonly string[] =>
          linesOf(running)
            .slice(before)
            .filter((line) => JSON.stringify(line).includes(`code.${name}`))
            .map(({ msg }) => String(msg).slice(0, 14))
            .filter((start) => start.startsWith("nobody"));
        await expect.poll(told).toEqual(["nobody handles", "nobody catches"]);
        expect((await fetch(`${url}/livez`)).status).toBe(200);
      },
    );

    test.each(["rethrown", "misused", "emitted", "quoted"])(
      "%s: an error that the service gave to the author interrupts nobody where it is thrown again",
      async (name) => {
        expect((await call(name)).status).toBe(204);
        const line = await told(name);
        expect(line["msg"]).toContain("the service goes on");
        expect((await fetch(`${url}/livez`)).status).toBe(200);
      },
    );

    test("a warning is a line of the log, and nothing that the process says is anything else", async () => {
      expect((await call("warned")).status).toBe(204);
      await expect.poll(() => running.output()).toContain("careful, of warned");
      const said = running.output().split("\n").slice(0, -1);
      expect(said.filter((line) => !line.startsWith("{"))).toEqual([]);
    });

    test("an error as long as a file is cut to a line that somebody can read", async () => {
      expect((await call("long")).status).toBe(204);
      const { length } = JSON.stringify(await told("long"));
      expect(length).toBeGreaterThan(10_000);
      expect(length).toBeLessThan(100_000);
    });

    test("aborted: a listener of the signal throws at the deadline, and nothing of ours is interrupted", async () => {
      expect((await call("aborted")).status).toBe(504);
      const line = await told("aborted");
      expect(line["msg"]).toBe("nobody catches an exception: the service goes on");
      expect(line["at"]).toMatch(/registry\/handlers\/aborted\.ts:9:\d+/);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    });

    test.each(slow)("%s: listeners that throw at the deadline interrupt nobody", async (name) => {
      expect((await call(name)).status).toBe(504);
      const line = await told(name);
      expect(line["msg"]).toContain("the service goes on");
      expect(line["at"]).toMatch(new RegExp(`registry/handlers/${name}\\.ts:9:\\d+`));
      if (name === "listened")
        expect(linesOf(running).some((each) => each["later"] === "code.listened")).toBe(true);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    });

    test("a listener that throws where the caller hangs up", async () => {
      const leaving = AbortSignal.timeout(200);
      await expect(fetch(`${url}/left`, { method: "POST", signal: leaving })).rejects.toThrow();
      expect((await told("left"))["msg"]).toContain("the service goes on");
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    });

    test("a listener that throws where a delivery is aborted", async () => {
      expect((await call("staged")).status).toBe(204);
      const isOf = (line: Record<string, unknown>): boolean =>
        JSON.stringify(line).includes("fault of delivery");
      await expect.poll(() => linesOf(running).some(isOf), { timeout: 30_000 }).toBe(true);
      expect(linesOf(running).find(isOf)?.["msg"]).toContain("the service goes on");
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    }, 40_000);

    test("a call behind a then that nobody holds: 500, and the process goes on", async () => {
      expect((await call("create")).status).toBe(500);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    });

    test("an exception that interrupts the service itself: it drains and exits with 1", async () => {
      expect((await call("ours")).status).toBe(204);
      expect(await running.exited).toBe(1);
      const line = linesOf(running).find(({ msg }) => String(msg).includes("drains"));
      expect(JSON.stringify(line)).toContain("is not a function");
    });
  });
}
