// What nobody holds in an author's code ends no process: rejections, throws in timers, errors of emitters (attack 125).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../engines.js";
import { testProject, type TestProject } from "./project-service.js";
import { versionOf, type VersionProcess } from "./version-process.js";

const faults = {
  rejection: `void Promise.reject(new Error("fault of rejection"));`,
  text: `void Promise.reject("fault of text");`,
  chain: `void (async () => { await null; throw new Error("fault of chain"); })();`,
  fetched: `void fetch("http://127.0.0.1:1/fault-of-fetched");`,
  timer: `setTimeout(() => { throw new Error("fault of timer"); }, 5);`,
  emitter: `setImmediate(() => new EventEmitter().emit("error", new Error("fault of emitter")));`,
  connection: `connect(1, "127.0.0.1");`,
  waiting: `void new Promise((_, reject) => setTimeout(reject, 5, new Error("fault of waiting")));`,
  create: `void collection(notesSpec, context).create({ text: "fault of create" }).then(() => { throw new Error("fault of then"); });`,
};

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
  aborted: `context.signal.addEventListener("abort", () => { throw new Error("fault of aborted"); }); await new Promise(() => {});`,
};
const names = Object.keys(bodies);

const files = {
  "registry/service.yaml": `registry: 1
service: {name: unheld, title: Unheld, version: 1.0.0}
policies: {open: []}
documents: {notes: {type: {text: string}, guard: open}}
operations:
  code.ours: {post: /ours, run: registry/handlers/ours.ts#ours, guard: open}
${names.map((name) => `  code.${name}: {post: /${name}, run: registry/handlers/${name}.ts#${name}, guard: open${name === "aborted" ? ", transaction: read, deadline: 100ms" : ""}}\n`).join("")}`,
  "registry/handlers/ours.ts": `import { Lifetime } from "opwright/runtime";
export const ours = async () => {
  const lifetime = Lifetime.within(5);
  lifetime.onOver(() => { throw new Error("fault of ours"); });
};
`,
  ...Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [
      `registry/handlers/${name}.ts`,
      `import { EventEmitter } from "node:events";
import { connect } from "node:net";
import { collection } from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
export const ${name} = async (_input, context) => {
  ${body}
  void [EventEmitter, connect, collection, notesSpec, context];
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
      running = version.spawn({ DATABASE_URL: database.url, SETTLE_SECONDS: "0" });
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

    test.each(["rejection", "chain", "timer", "emitter", "waiting"])(
      "%s: one line with operation, request and the author's line; the process goes on",
      async (name) => {
        const { status, headers } = await call(name);
        expect(status).toBe(204);
        const line = await told(name);
        expect(line["operation"]).toBe(`code.${name}`);
        expect(line["requestId"]).toBe(headers.get("x-request-id"));
        expect(line["at"]).toMatch(new RegExp(`registry/handlers/${name}\\.ts:6:\\d+`));
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

    test("aborted: a listener of the signal throws at the deadline, and nothing of ours is interrupted", async () => {
      expect((await call("aborted")).status).toBe(504);
      const line = await told("aborted");
      expect(line["msg"]).toBe("nobody catches an exception: the service goes on");
      expect(line["at"]).toMatch(/registry\/handlers\/aborted\.ts:6:\d+/);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    });

    test("a call behind a then that nobody holds: 500, and the process goes on", async () => {
      expect((await call("create")).status).toBe(500);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
    });

    test("an exception that interrupts the service itself: it drains and exits with 1", async () => {
      expect((await call("ours")).status).toBe(204);
      expect(await running.exited).toBe(1);
      const line = linesOf(running).find(({ msg }) => String(msg).includes("drains"));
      expect(line?.["at"]).toMatch(/registry\/handlers\/ours\.ts:4:\d+/);
    });
  });
}
