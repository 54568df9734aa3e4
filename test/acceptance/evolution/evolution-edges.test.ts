// Changes of a registry whose trouble would only be seen in rows that are stored already.
import { describe, expect, onTestFinished, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (document: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, ${document}}
`,
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    /** Two versions of a document on one database; the second is started after `store` has used the first. */
    const evolve = async (
      documents: readonly [string, string],
      store: (first: TestService) => Promise<unknown>,
    ): Promise<TestService> => {
      const first = await testProject(registry(documents[0]));
      onTestFinished(() => first.remove());
      const second = await testProject(registry(documents[1]), first);
      onTestFinished(() => second.remove());
      const { same, drop } = await sharedDatabase(engine);
      onTestFinished(drop);
      const before = await first.start(same);
      await store(before);
      await before.stop();
      const after = await second.start(same);
      onTestFinished(() => after.stop());
      return after;
    };

    test("defaults reach stored rows in the form in which values are stored", async () => {
      const id = "0190AAAA-0000-7000-8000-000000000001";
      const service = await evolve(
        [
          "type: {a: string}",
          `type: {a: string, due: date-time, by: uuid}, defaults: {due: "2025-01-01T01:00:00+01:00", by: "${id}"}`,
        ],
        (first) => first.post("/notes", { a: "old" }),
      );
      await service.post("/notes", { a: "new" });
      const filters = { $values: { due: "2025-01-01T00:00:00Z", by: id } };
      const { body } = await service.post("/notes/list", { filters, sorts: { a: "asc" } });
      expect(body.hits).toMatchObject(
        ["new", "old"].map((a) => ({
          a,
          due: "2025-01-01T00:00:00.000Z",
          by: id.toLowerCase(),
        })),
      );
    });

    test("a unique rule holds after its member's name has changed in capitals alone", async () => {
      const service = await evolve(
        [
          'type: {userID: "string?", k: integer}, unique: [[userID]]',
          'type: {userId: "string?", k: integer}, unique: [[userId]]',
        ],
        (first) => first.post("/notes", { userID: "7", k: 1 }),
      );
      const create = async () => (await service.post("/notes", { userId: "7", k: 2 })).status;
      expect([await create(), await create()]).toEqual([201, 409]);
    });

    test.each([
      ["string", "12x", "integer", "number"],
      ["integer", 12, "string", "text"],
    ])("a %s with %j that is an %s now is looked for", async (before, n, after, kind) => {
      const of = (type: string): string => `type: {a: string, n: ${type}}`;
      await expect(
        evolve([of(before), of(after)], (first) => first.post("/notes", { a: "old", n })),
      ).rejects.toMatchObject({
        cause: { message: expect.stringContaining(`(1 row with n "no ${kind}")`) as unknown },
      });
    });

    test.each([
      ["a list", '"string[]?"', '"string[]"', "[]"],
      ["an object", "P?", "P", "{q: 1}"],
    ])("%s that may no longer be null is looked for", async (_what, before, after, value) => {
      const types = "type: {a: string, g: ";
      const of = (type: string, further = ""): string =>
        `${types}${type}}${further}}\ntypes:\n  P: {q: integer`;
      await expect(
        evolve([of(before), of(after, `, defaults: {g: ${value}}`)], (first) =>
          first.post("/notes", { a: "old" }),
        ),
      ).rejects.toMatchObject({
        cause: { message: expect.stringContaining('(1 row with g "null")') as unknown },
      });
    });
  });
}
