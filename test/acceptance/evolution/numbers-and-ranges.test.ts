// Two versions beside each other: numbers go on, and ranges exclude each other, whatever each version calls fields and values.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (documents: string) => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
${documents}`,
});

const first = registry(`  tickets:
    type: {kind: [web, shop], nr: integer}
    guard: open
    unique: [[kind, nr]]
    set: {nr: {$number: {per: [kind]}}}
  slots:
    type: {kind: [a, b], low: integer, high: integer, state: [held, free]}
    guard: open
    no_overlap: {per: [kind], range: [low, high], where: {state: [held]}}
`);
const second = registry(`  tickets:
    type: {kind: [web, {value: store, was: shop}], number: {type: integer, was: nr}}
    guard: open
    unique: [[kind, number]]
    set: {number: {$number: {per: [kind]}}}
  slots:
    type: {kind: [a, {value: c, was: b}], begin: {type: integer, was: low}, high: integer, state: [{value: taken, was: held}, free]}
    guard: open
    no_overlap: {per: [kind], range: [begin, high], where: {state: [taken]}}
`);

let projects: readonly [TestProject, TestProject] | undefined;
beforeAll(async () => {
  const one = await testProject(first);
  projects = [one, await testProject(second, one)];
}, 60_000);
afterAll(() => projects?.forEach((project) => project.remove()));

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let services: readonly [TestService, TestService];
    let drop: () => Promise<void>;
    beforeAll(async () => {
      const database = await sharedDatabase(engine);
      drop = database.drop;
      if (projects === undefined) throw new Error("no projects");
      const [older, newer] = projects;
      services = [await older.start(database.same), await newer.start(database.same)];
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    test("numbers of both go on from each other", async () => {
      const [older, newer] = services;
      const seen = [];
      for (let at = 0; at < 3; at += 1) {
        seen.push((await older.post("/tickets", { kind: "shop" })).body.nr);
        seen.push((await newer.post("/tickets", { kind: "store" })).body.number);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    });

    test("of parallel writers of both one has the range", async () => {
      const [older, newer] = services;
      for (let round = 1; round <= 3; round += 1) {
        const range = { high: round * 10 + 5 };
        const answers = await Promise.all(
          Array.from({ length: 30 }, (_, at) =>
            at % 2 === 0
              ? older.post("/slots", { kind: "b", low: round * 10, state: "held", ...range })
              : newer.post("/slots", { kind: "c", begin: round * 10, state: "taken", ...range }),
          ),
        );
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      }
    });
  });
