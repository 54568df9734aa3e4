// Operations that answer with rows: `media: text/csv` beside `out`.
import { expect, test } from "vitest";
import { compile } from "../../generator/compile.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
hooks: {around: {run: registry/code.ts#around, phase: wrap}}
types:
  Named: {name: string}
  Row: {extends: Named, cost: {decimal: 2}, on_sale: boolean, note: string?, tags: "string[]"}
documents: {items: {type: {name: string, cost: {decimal: 2}, on_sale: boolean, note: string?, tags: "string[]"}, guard: open, bulk: {max: 1000}}}
operations:
  items.csv: {get: /items.csv, out: Row, media: text/csv, run: registry/code.ts#all, guard: open, reply: {headers: [Content-Disposition]}, hooks: {wrap: [around]}}
  items.long: {get: /long.csv, out: {id: uuid, name: string}, media: text/csv, run: registry/code.ts#long, guard: open}
  items.made: {post: /made.csv, in: {count: integer}, out: {at: integer, text: string}, media: text/csv, status: 201, run: registry/code.ts#made, guard: open}
  items.odd: {get: /odd.csv, out: {at: integer}, media: text/csv, run: registry/code.ts#odd, guard: open}
  items.text: {get: /text.csv, out: {at: integer}, media: text/csv, run: registry/code.ts#text, guard: open}
`,
  "registry/code.ts": `import { collection, readLater, type ExecutionContext } from "opwright/runtime";
import { itemsSpec } from "../generated/documents/items.js";
import type { ItemsCsvHandler, ItemsLongHandler, ItemsMadeHandler, ItemsOddHandler, ItemsTextHandler } from "../generated/types/items.js";
export const all: ItemsCsvHandler = async (_input, context) => {
  context.reply.header("content-disposition", 'attachment; filename="mine.csv"');
  return collection(itemsSpec, context).find({ sorts: { name: "asc" } });
};
export const around = <Input, Result>(
  input: Input,
  _context: ExecutionContext,
  next: (input: Input) => Promise<Result>,
): Promise<Result> => next(input);
export const long: ItemsLongHandler = async function* (_input, context) {
  for (let after: string | null | undefined; after !== null; ) {
    const query = { sorts: { name: "asc" }, size: 300, ...(after === undefined ? {} : { after }) } as const;
    const page = await readLater(context, (within) => collection(itemsSpec, within).cursor(query));
    yield* page.hits;
    after = page.next_cursor;
  }
};
export const made: ItemsMadeHandler = ({ count }) =>
  Array.from({ length: count }, (_, at) => ({ at, text: ["=1+1", 'a "b", c', "two\\nlines", "plain"][at % 4] ?? "", hidden: 1 }));
export const odd: ItemsOddHandler = async function* () {
  yield { at: 1 };
  yield { at: "two" } as never;
};
export const text: ItemsTextHandler = () => "at\\r\\n1\\r\\n" as never;
`,
};

const project = onEachEngine(files, ({ service }) => {
  const get = (path: string): Promise<Response> => fetch(service.url + path);
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(service.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const item = (name: string, further: object = {}) => ({
    name,
    cost: 1.5,
    on_sale: true,
    tags: [],
    ...further,
  });

  test("rows have the fields of the type, in its order, and nothing else", async () => {
    await post("/items", item("b", { note: "=SUM(A1)", tags: ["x", "y"] }));
    await post("/items", item("a", { cost: 0.1, on_sale: false, note: null }));
    const answer = await get("/items.csv");
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="mine.csv"');
    expect(await answer.text()).toBe(
      'name,cost,on_sale,note,tags\r\na,0.1,false,,[]\r\nb,1.5,true,\'=SUM(A1),"[""x"",""y""]"\r\n',
    );
  });

  test("any number of rows is read while it is sent", async () => {
    const items = Array.from({ length: 1_000 }, (_, at) => item(`row ${at}`));
    expect((await post("/items/create_many", { items, atomic: true })).status).toBe(200);
    const lines = (await (await get("/long.csv")).text()).trim().split("\r\n");
    expect([lines.length, lines[0], new Set(lines).size]).toEqual([1_003, "id,name", 1_003]);
  });

  test("none are the line of names, and a status may be declared", async () => {
    const answer = await post("/made.csv", { count: 0 });
    expect([answer.status, await answer.text()]).toEqual([201, "at,text\r\n"]);
    expect(await (await post("/made.csv", { count: 4 })).text()).toBe(
      'at,text\r\n0,\'=1+1\r\n1,"a ""b"", c"\r\n2,"two\nlines"\r\n3,plain\r\n',
    );
  });

  test("a row that is not as declared breaks the answer, and text is none", async () => {
    await expect(get("/odd.csv").then((answer) => answer.text())).rejects.toThrow();
    expect((await get("/text.csv")).status).toBe(500);
  });
});

test("the documents and types say so", async () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { paths } = project.openapi as any;
  expect(paths["/items.csv"].get.responses["200"].content).toEqual({
    "text/csv": {
      schema: { type: "string" },
      "x-itemSchema": { $ref: "#/components/schemas/Row" },
    },
  });
  const { items } = await project.load("generated/client/index.ts");
  expect(items.csv).toBeTypeOf("function");
  compile(project.root);
});

test.each([
  ["out: {a: string}, media: text/plain", "only an answer of text/csv has `out`"],
  ["out: string, media: text/csv", "the rows of an answer are objects"],
  ["out: {}, media: text/csv", "the rows of an answer are objects"],
  ["out: {a: string}, media: text/csv, stream: true", "sent as it comes without `stream`"],
  ["out: {a: string}, media: text/csv, idempotency: true", "not kept under an Idempotency-Key"],
])("`check` refuses %s", async (rest, told) => {
  const registry = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
operations: {a.b: {post: /b, ${rest}, run: registry/code.ts#b, guard: open}}
`;
  await expect(
    testProject({
      "registry/service.yaml": registry,
      "registry/code.ts": "export const b = () => [];\n",
    }),
  ).rejects.toThrow(told);
});
