// What becomes of an operation whose code forgets an `await`: 500 and nothing stored, on every engine alike (attack 125).
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";

/** Each is a function body of an author: `notes` is the collection, `id` one that is stored, `missing` one that is not. */
const forgetful: Readonly<Record<string, string>> = {
  create: `notes.create({text: "lost"});`,
  update: `notes.update(id, "any", {text: "lost"});`,
  "get of a missing id": `notes.get(missing);`,
  stageEvent: `stageEvent(context, "notes.noted", {text: "lost"});`,
  stageSignal: `stageSignal(context, "notes.heard", {text: "lost"}, {principals: [missing]});`,
  "objects.delete": `files.delete("kept");`,
  "objects.put": `files.put("lost", "text");`,
  "objects.move": `files.move("kept", "moved");`,
  sql: 'sql(context, {n: "integer"})`SELECT 1 AS n FROM ${notesSpec} AS o`;',
  "forEach(async)": `["a", "b"].forEach(async (text) => { await notes.create({text}); });`,
  "forEach(async) of one, and an await of nothing": `["a"].forEach(async (text) => { await notes.create({text}); }); await null; await null;`,
  "create before a create that is awaited": `notes.create({text: "lost"}); await notes.create({text: "kept"});`,
  "create before time passes": `notes.create({text: "lost"}); await sleep(30);`,
  "race that leaves one behind": `await Promise.race([notes.create({text: "a"}), notes.create({text: "b"})]);`,
  "all inside an array": `void [1, 2].map((n) => notes.create({text: String(n)}));`,
  "a chain that goes on behind the answer": `void (async () => { await notes.create({text: "a"}); await notes.create({text: "b"}); })(); await notes.create({text: "c"});`,
  "context.commit": `context.commit(() => notes.create({text: "lost"}));`,
  "a call in context.commit": `await context.commit(async () => { notes.create({text: "lost"}); });`,
};

const mindful: Readonly<Record<string, string>> = {
  one: `await notes.create({text: "a"});`,
  "one after another": `await notes.create({text: "a"}); await notes.update(id, "any", {text: "b"});`,
  "all at once": `await Promise.all([notes.create({text: "a"}), notes.create({text: "b"}), notes.find()]);`,
  "awaited later": `const made = notes.create({text: "a"}); await sleep(5); await made;`,
  "allSettled with a failure": `await Promise.allSettled([notes.get(missing), notes.create({text: "a"})]);`,
  "a failure that is caught": `await notes.get(missing).catch(() => null); await notes.create({text: "a"});`,
  "context.commit behind the commit, awaited": `context.whenCommitted(async () => { await context.commit(() => notes.create({text: "a"})); });`,
  "context.commit twice at once, of reads": `await context.commit(() => notes.find()); await context.commit(() => notes.create({text: "a"}));`,
};

/** Behind a commit: the answer stands, but what was forgotten is not stored. */
const following: Readonly<Record<string, string>> = {
  "context.commit behind the commit": `context.whenCommitted(() => { void context.commit(() => notes.create({text: "lost"})); });`,
  "context.commit behind the commit, in time": `context.whenCommitted(async () => { await sleep(1); void context.commit(() => notes.create({text: "lost"})); });`,
  "create behind the commit": `context.whenCommitted(() => { void notes.create({text: "lost"}); });`,
  "stageEvent behind the commit": `context.whenCommitted(() => { void stageEvent(context, "notes.noted", {text: "lost"}); });`,
  "context.commit behind what was undone": `await context.commit(async () => { context.whenUndone(() => { void context.commit(() => notes.create({text: "lost"})); }); throw new Error("undone"); }).catch(() => null);`,
};

const all = { ...forgetful, ...mindful, ...following };
const nameOf = (title: string): string => `n_${Object.keys(all).indexOf(title)}`;

