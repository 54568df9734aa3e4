// A registry that declares less than rows have: the migration says how many do not fit, and changes nothing while there are any.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const registry = (type: string, defaults: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {${type}}
    defaults: {${defaults}}
    guard: open
`,
});

let before: TestProject;
let after: TestProject;
beforeAll(async () => {
  before = await testProject(
    registry(
      "text: string, state: [open, odd, shut], size: number?, rank: integer, free: string",
      "state: open, rank: 1",
    ),
  );
  after = await testProject(
    registry(
      "text: {type: string, maxLength: 3}, state: [open, {value: closed, was: shut}], amount: {type: integer, was: size}, rank: {type: integer, minimum: 1, exclusiveMaximum: 9}, free: {type: string, minLength: 0}",
      "state: open, amount: 0, rank: 1",
    ),
    before,
  );
});
afterAll(() => [before, after].forEach((version) => version.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("rows that do not fit are counted by reason; once none is left, the migration continues", async () => {
      const { same, drop } = await sharedDatabase(engine);
      try {
        const old = await before.start(same);
        const make = async (body: object): Promise<void> => {
          const answer = await old.post("/notes", { text: "abc", size: 1, free: "", ...body });
          expect(answer.status).toBe(201);
        };
        await make({ state: "shut" });
        for (const text of ["abcd", "äöüß"]) await make({ text });
        await make({ state: "odd", size: null });
        await make({ size: 1.5, rank: 0 });
        await make({ size: 2, rank: 9 });
        const fault = await after.start(same).catch((error: unknown) => error);
        expect(fault).toMatchObject({ code: "core.configuration" });
        expect(((fault as Error).cause as Error).message).toBe(
          "migration 0002_notes.sql has changed nothing, since it cannot make " +
            [
              'notes.text as it is declared (2 rows with text "longer than 3")',
              'notes.state as it is declared (1 row with state "none of open, closed")',
              'notes.amount as it is declared (1 row with amount "null")',
              'notes.amount as it is declared (1 row with amount "a fraction")',
              'notes.rank as it is declared (1 row with rank "below 1")',
              'notes.rank as it is declared (1 row with rank "9 or above")',
            ].join(", nor "),
        );
        const all = (await old.post("/notes/list", { size: 100 })).body.hits;
        for (const { id, rev, text, state, size, rank } of all)
          if (text.length > 3 || state === "odd" || size === 1.5 || rank === 9)
            expect((await old.call("DELETE", `/notes/${id}?rev=${rev}`)).status).toBe(204);
        const next = await after.start(same);
        const { hits } = (await next.post("/notes/list", {})).body;
        expect(hits).toMatchObject([{ text: "abc", state: "closed", amount: 1, rank: 1 }]);
        await Promise.all([old.stop(), next.stop()]);
      } finally {
        await drop();
      }
    });
  });
}
