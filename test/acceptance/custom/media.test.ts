// Operations that answer with a type that is not JSON.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
hooks: {late: {run: registry/code.ts#late, phase: wrap}}
storage: {files: {guard: open}}
documents: {things: {type: {name: string, count: integer?}, guard: open}}
operations:
  things.csv: {get: /things.csv, media: text/csv, run: registry/code.ts#csv, guard: open, reply: {headers: [Content-Disposition]}}
  things.page: {get: /page, media: text/html, run: registry/code.ts#page, guard: open}
  things.image: {get: /image, in: {size: integer}, media: image/png, run: registry/code.ts#image, guard: open}
  things.lines: {post: /lines, in: {count: integer}, media: application/jsonl, status: 201, run: registry/code.ts#lines, guard: open}
  things.broken: {get: /broken, media: text/plain, run: registry/code.ts#broken, guard: open}
  things.wrong: {get: /wrong, media: text/plain, run: registry/code.ts#wrong, guard: open}
  things.hooked: {get: /hooked, media: text/plain, run: registry/code.ts#page, guard: open, hooks: {wrap: [late]}}
  things.file: {get: /file, in: {key: string}, media: application/octet-stream, run: registry/code.ts#file, guard: open}
`,
  "registry/code.ts": `import { collection, csvText, fail, objects } from "opwright/runtime";
import { thingsSpec } from "../generated/documents/things.js";
import { filesSpec } from "../generated/storage/files.js";
export const csv = async (_input, context) => {
  context.reply.header("content-disposition", 'attachment; filename="things.csv"');
  return csvText(["name", "count"], await collection(thingsSpec, context).find({ sorts: { name: "asc" } }));
};
export const page = () => "<p>Grüße</p>";
export const image = ({ size }) => new Uint8Array(size).fill(7);
export const lines = async function* ({ count }) {
  for (let at = 0; at < count; at += 1) yield JSON.stringify({ at }) + "\\n";
};
export const broken = async function* () {
  yield "one";
  throw new Error("not this far");
};
export const wrong = () => ({ not: "text" });
export const late = async (_input, _context, next) => next(_input);
export const file = async ({ key }, context) => {
  const { body } = await objects(filesSpec, context).get(key);
  return body;
};
`,
};

onEachEngine(files, ({ service }) => {
  const get = (path: string): Promise<Response> => fetch(`${service.url}${path}`);

  test("CSV, as spreadsheets read it", async () => {
    await service.post("/things", { name: 'a "quoted", one', count: 1 });
    await service.post("/things", { name: "=1+1", count: -2 });
    await service.post("/things", { name: "two\nlines" });
    const answer = await get("/things.csv");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/csv; charset=utf-8",
    ]);
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="things.csv"');
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.text()).toBe(
      `name,count\r\n'=1+1,-2\r\n"a ""quoted"", one",1\r\n"two\nlines",\r\n`,
    );
  });

  test("text, bytes, pieces and files", async () => {
    const page = await get("/page");
    expect([page.headers.get("content-type"), await page.text()]).toEqual([
      "text/html; charset=utf-8",
      "<p>Grüße</p>",
    ]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const image = await get("/image?size=70000");
    expect(image.headers.get("content-length")).toBe("70000");
    expect(new Set(new Uint8Array(await image.arrayBuffer()))).toEqual(new Set([7]));
    expect((await get("/image?size=many")).status).toBe(422);
    const lines = await service.call("POST", "/lines", { body: { count: 3 } });
    expect([lines.status, lines.headers.get("content-type")]).toEqual([201, "application/jsonl"]);
    expect(lines.body).toBe('{"at":0}\n{"at":1}\n{"at":2}\n');
    expect((await service.call("POST", "/lines", { body: { count: 0 } })).status).toBe(201);
    expect(await (await get("/hooked")).text()).toBe("<p>Grüße</p>");
    const form = new FormData();
    form.append("file", new Blob(["hello"]), "a.bin");
    const sent = await fetch(`${service.url}/files/files`, { method: "POST", body: form });
    const { key } = (await sent.json()) as { readonly key: string };
    expect(await (await get(`/file?key=${key}`)).text()).toBe("hello");
    const missing = await get("/file?key=nothing");
    expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([
      404,
      "core.not_found",
    ]);
  });

  test("what is no answer is 500, and one that breaks off never looks whole", async () => {
    const wrong = await get("/wrong");
    expect([wrong.status, ((await wrong.json()) as { code: string }).code]).toEqual([
      500,
      "core.internal",
    ]);
    const broken = await get("/broken");
    expect(broken.status).toBe(200);
    await expect(broken.text()).rejects.toThrow();
    expect((await get("/page")).status).toBe(200);
  });

  test("OpenAPI tells the type", async () => {
    const { body } = await service.call("GET", "/openapi.json");
    expect(body.paths["/things.csv"].get.responses["200"].content).toEqual({
      "text/csv": { schema: { type: "string" } },
    });
    expect(Object.keys(body.paths["/image"].get.responses["200"].content)).toEqual(["image/png"]);
  });
});