const registry = `registry: 1
service: {name: forgetful, title: Forgetful, version: 1.0.0}
types: {Text: {text: string}}
policies: {open: []}
identity: {methods: [token], ingress: [{bearer: Authorization}]}
documents:
  notes: {type: {text: string}, guard: open}
storage:
  files: {guard: open, mount: {at: /files, style: rest}}
outbox:
  events: {notes.noted: {data: Text, destination: nowhere}}
realtime:
  mount: {at: /realtime}
  transports: [sse]
  retention: {age: 7d, entries: 100}
  events: {notes.heard: {data: Text, audience: [principal], delivery: durable}}
operations:
${Object.keys(all)
  .map(
    (
      title,
    ) => `  code.${nameOf(title)}: {post: "/write/${nameOf(title)}/{id}", in: {id: uuid}, run: registry/handlers/code.ts#${nameOf(title)}, guard: open}
  code.own_${nameOf(title)}: {post: "/own/${nameOf(title)}/{id}", in: {id: uuid}, transaction: read, run: registry/handlers/code.ts#own_${nameOf(title)}, guard: open}
  code.hooked_${nameOf(title)}: {post: "/hooked/${nameOf(title)}/{id}", in: {id: uuid}, run: registry/handlers/code.ts#nothing, guard: open, hooks: {tx_after: [registry/handlers/code.ts#${nameOf(title)}]}}
`,
  )
  .join(
    "",
  )}  code.left: {post: "/left/{id}", in: {id: uuid, how: string}, run: registry/handlers/code.ts#${nameOf("one")}, guard: open, hooks: {wrap: [registry/handlers/code.ts#left]}}
  code.keep: {post: /keep, run: registry/handlers/code.ts#keep, guard: open}
  code.files: {post: /files_there, out: {keys: "string[]"}, run: registry/handlers/code.ts#there, guard: open}
  code.late: {post: "/late/{id}", in: {id: uuid}, run: registry/handlers/code.ts#late, guard: open}
`;

const handlers = `import { setTimeout as sleep } from "node:timers/promises";
import { collection, objects, sql } from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
import { filesSpec } from "../../generated/storage/files.js";
import { stageEvent } from "../../generated/outbox.js";
import { stageSignal } from "../../generated/signals.js";
const missing = "00000000-0000-7000-8000-000000000000";
export const nothing = async () => {};
export const left = async (input, context, next) => {
  const inner = next(input);
  if (input.how === "throws") throw new Error("fault of left");
  if (input.how === "a while") await null;
};
export const keep = async (input, context) => { await objects(filesSpec, context).put("kept", "text"); };
export const there = async (input, context) => {
  const files = objects(filesSpec, context);
  // What was left behind has ended by then.
  await sleep(50);
  const found = await Promise.all(["kept", "lost", "moved"].map(async (key) => ({ key, is: await files.exists(key) })));
  return { keys: found.filter(({ is }) => is).map(({ key }) => key) };
};
export const late = async ({ id }, context) => {
  const notes = collection(notesSpec, context);
  setTimeout(() => { notes.create({text: "late"}); context.commit(() => notes.create({text: "late"})); globalThis.lateUnderTest?.(); }, 20);
};
${Object.entries(all)
  .map(
    ([title, body]) => `export const ${nameOf(title)} = async ({ id }, context) => {
  const notes = collection(notesSpec, context);
  const files = objects(filesSpec, context);
  ${body}
};
export const own_${nameOf(title)} = async (input, context) => { await context.commit(() => ${nameOf(title)}(input, context)); };
`,
  )
  .join("")}`;

const files = { "registry/service.yaml": registry, "registry/handlers/code.ts": handlers };

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`authors who forget to await, on ${engine.name}`, () => {
    const log = recordingLog();
    let service: TestService;
    let id: string;
    const unheld: unknown[] = [];
    const note = (reason: unknown): void => void unheld.push(reason);
    beforeAll(async () => {
      process.on("unhandledRejection", note);
      service = await project.start(engine, { log });
      id = (
        (await service.call("POST", "/notes", { body: { text: "first" } })).body as { id: string }
      ).id;
      await service.call("POST", "/keep");
    });
    afterAll(async () => {
      process.off("unhandledRejection", note);
      await service.stop();
    });
    const stored = async (): Promise<unknown> => {
      const { body } = await service.call("POST", "/notes/list", { body: {} });
      return body;
    };

    test.each(Object.keys(forgetful))(
      "%s: 500, nothing is stored, and the log says where",
      async (title) => {
        const before = await stored();
        unheld.length = 0;
        for (const kind of ["write", "own", "hooked"]) {
          log.lines.length = 0;
          const { status } = await service.call("POST", `/${kind}/${nameOf(title)}/${id}`);
          expect([kind, status]).toEqual([kind, 500]);
          const told = JSON.stringify(log.lines);
          expect(told).toContain("an await is missing");
          expect(told).toContain(nameOf(title));
          expect(told).toMatch(/registry\/handlers\/code\.ts:\d+/);
        }
        // An author's own async function that nobody awaits is an author's own promise.
        if (!all[title]?.includes("async (")) expect(unheld).toEqual([]);
        expect(await stored()).toEqual(before);
        if (title.startsWith("objects"))
          expect((await service.call("POST", "/files_there")).body).toEqual({ keys: ["kept"] });
      },
    );

    test.each(Object.keys(mindful))("%s: as before", async (title) => {
      for (const kind of ["write", "own", "hooked"]) {
        log.lines.length = 0;
        const { status } = await service.call("POST", `/${kind}/${nameOf(title)}/${id}`);
        const faults = log.lines.filter(({ level }) => level !== "info");
        expect([kind, status, faults]).toEqual([kind, 204, []]);
      }
    });

    test.each(["returns", "throws", "a while"])(
      "a wrap hook that leaves next behind (%s): 500, and nothing is stored",
      async (how) => {
        const before = await stored();
        log.lines.length = 0;
        const { status } = await service.call("POST", `/left/${id}`, { body: { how } });
        expect(status).toBe(500);
        const said = how === "throws" ? "fault of left" : "left of code.left returned without";
        expect(JSON.stringify(log.lines)).toContain(said);
        expect(await stored()).toEqual(before);
      },
    );

    test.each(Object.keys(following))(
      "%s: the answer stands, nothing more is stored, and the log says where",
      async (title) => {
        const before = await stored();
        unheld.length = 0;
        for (const kind of ["write", "own", "hooked"]) {
          log.lines.length = 0;
          const { status } = await service.call("POST", `/${kind}/${nameOf(title)}/${id}`);
          expect([kind, status]).toEqual([kind, 204]);
          const told = JSON.stringify(log.lines);
          expect(told).toContain("an await is missing");
          expect(told).toContain("the work of context.when");
          expect(told).toContain(nameOf(title));
          expect(told).toMatch(/registry\/handlers\/code\.ts:\d+/);
        }
        await sleep(50);
        expect(unheld).toEqual([]);
        expect(await stored()).toEqual(before);
      },
    );

    test.each(["stageEvent", "stageSignal"])(
      "%s in a test of the service: what was not committed is not there",
      async (title) => {
        const { testService } = await project.load("generated/testing.ts");
        const { [nameOf(title)]: forget } = await project.load("registry/handlers/code.ts");
        const server = process.env["OPWRIGHT_TEST_POSTGRES"];
        const app = await testService(engine.name === "postgres" ? { database: server } : {});
        try {
          const { principalId } = await app.as("bob");
          const url = `${app.url}/write/${nameOf(title)}/${principalId}`;
          expect((await fetch(url, { method: "POST" })).status).toBe(500);
          const written = app.write((context: unknown) => forget({ id: principalId }, context));
          await expect(written).rejects.toMatchObject({ code: "core.internal" });
          // What was left behind has ended by then.
          await app.write(() => sleep(20));
          expect([app.outbox, app.signals]).toEqual([[], []]);
        } finally {
          await app.close();
        }
      },
    );

    test("calls that begin after the answer store nothing and are logged", async () => {
      const before = await stored();
      log.lines.length = 0;
      const begun = new Promise<void>((resolve) =>
        Object.assign(globalThis, { lateUnderTest: resolve }),
      );
      expect((await service.call("POST", `/late/${id}`)).status).toBe(204);
      await begun;
      await expect.poll(() => JSON.stringify(log.lines)).toContain("context.commit at");
      expect(JSON.stringify(log.lines)).toContain("collection(notes).create at");
      expect(await stored()).toEqual(before);
    });
  });
}
