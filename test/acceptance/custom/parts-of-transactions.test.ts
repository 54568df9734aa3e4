// A part of a transaction that fails (context.commit within an operation that writes) is undone alone and as a whole: nothing that
// was called beside it goes with it, and nothing of it stays, on every engine alike (attack 161).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

/** What a handler does, whose own errors are caught where it says so, and the texts that are stored when it has answered 204. */
const handlers: Readonly<
  Record<string, { readonly body: string; readonly stored: readonly string[] }>
> = {
  "a part that fails": {
    body: `await create("before"); await failing(async () => { await create("part"); }); await create("after");`,
    stored: ["after", "before"],
  },
  "a create that was begun before it": {
    body: `await Promise.all([create("beside"), failing(async () => { await create("part"); })]);`,
    stored: ["beside"],
  },
  "a create that was begun behind it": {
    body: `await Promise.all([failing(async () => { await create("part"); await sleep(20); }), create("beside")]);`,
    stored: ["beside"],
  },
  "several, one after another, beside it": {
    body: `await Promise.all([
        failing(async () => { await create("part"); await sleep(20); await create("part"); }),
        (async () => { await create("a"); await create("b"); await create("c"); })(),
      ]);`,
    stored: ["a", "b", "c"],
  },
  "an update and a signal beside it": {
    body: `const { id } = await create("old");
      await Promise.all([
        failing(async () => { await create("part"); await sleep(20); }),
        notes.update(id, "any", {text: "new"}),
        stageEvent(context, "notes.noted", {text: "beside"}),
        stageSignal(context, "notes.heard", {text: "beside"}, {principals: [missing]}),
        stageSignal(context, "notes.heard", {text: "beside"}, {principals: [missing]}),
      ]);`,
    stored: ["new"],
  },
  "a part that commits beside it": {
    body: `await Promise.all([
        failing(async () => { await create("part"); await sleep(20); }),
        context.commit(async () => { await create("other"); }),
        failing(async () => { await create("part"); }),
      ]);`,
    stored: ["other"],
  },
  "calls of the part that wait behind the one that fails": {
    body: `await failing(() => Promise.all([notes.get(missing), create("part"), create("part")]));`,
    stored: [],
  },
  "a part in a part": {
    body: `await context.commit(async () => {
        await create("outer");
        await Promise.all([failing(async () => { await create("inner"); await sleep(20); }), create("beside")]);
      });`,
    stored: ["beside", "outer"],
  },
  "a part in a part that fails": {
    body: `await failing(async () => { await context.commit(() => create("inner")); await create("outer"); }); await create("after");`,
    stored: ["after"],
  },
};

const registry = `registry: 1
service: {name: parts, title: Parts, version: 1.0.0}
types: {Text: {text: string}}
policies: {open: []}
identity: {methods: [token]}
documents:
  notes: {type: {text: string}, guard: open}
outbox:
  events: {notes.noted: {data: Text, destination: nowhere}}
realtime:
  events: {notes.heard: {data: Text, audience: [principal], delivery: durable}}
operations:
${Object.keys(handlers)
  .map(
    (_title, at) =>
      `  code.h${at}: {post: /h${at}, run: registry/handlers/code.ts#h${at}, guard: open}`,
  )
  .join("\n")}
`;
const code = `import { setTimeout as sleep } from "node:timers/promises";
import { collection } from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
import { stageEvent } from "../../generated/outbox.js";
import { stageSignal } from "../../generated/signals.js";
const missing = "00000000-0000-7000-8000-000000000000";
${Object.values(handlers)
  .map(
    ({ body }, at) => `export const h${at} = async (_input, context) => {
  const notes = collection(notesSpec, context);
  const create = (text) => notes.create({text});
  const failing = async (work) => {
    const seen = await context.commit(async () => { await work(); throw new Error("undone"); }).catch((error) => error);
    if (!(seen instanceof Error)) throw new Error("the part should have failed");
  };
  ${body}
};`,
  )
  .join("\n")}
`;

let project: TestProject;
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": registry,
    "registry/handlers/code.ts": code,
  });
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(
    `a part of a transaction that fails, on ${engine.name}`,
    () => {
      let service: TestService;
      beforeAll(async () => {
        service = await project.start(engine);
      });
      afterAll(() => service.stop());

      const texts = async (): Promise<readonly string[]> => {
        const { body } = await service.call("POST", "/notes/list", { body: { size: 100 } });
        return (body as { hits: readonly { text: string }[] }).hits.map(({ text }) => text).sort();
      };

      test.each(Object.entries(handlers).map(([title, one], at) => [title, at, one] as const))(
        "%s",
        async (_title, at, { stored }) => {
          const before = await texts();
          const { status } = await service.call("POST", `/h${at}`);
          expect(status).toBe(204);
          const left = [...before];
          const added = (await texts()).filter((text) => {
            const known = left.indexOf(text);
            if (known >= 0) left.splice(known, 1);
            return known < 0;
          });
          expect(added).toEqual(stored);
        },
      );
    },
  );
}
