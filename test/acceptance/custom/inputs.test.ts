// Inputs are held against what is declared of them, wherever they travel: path, query, header, body, command.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service: {name: inputs, title: Inputs, version: 1.0.0}
policies: {open: []}
types:
  Window:
    type: object
    properties:
      from: {type: integer, default: 0}
      unit: {type: string, enum: [day, week], default: day}
    additionalProperties: false
documents:
  notes: {type: {text: string, size: number?, window: Window?}, guard: open}
operations:
  shop.find:
    get: /shops/{code}/goods
    in:
      code: {type: string, pattern: "^[A-Z]{3}$"}
      name: {type: string, minLength: 2, maxLength: 4}
      limit: {type: integer, minimum: 1, default: 20}
      price: {type: number, maximum: 1e30, default: 0.5}
      strict: {type: boolean, default: false}
      order: {enum: [name, price], default: name}
      colours: {type: array, items: {enum: [red, green]}, maxItems: 2, default: []}
      ids: "uuid[]?"
    out: true
    run: registry/echo.ts#echo
    guard: open
  shop.order:
    post: /shops/{code}/orders
    in:
      code: string
      note: {type: string, default: none}
      window: {$ref: "#/types/Window", default: {}}
      parts: {type: array, items: {$ref: "#/types/Window"}, default: []}
    out: true
    run: registry/echo.ts#echo
    guard: open
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    beforeAll(async () => {
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/echo.ts": "export const echo = (input: unknown): unknown => input;\n",
      });
      service = await startTestService(engine, declared);
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    test.each([
      ["/shops/abc/goods?name=ab", "/code", "pattern"],
      ["/shops/ABC/goods?name=a", "/name", "minLength"],
      ["/shops/ABC/goods?name=abcde", "/name", "maxLength"],
      ["/shops/ABC/goods?name=ab&limit=0", "/limit", "minimum"],
      ["/shops/ABC/goods?name=ab&limit=1.5", "/limit", "type"],
      ["/shops/ABC/goods?name=ab&limit=9007199254740993", "/limit", "type"],
      ["/shops/ABC/goods?name=ab&price=1e31", "/price", "maximum"],
      ["/shops/ABC/goods?name=ab&price=1e999", "/price", "type"],
      ["/shops/ABC/goods?name=ab&order=size", "/order", "enum"],
      ["/shops/ABC/goods?name=ab&colours=red,blue", "/colours/1", "enum"],
      ["/shops/ABC/goods?name=ab&colours=red,red,red", "/colours", "maxItems"],
      ["/shops/ABC/goods?name=ab&ids=a", "/ids/0", "format"],
      ["/shops/ABC/goods?name=a%00b", "/name", "pattern"],
      ["/shops/A%00C/goods?name=ab", "/code", "pattern"],
    ])("%s is refused at %s by %s", async (path, pointer, keyword) => {
      const { status, body } = await service.call("GET", path);
      expect([status, body.code]).toEqual([422, "core.validation"]);
      expect(body.context.errors).toMatchObject([{ path: pointer, keyword }]);
    });

    test("lists travel as one text, and have their own order", async () => {
      const of = async (query: string) =>
        (await service.call("GET", `/shops/ABC/goods?name=ab&${query}`)).body;
      expect(await of("colours=red,green")).toMatchObject({ colours: ["red", "green"] });
      expect(await of("colours=green")).toMatchObject({ colours: ["green"] });
      // No text is one item, and an empty one.
      expect((await of("colours=")).code).toBe("core.validation");
      const ids = ["01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002"];
      expect(await of(`ids=${ids.join(",")}`)).toMatchObject({ ids });
      expect((await of("colours=red&colours=green")).code).toBe("parameter_malformed");
    });

    test("defaults of a query are filled in", async () => {
      const { body } = await service.call("GET", "/shops/ABC/goods?name=abc");
      expect(body).toEqual({
        code: "ABC",
        colours: [],
        name: "abc",
        limit: 20,
        price: 0.5,
        strict: false,
        order: "name",
      });
      const given = "limit=3&price=1.5e1&strict=true&order=price";
      const other = await service.call("GET", `/shops/ABC/goods?name=abc&${given}`);
      expect(other.body).toMatchObject({ limit: 3, price: 15, strict: true, order: "price" });
    });

    test("defaults of a body are filled in at every depth", async () => {
      const { body } = await service.post("/shops/ABC/orders", { parts: [{ from: 3 }] });
      const usual = { from: 0, unit: "day" };
      expect(body).toEqual({
        code: "ABC",
        note: "none",
        window: usual,
        parts: [{ from: 3, unit: "day" }],
      });
    });

    test("defaults of a type that a document holds stay out of patches", async () => {
      const { body } = await service.post("/notes", { text: "a", window: { from: 1 } });
      const patched = await service.call("PATCH", `/notes/${body.id}?rev=1`, {
        body: { window: { unit: "week" } },
      });
      expect(patched.body.data.window).toEqual({ from: 1, unit: "week" });
    });

    test("a text with U+0000 is refused with its pointer", async () => {
      for (const [body, pointers] of [
        [{ text: "a\0b" }, ["/text"]],
        [{ text: "ok", "a\0/b": "c\0" }, ["/a\0~1b"]],
        [{ window: { unit: "\0" }, text: "\0" }, ["/text", "/window/unit"]],
      ] as const) {
        const answer = await service.post("/notes", body);
        expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
        const paths = answer.body.context.errors.map(({ path }: { path: string }) => path);
        expect(paths).toEqual(pointers);
      }
    });

    test("numbers are judged by their value, not by the length of their literal", async () => {
      const digits = "1".repeat(80);
      for (const [literal, value] of [
        [`0.${digits}`, Number(`0.${digits}`)],
        [`1${"0".repeat(22)}`, 1e22],
        [`1.${"0".repeat(100)}`, 1],
        [`5e-1`, 0.5],
      ] as const) {
        const { status, body } = await service.post("/notes", `{"text":"n","size":${literal}}`);
        expect([literal, status, body.size]).toEqual([literal, 201, value]);
      }
      for (const literal of [digits, "9007199254740993", "1e400", `1e-${digits}`]) {
        const { status, body } = await service.post("/notes", `{"text":"n","size":${literal}}`);
        expect([literal, status, body.code]).toEqual([literal, 422, "number_not_exact"]);
      }
    });
  });
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`the administration on ${engine.name}`, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine);
    });
    afterAll(() => service.stop());

    test.each(["%00", "Editor", "a%20b", ""])("?role=%s is no role", async (role) => {
      const { status, body } = await service.call("GET", `/admin/grants?role=${role}`);
      expect([status, body.code]).toEqual([422, "core.validation"]);
      expect(body.context.errors).toMatchObject([{ path: "/role", keyword: "pattern" }]);
    });
  });
}
