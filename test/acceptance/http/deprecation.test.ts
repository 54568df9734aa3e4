// Answers of a deprecated operation say since when it is, and when it may be gone (RFC 9745, RFC 8594).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: waning, title: Waning, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {text: string, size: {type: integer, deprecated: {since: 2026-01-01, sunset: 2027-01-01}}}
    defaults: {size: 0}
    guard: open
    deprecated: {list: {since: 2026-01-01, sunset: 2027-07-01, use: notes.list_cursor}}
operations:
  notes.count: {get: /count, out: {count: integer}, run: registry/count.ts#count, guard: open, deprecated: {since: 2026-03-04}}
`;
const handlers = "export const count = () => ({ count: 1 });\n";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    beforeAll(async () => {
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/count.ts": handlers,
      });
      service = await startTestService(engine, { ...declared, signsIn: false });
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    const daysOf = async (
      method: string,
      path: string,
      body?: unknown,
    ): Promise<readonly unknown[]> => {
      const { status, headers } = await service.call(
        method,
        path,
        body === undefined ? {} : { body },
      );
      return [status, headers.get("deprecation"), headers.get("sunset")];
    };

    test("in answers of success and in errors", async () => {
      const days = ["@1767225600", "Thu, 01 Jul 2027 00:00:00 GMT"];
      expect(await daysOf("POST", "/notes/list", {})).toEqual([200, ...days]);
      expect(await daysOf("POST", "/notes/list", { size: -1 })).toEqual([422, ...days]);
    });

    test("without an end where none is known", async () => {
      expect(await daysOf("GET", "/count")).toEqual([200, "@1772582400", null]);
    });

    test("not of operations that stay, though a member of theirs goes", async () => {
      expect(await daysOf("POST", "/notes", { text: "a" })).toEqual([201, null, null]);
      const { body } = await service.post("/notes/list", {
        filters: { $values: { size: 0 } },
        sorts: { size: "asc" },
      });
      expect(body.hits).toMatchObject([{ text: "a", size: 0 }]);
    });
  });
}
