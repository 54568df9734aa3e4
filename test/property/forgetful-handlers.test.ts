// Random handlers that forget to await: 204 and all that they have begun is stored, or 500 and nothing is, on every engine alike
// (attack 125). OPWRIGHT_TEST_SEED replays a run; OPWRIGHT_TEST_CASES says how many handlers it tries.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { engines } from "../support/engines.js";
import { testProject, type TestProject } from "../support/project-service.js";
import type { TestService } from "../support/service.js";

const numRuns = Number(process.env["OPWRIGHT_TEST_CASES"] ?? 40);
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);

/** What a handler calls, and how it waits for it. */
interface Step {
  readonly call:
    | "create"
    | "createMany"
    | "update"
    | "upsert"
    | "missing"
    | "find"
    | "refused"
    | "event"
    | "commit";
  readonly how: "await" | "void" | "last" | "caught" | "chain" | "race" | "all";
}

/** A handler's steps, and what it has begun to store. */
interface Run {
  readonly tag: string;
  readonly steps: readonly Step[];
  begun: number;
}
const next: { run: Run } = { run: { tag: "", steps: [], begun: 0 } };
Object.assign(globalThis, { forgetfulUnderTest: next });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: forgetful, title: Forgetful, version: 1.0.0}
policies: {open: []}
documents: {notes: {type: {key: string, text: {type: string, maxLength: 40}}, unique: [[key]], guard: open}}
outbox: {events: {notes.noted: {data: {tag: string}, destination: nowhere}}}
operations:
  code.run: {post: /run, run: registry/handlers/run.ts#run, guard: open}
`,
  "registry/handlers/run.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
import { stageEvent } from "../../generated/outbox.js";
export const run = async (_input, context) => {
  const { run } = globalThis.forgetfulUnderTest;
  const notes = collection(notesSpec, context);
  const note = () => ({ text: run.tag, key: run.tag + (run.begun += 1) });
  const calls = {
    create: () => notes.create(note()),
    createMany: () => notes.createMany([note(), note()]),
    update: async () => { const { id } = await notes.create(note()); await notes.update(id, "any", { text: run.tag }); },
    upsert: () => notes.upsert(["key"], note()),
    missing: () => notes.get("00000000-0000-7000-8000-000000000000").catch(() => null),
    find: () => notes.find(),
    refused: () => notes.create({ text: "x".repeat(41), key: "" }).catch(() => null),
    event: () => stageEvent(context, "notes.noted", { tag: run.tag }),
    commit: () => context.commit(async () => { await notes.create(note()); await notes.find(); }),
  };
  const last = [];
  for (const { call, how } of run.steps) {
    const begin = calls[call];
    if (how === "await") await begin();
    if (how === "void") void begin();
    if (how === "last") last.push(begin());
    if (how === "caught") void begin().catch(() => null);
    if (how === "chain") void (async () => { await begin(); await begin(); })().catch(() => null);
    if (how === "race") await Promise.race([begin(), begin()]);
    if (how === "all") await Promise.all([begin(), begin()]);
  }
  for (const one of last) await one;
};
`,
};

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    call: fc.constantFrom<Step["call"]>(
      "create",
      "createMany",
      "update",
      "upsert",
      "missing",
      "find",
      "refused",
      "event",
      "commit",
    ),
    how: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom<Step["how"]>("await", "last", "all") },
      { weight: 2, arbitrary: fc.constantFrom<Step["how"]>("void", "caught", "chain", "race") },
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

let project: TestProject;
const services: TestService[] = [];
const unheld: unknown[] = [];
const note = (reason: unknown): void => void unheld.push(reason);
beforeAll(async () => {
  process.on("unhandledRejection", note);
  project = await testProject(files);
  for (const engine of engines.filter(({ isAvailable }) => isAvailable))
    services.push(await project.start(engine));
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  for (const service of services) await service.stop();
  project.remove();
});

test(
  "a handler that forgets stores all or nothing, and each engine decides alike",
  async () => {
    let forgot = 0;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const outcomes: unknown[] = [];
        count += 1;
        for (const service of services) {
          const run: Run = { tag: `run ${count} `, steps: given, begun: 0 };
          next.run = run;
          const { status } = await service.call("POST", "/run");
          const body = { filters: { $values: { text: run.tag } }, size: 100 };
          const listed = await service.call("POST", "/notes/list", { body });
          const stored = (listed.body as { readonly hits: readonly unknown[] }).hits.length;
          expect([status, stored]).toEqual(status === 204 ? [204, run.begun] : [500, 0]);
          outcomes.push(status);
        }
        if (outcomes[0] === 500) forgot += 1;
        expect(new Set(outcomes).size).toBe(1);
      }),
      { numRuns, seed },
    );
    expect(forgot).toBeGreaterThan(0);
    expect(forgot).toBeLessThan(count);
    for (const service of services) expect((await service.call("GET", "/livez")).status).toBe(200);
  },
  numRuns * 1_000,
);
