// What a client is given for members that travel as text arrives as that at the service, or is refused before it is sent.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, createClient, tasks } from "../../generated/client/index.js";
import { testProject, type TestProject } from "../support/project-service.js";
import type { TestService } from "../support/service.js";
import { engines } from "../support/engines.js";

const members = `code: string
      text: string?
      size: integer?
      price: number?
      strict: boolean?
      day: date-time?`;
const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
operations:
  shop.find:
    get: /shops/{code}
    in:
      ${members}
    out: true
    run: registry/shop.ts#find
    guard: open
`,
  "registry/shop.ts": `import type { ShopFindHandler } from "../generated/types/shop.js";
export const find: ShopFindHandler = (input) => ({ ...input });
`,
};

const [engine] = engines;

describe("members in path and query", () => {
  let project: TestProject;
  let service: TestService;
  let find: (input: object) => Promise<unknown>;
  beforeAll(async () => {
    if (engine === undefined) throw new Error("there is no SQLite");
    project = await testProject(files);
    service = await project.start(engine);
    const { createClient: create, shop } = await project.load("generated/client/index.ts");
    const client = create({ baseUrl: service.url });
    find = (input) => shop.find(client, input);
  });
  afterAll(async () => {
    await service.stop();
    project.remove();
  });

  const texts = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
    .filter((text) => !text.includes("\0") && text !== "." && text !== "..");
  /** What stands for nothing: the member is left out. */
  const nothing = fc.constantFrom(null, undefined);
  const inputs = fc.record(
    {
      code: texts,
      text: fc.oneof(texts, fc.constantFrom("", "null", "undefined", "a b&c=d", "+", "%"), nothing),
      size: fc.oneof(fc.maxSafeInteger(), nothing),
      price: fc.oneof(fc.constantFrom(0.1, -2.5, 1e21, 1e-7, -0), nothing),
      strict: fc.oneof(fc.boolean(), nothing),
      day: fc.oneof(
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
        nothing,
      ),
    },
    { requiredKeys: ["code"] },
  );

  test("arrive as they were given; null is left out, as undefined is", async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        const given = Object.entries(input).filter(([, value]) => value !== null);
        const expected = JSON.parse(JSON.stringify(Object.fromEntries(given))) as unknown;
        expect(await find(input)).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  test.each<[string, unknown]>([
    ["code", null],
    ["code", ["a,b"]],
    ["text", {}],
    ["text", []],
    ["text", ["a,b"]],
    ["text", [null]],
    ["text", [["a"]]],
    ["text", "\ud800"],
    ["price", Number.NaN],
    ["price", Number.POSITIVE_INFINITY],
    ["day", new Date(Number.NaN)],
    ["text", () => "a"],
    ["text", Symbol("a")],
  ])("are refused where they would arrive as something else: %s", async (name, value) => {
    const answer = find({ code: "c", [name]: value });
    await expect(answer).rejects.toMatchObject({ code: "client.invalid" });
  });
});

test("a list travels as its items, and a header that is nothing is left out", async () => {
  const sent: Request[] = [];
  const client = createClient({
    baseUrl: "http://service.test",
    fetch: async (input, init) => {
      sent.push(new Request(input, init));
      return Response.json({});
    },
  });
  const listing = { method: "GET", path: "/list", query: ["expand"] };
  await call(client, listing, { expand: ["project", "assignee"] });
  const headers = { "x-a": undefined, "x-b": null, "x-c": "c" } as unknown as Record<
    string,
    string
  >;
  await tasks.get(client, { id: "1" }, { headers });
  expect(sent.map(({ url }) => new URL(url).search)).toEqual(["?expand=project%2Cassignee", ""]);
  expect(["x-a", "x-b", "x-c"].map((name) => sent[1]?.headers.get(name))).toEqual([
    null,
    null,
    "c",
  ]);
});
