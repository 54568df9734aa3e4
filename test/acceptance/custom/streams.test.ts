// Operations that answer with any number of values, as JSON lines and as Server-Sent Events.
import { expect, test } from "vitest";
import { compile } from "../../generator/compile.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
hooks: {around: {run: registry/code.ts#around, phase: wrap}}
types: {Price: {id: integer, amount: {decimal: 2}, note: string?}}
documents: {things: {type: {name: string}, guard: open}}
operations:
  prices.watch: {get: /prices, in: {count: integer, from: integer?}, out: Price, stream: true, run: registry/code.ts#watch, guard: open, headers: [Last-Event-ID]}
  prices.made: {post: /prices/made, in: {text: string}, out: {word: string}, stream: true, status: 201, run: registry/code.ts#made, guard: open, hooks: {wrap: [around]}}
  prices.broken: {get: /prices/broken, out: Price, stream: true, run: registry/code.ts#broken, guard: open}
  prices.odd: {get: /prices/odd, out: Price, stream: true, run: registry/code.ts#odd, guard: open}
  prices.wrong: {get: /prices/wrong, out: Price, stream: true, run: registry/code.ts#wrong, guard: open}
  prices.refused: {get: /prices/refused, out: Price, stream: true, run: registry/code.ts#refused, guard: open}
  prices.endless: {get: /prices/endless, out: Price, stream: true, run: registry/code.ts#endless, guard: open}
  prices.waiting: {get: /prices/waiting, out: Price, stream: true, run: registry/code.ts#waiting, guard: open}
  prices.pending: {get: /prices/pending, out: Price, stream: true, run: registry/code.ts#pending, guard: open}
  prices.large: {get: /prices/large, out: {text: string}, stream: true, run: registry/code.ts#large, guard: open}
  prices.nothing: {get: /prices/nothing, out: {}, stream: true, run: registry/code.ts#nothing, guard: open}
  things.names: {get: /things/names, out: string, stream: true, run: registry/code.ts#names, guard: open}
`,
  "registry/code.ts": `import { collection, fail, type ExecutionContext } from "opwright/runtime";
import { thingsSpec } from "../generated/documents/things.js";
import type { PricesBrokenHandler, PricesEndlessHandler, PricesMadeHandler, PricesOddHandler, PricesRefusedHandler, PricesLargeHandler, PricesNothingHandler, PricesPendingHandler, PricesWaitingHandler, PricesWatchHandler, PricesWrongHandler } from "../generated/types/prices.js";
import type { ThingsNamesHandler } from "../generated/types/things.js";
export const ended: string[] = [];
export const watch: PricesWatchHandler = async function* ({ count, from = 0 }, { headers }) {
  const last = Number(headers["last-event-id"] ?? from ?? 0);
  for (let id = last + 1; id <= count; id += 1) yield { id, amount: id / 4 };
};
export const made: PricesMadeHandler = ({ text }) => text.split(" ").map((word) => ({ word, hidden: 1 }));
export const around = <Input, Result>(
  input: Input,
  _context: ExecutionContext,
  next: (input: Input) => Promise<Result>,
): Promise<Result> => next(input);
export const broken: PricesBrokenHandler = async function* () {
  yield { id: 1, amount: 1 };
  throw new Error("not this far");
};
export const odd: PricesOddHandler = async function* () {
  yield { id: 1, amount: 1 };
  yield { id: 2, amount: "dear" } as never;
};
export const wrong: PricesWrongHandler = () => 7 as never;
export const refused: PricesRefusedHandler = async () => {
  throw fail("core.not_found");
};
export const endless: PricesEndlessHandler = async function* () {
  try {
    for (let id = 1; ; id += 1) {
      yield { id, amount: 1 };
      await new Promise((done) => setTimeout(done, 2));
    }
  } finally {
    ended.push("endless");
  }
};
export const waiting: PricesWaitingHandler = async function* () {
  await new Promise((done) => setTimeout(done, 60_000));
  yield { id: 1, amount: 1 };
};
export const pending: PricesPendingHandler = () => ({
  [Symbol.asyncIterator]: () => ({
    next: () => new Promise<IteratorResult<never>>(() => undefined),
    return: async () => (ended.push("pending"), { done: true, value: undefined }),
  }),
});
export const large: PricesLargeHandler = async function* () {
  yield { text: "ä".repeat(3_000_000) };
  yield { text: "end" };
};
export const nothing: PricesNothingHandler = async function* () {
  yield undefined as never;
};
export const names: ThingsNamesHandler = async (_input, context) =>
  (await collection(thingsSpec, context).find({ sorts: { name: "asc" } })).map(({ name }) => name);
`,
};

const project = onEachEngine(files, ({ service }) => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${service.url}${path}`, { headers });
  const load = async () => {
    const client = await project.load("generated/client/index.ts");
    return { ...client, api: client.createClient({ baseUrl: service.url, retries: 0 }) };
  };
  const all = async <Item>(values: AsyncIterable<Item>): Promise<readonly Item[]> => {
    const found: Item[] = [];
    for await (const value of values) found.push(value);
    return found;
  };

  test("values are JSON lines, cut to what is declared", async () => {
    const answer = await get("/prices?count=3");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/jsonl"]);
    expect(await answer.text()).toBe(
      '{"id":1,"amount":0.25}\n{"id":2,"amount":0.5}\n{"id":3,"amount":0.75}\n',
    );
    const made = await fetch(`${service.url}/prices/made`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: "two words" }),
    });
    expect([made.status, await made.text()]).toEqual([201, '{"word":"two"}\n{"word":"words"}\n']);
    await service.post("/things", { name: "Ada" });
    expect(await (await get("/things/names")).text()).toBe('"Ada"\n');
  });

  test("they are events for those who ask for these, and go on behind the last one", async () => {
    const accept = { accept: "text/event-stream" };
    const answer = await get("/prices?count=2", accept);
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await answer.text()).toBe(
      'id: 1\ndata: {"id":1,"amount":0.25}\n\nid: 2\ndata: {"id":2,"amount":0.5}\n\nevent: end\ndata: {}\n\n',
    );
    const later = await get("/prices?count=2", { ...accept, "last-event-id": "1" });
    expect(await later.text()).toBe(
      'id: 2\ndata: {"id":2,"amount":0.5}\n\nevent: end\ndata: {}\n\n',
    );
  });

  test("the client reads them one by one", async () => {
    const { api, prices, readItems } = await load();
    const read = await all<{ readonly id: number }>(readItems(prices.watch(api, { count: 500 })));
    expect(read.map(({ id }) => id)).toEqual(Array.from({ length: 500 }, (_, at) => at + 1));
    expect(await all(readItems(prices.watch(api, { count: 0 })))).toEqual([]);
    expect(await all(readItems(prices.made(api, { text: "größer ünd" })))).toEqual([
      { word: "größer" },
      { word: "ünd" },
    ]);
  });

  test("a stream that fails is not taken for whole", async () => {
    const { api, prices, readItems } = await load();
    for (const stream of [prices.broken, prices.odd]) {
      const seen: unknown[] = [];
      const reading = (async () => {
        for await (const value of readItems(stream(api))) seen.push(value);
      })();
      await expect(reading).rejects.toMatchObject({ code: "client.network" });
      expect(seen).toEqual([{ id: 1, amount: 1 }]);
    }
    // What fails before the stream is an answer like any other.
    await expect(all(readItems(prices.refused(api)))).rejects.toMatchObject({
      code: "core.not_found",
    });
    await expect(all(readItems(prices.wrong(api)))).rejects.toMatchObject({
      code: "core.internal",
    });
  });

  test("the head comes at once, whenever the first value does", async () => {
    const leaving = new AbortController();
    const answer = await fetch(`${service.url}/prices/waiting`, { signal: leaving.signal });
    expect(answer.status).toBe(200);
    leaving.abort();
  });

  test("a stream that nobody reads is ended, also if it waits", async () => {
    const { ended } = await project.load("registry/code.ts");
    ended.length = 0;
    const head = await fetch(`${service.url}/prices/pending`, { method: "HEAD" });
    expect(head.status).toBe(200);
    await expect.poll(() => ended).toEqual(["pending"]);
    const leaving = new AbortController();
    await fetch(`${service.url}/prices/pending`, { signal: leaving.signal });
    leaving.abort();
    await expect.poll(() => ended).toEqual(["pending", "pending"]);
  });

  test("large values come whole, and a call that is given up says so", async () => {
    const { api, prices, readItems } = await load();
    const [first, last] = await all<{ readonly text: string }>(readItems(prices.large(api)));
    expect([first?.text.length, last?.text]).toEqual([3_000_000, "end"]);
    const given = new AbortController();
    const reading = (async () => {
      const options = { signal: given.signal };
      for await (const { id } of readItems(prices.endless(api, options)))
        if (id === 2) given.abort();
    })();
    await expect(reading).rejects.toMatchObject({ code: "client.aborted" });
    await expect(all(readItems(prices.nothing(api)))).rejects.toMatchObject({
      code: "client.network",
    });
  });

  test.each([
    ["text/event-stream;q=0", "application/jsonl"],
    ["application/jsonl, text/event-stream;q=0.1", "application/jsonl"],
    ["text/event-stream-x", "application/jsonl"],
    ["*/*", "application/jsonl"],
    ["text/event-stream, */*;q=0.1", "text/event-stream; charset=utf-8"],
  ])("who accepts %s gets %s", async (accept, type) => {
    const answer = await get("/prices?count=1", { accept });
    expect(answer.headers.get("content-type")).toBe(type);
    await answer.text();
  });

  test("whoever leaves ends it", async () => {
    const { api, prices, readItems } = await load();
    const { ended } = await project.load("registry/code.ts");
    ended.length = 0;
    for await (const { id } of readItems(prices.endless(api))) if (id === 3) break;
    await expect.poll(() => ended).toEqual(["endless"]);
  });
});

test("the documents and types say so", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { paths } = project.openapi as any;
  const { content } = paths["/prices"].get.responses["200"];
  expect(Object.keys(content)).toEqual(["application/jsonl", "text/event-stream"]);
  expect(content["application/jsonl"]["x-itemSchema"]).toEqual({
    $ref: "#/components/schemas/Price",
  });
  compile(project.root);
});

test.each([
  ["stream: true", "a stream says by `out`"],
  ["out: {a: string}, stream: true, idempotency: true", "not kept under"],
  ["out: {a: string}, stream: true, media: text/html", "has `out`"],
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
