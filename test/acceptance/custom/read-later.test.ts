// `readLater`: what a stream or a file is made of is read while it is being sent, with the rights of whoever asked for it.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  own: [principal, tenant, {scope: own_rows}]
  member: [principal, tenant]
documents:
  items: {type: {name: string, cost: integer}, guard: own, bulk: {max: 1000}}
operations:
  items.stream: {get: /stream, out: {id: uuid, name: string}, stream: true, run: registry/read.ts#stream, guard: member, deadline: 1s}
  items.csv: {get: /items.csv, media: text/csv, run: registry/read.ts#csv, guard: member}
  items.forget: {get: /forget, out: {name: string}, stream: true, run: registry/read.ts#forget, guard: member}
  items.plain: {get: /plain, out: {name: string}, stream: true, run: registry/read.ts#plain, guard: member}
  items.posted: {post: /posted, out: {name: string}, stream: true, run: registry/read.ts#posted, guard: member}
  items.within: {post: /within, out: {}, run: registry/read.ts#within, guard: member}
`,
  "registry/read.ts": `import { collection, csvText, readLater } from "opwright/runtime";
import { itemsSpec } from "../generated/documents/items.js";
const pages = async function* (context) {
  for (let after; ; ) {
    const query = { sorts: { name: "asc" }, size: 400, ...(after === undefined ? {} : { after }) };
    const page = await readLater(context, (within) => collection(itemsSpec, within).cursor(query));
    yield page.hits;
    after = page.next_cursor;
    if (after === null) return;
  }
};
export const stream = async function* (_input, context) {
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  for await (const hits of pages(context)) yield* hits;
};
export const csv = async function* (_input, context) {
  let header = true;
  for await (const hits of pages(context)) {
    yield csvText(["name", "cost"], hits, { header });
    header = false;
  }
};
export const forget = async function* (_input, context) {
  await readLater(context, async (within) => void collection(itemsSpec, within).cursor({}));
  yield { name: "x" };
};
export const posted = async (_input, context) => {
  await collection(itemsSpec, context).create({ name: "posted", cost: 1 });
  return (async function* () {
    for await (const hits of pages(context)) yield* hits;
  })();
};
export const within = async (_input, context) => {
  await readLater(context, (later) => collection(itemsSpec, later).create({ name: "z", cost: 1 }));
  return {};
};
export const plain = async function* (_input, context) {
  yield* (await collection(itemsSpec, context).cursor({})).hits;
};
`,
};

onEachEngine(files, ({ people, service }) => {
  const rows = (prefix: string) =>
    Array.from({ length: 1_000 }, (_one, at) => ({
      name: `${prefix} ${String(at).padStart(4, "0")}`,
      cost: at,
    }));
  const read = (token: string, path: string) =>
    fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });

  test("a stream reads its rows behind the deadline, within the caller's scopes", async () => {
    const ada = await people.member("");
    const eve = await people.member(ada.tenantId);
    for (const [who, prefix] of [
      [ada, "a"],
      [eve, "e"],
    ] as const) {
      const items = { items: rows(prefix), atomic: true };
      expect((await people.as(who.token, "POST", "/items/create_many", items)).status).toBe(200);
    }
    const lines = (await (await read(eve.token, "/stream")).text()).trim().split("\n");
    const names = lines.map((line) => JSON.parse(line).name);
    expect(names).toEqual(rows("e").map(({ name }) => name));
    const [header, first, ...others] = (await (await read(ada.token, "/items.csv")).text())
      .trim()
      .split("\r\n");
    expect([header, first, others.length]).toEqual(["name,cost", "a 0000,0", 999]);
  });

  test("a forgotten await, and calls of the handler's own context, break the answer", async () => {
    const { token } = await people.member("");
    for (const path of ["/forget", "/plain"])
      await expect(read(token, path).then((answer) => answer.text())).rejects.toThrow();
  });

  test("it reads what a writing handler has committed, and not while that has a transaction", async () => {
    const ada = await people.member("");
    const post = (path: string) => people.as(ada.token, "POST", path, {});
    const answer = await fetch(`${service.url}/posted`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.token}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(await answer.text()).toBe('{"name":"posted"}\n');
    expect((await post("/within")).status).toBe(500);
    expect((await people.as(ada.token, "POST", "/items/list", {})).status).toBe(200);
  });
});
