// `accept` is strict: what a storage takes in is of an accepted type by its bytes and by its name, through whichever door it comes.
import { storageResources } from "../../../runtime/families/storage/resources.js";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objects, type ExecutionContext } from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";
import { stagedKey } from "../../../runtime/families/storage/staged.js";

/** What the next handler does. */
const next: { work: (context: ExecutionContext) => Promise<unknown> } = {
  work: async () => undefined,
};
Object.assign(globalThis, { fileTypesUnderTest: next });

const direct = "presign: true, multipart: true, guard: open";
const files = {
  "registry/service.yaml": `registry: 1
service: {name: album, title: Album, version: 1.0.0}
policies: {open: []}
storage:
  pictures: {accept: [image/png], ${direct}, mount: {at: /pictures, style: rest}}
  texts: {accept: [text/plain, text/csv, application/json, image/svg+xml], ${direct}, mount: {at: /texts, style: rest}}
  mixed: {accept: ["image/*", "audio/*", application/pdf], ${direct}, mount: {at: /mixed, style: rest}}
  named: {accept: [image/png, model/x.drawing], detect: name, ${direct}, mount: {at: /named, style: rest}}
  vault: {accept: [image/png], encryption: client, guard: open, mount: {at: /vault, style: rest}}
operations:
  act.run: {post: /act, out: {type: object, additionalProperties: true}, run: registry/act.ts#act, guard: open}
`,
  "registry/act.ts":
    "export const act = async (_input, context) => (await globalThis.fileTypesUnderTest.work(context)) ?? {};\n",
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const jpeg = Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex");
const html = Buffer.from("<!DOCTYPE html><script>alert(1)</script>");
const noise = Buffer.from(Array.from({ length: 64 }, (_, at) => (at * 89 + 7) % 256));
const empty = Buffer.alloc(0);
const svg = Buffer.from(
  '<?xml version="1.0"?>\n<!-- drawn -->\n<svg xmlns="http://www.w3.org/2000/svg"/>',
);
const long = (text: string): Buffer => Buffer.from(text.repeat(2_000));
const flac = Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(64)]);

type Case = readonly [
  what: string,
  storage: string,
  name: string,
  bytes: Buffer,
  type: string | null,
];
/** The type under which the storage keeps it; null where it refuses it. */
const cases: readonly Case[] = [
  ["a picture", "pictures", "x.png", png, "image/png"],
  ["a picture whose name tells nothing", "pictures", "blob", png, "image/png"],
  ["HTML that is called a picture", "pictures", "x.png", html, null],
  ["an empty file that is called a picture", "pictures", "x.png", empty, null],
  ["noise that is called a picture", "pictures", "x.png", noise, null],
  ["text that is called a picture", "pictures", "x.png", Buffer.from("hello"), null],
  ["a picture of another format", "pictures", "x.png", jpeg, null],
  ["a picture that is called a page", "pictures", "x.html", png, null],
  ["a picture that is called another format", "pictures", "x.jpg", png, null],
  ["a picture beside other pictures", "mixed", "x.jpg", png, "image/png"],
  ["a format with two names", "mixed", "x.flac", flac, "audio/flac"],
  ["a document of text", "mixed", "x.pdf", Buffer.from("%PDF-1.4\n%%EOF\n"), "application/pdf"],
  ["a text that begins as a bitmap does", "mixed", "x.bmp", Buffer.from("BMW is a car"), null],
  ["a text", "texts", "x.txt", Buffer.from("straße 😀\r\n"), "text/plain"],
  ["a text with a mark of its order", "texts", "x.txt", Buffer.from("\ufeffx"), "text/plain"],
  ["an empty text", "texts", "x.txt", empty, "text/plain"],
  ["a text without a name", "texts", "blob", Buffer.from("x"), "text/plain"],
  [
    "a text that begins as a bitmap does, called so",
    "texts",
    "x.csv",
    Buffer.from("BMW;1\n"),
    "text/csv",
  ],
  ["a table", "texts", "x.csv", Buffer.from("a;b\n1;2\n"), "text/csv"],
  ["a long table cut in the middle of a character", "texts", "x.csv", long("aß€😀;"), "text/csv"],
  ["a table that is a page", "texts", "x.csv", Buffer.from("\n <html><body>"), null],
  ["a text that is a page", "texts", "x.txt", html, null],
  ["a text that is a drawing", "texts", "x.txt", svg, null],
  ["a text with bytes that no text has", "texts", "x.txt", Buffer.from("a\0b"), null],
  ["a text of another encoding", "texts", "x.txt", Buffer.from("stra\xdfe", "latin1"), null],
  ["JSON", "texts", "x.json", Buffer.from('{"a": [1, "x"]}'), "application/json"],
  [
    "long JSON",
    "texts",
    "x.json",
    Buffer.from(JSON.stringify(Array.from({ length: 9_000 }, () => ({ a: "ß" })))),
    "application/json",
  ],
  ["long text that is called JSON", "texts", "x.json", long("no JSON "), null],
  ["text that is called JSON", "texts", "x.json", Buffer.from("hello"), null],
  ["nothing that is called JSON", "texts", "x.json", empty, null],
  ["a drawing", "texts", "x.svg", svg, "image/svg+xml"],
  ["a page that is called a drawing", "texts", "x.svg", html, null],
  [
    "a page in XML that is called a drawing",
    "texts",
    "x.svg",
    Buffer.from("<?xml version='1.0'?><html/>"),
    null,
  ],
  ["a text without a format, by its name", "named", "x.png", Buffer.from("hello"), "image/png"],
  ["a picture that is called a page, by its bytes", "named", "x.html", png, "image/png"],
  ["a picture, sealed", "vault", "x.png", png, "image/png"],
  ["HTML that is called a picture, sealed", "vault", "x.png", html, null],
];

const pairs = engines.flatMap((database) =>
  objectEngines.map((store) => ({
    database,
    store,
    name: `${database.name} and ${store.name}`,
    isAvailable: database.isAvailable && store.isAvailable,
  })),
);

describe.each(pairs.filter(({ isAvailable }) => isAvailable))("$name", ({ database, store }) => {
  let service: TestService;
  let place: FreshObjects;
  // oxlint-disable-next-line typescript/no-explicit-any -- the specs are generated only now
  const specs: Record<string, any> = {};
  beforeAll(async () => {
    place = await store.create();
    service = await project.start(database, {
      environment: { OBJECTS_URL: place.url, ...place.environment },
    });
    for (const name of ["pictures", "texts", "mixed", "named", "vault"])
      specs[name] = (await project.load(`generated/storage/${name}.ts`))[`${name}Spec`];
  });
  afterAll(async () => {
    await service.stop();
    await place.drop();
  });

  const post = (path: string, body: object): Promise<Answer> =>
    service.call("POST", path, { body });
  const act = (work: (context: ExecutionContext) => Promise<unknown>): Promise<Answer> => {
    next.work = work;
    return post("/act", {});
  };
  const upload = (storage: string, name: string, bytes: Buffer, prefix = ""): Promise<Answer> => {
    const data = new FormData();
    if (prefix !== "") data.set("prefix", prefix);
    data.set("file", new Blob([new Uint8Array(bytes)]), name);
    return service.call("POST", `/${storage}/files`, { body: data });
  };
  const keys = async (storage: string): Promise<readonly string[]> =>
    (await post(`/${storage}/files/list`, { size: 100 })).body.hits.map(
      ({ key }: { readonly key: string }) => key,
    );
  const refused = { code: "upload_type_unsupported" };
  const lost = async (storage: string, key: string): Promise<void> => {
    expect((await service.call("GET", `/${storage}/files/${key}`)).status).toBe(404);
    expect((await service.call("HEAD", `/${storage}/files/${key}`)).status).toBe(404);
    expect(await keys(storage)).not.toContain(key);
  };

  test.each(cases)("%s, by form and in handlers", async (_what, storage, name, bytes, type) => {
    const before = await keys(storage);
    const { status, body } = await upload(storage, name, bytes);
    const put = await act((context) =>
      objects(specs[storage], context).create(bytes, { filename: name }),
    );
    if (type === null) {
      expect([status, body, put.status, put.body]).toMatchObject([415, refused, 415, refused]);
      expect(await keys(storage)).toEqual(before);
      return;
    }
    expect([status, body.content_type, put.body.content_type]).toEqual([201, type, type]);
    const got = await fetch(`${service.url}/${storage}/files/${body.key}`);
    expect(got.headers.get("content-type")).toBe(type);
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("a refusal names the type that is not wanted, and what says it", async () => {
    const contextOf = ({ status, body }: Answer): unknown => {
      expect([status, body.code]).toEqual([415, "upload_type_unsupported"]);
      return body.context;
    };
    const cases = [
      ["pictures", "x.png", html, { content_type: "text/html", source: "bytes" }],
      [
        "pictures",
        "x.html",
        png,
        { content_type: "text/html", source: "name", bytes: "image/png" },
      ],
      [
        "pictures",
        "x.png",
        Buffer.from("text"),
        { content_type: "image/png", source: "name", bytes: "text/plain" },
      ],
    ] as const;
    for (const [storage, name, bytes, context] of cases)
      expect(contextOf(await upload(storage, name, bytes))).toEqual(context);
    const ofRequest = { content_type: "image/png", source: "request", bytes: "text/html" };
    const put = await act((context) =>
      objects(specs["mixed"], context).put("told", html, { content_type: "image/png" }),
    );
    expect(contextOf(put)).toEqual(ofRequest);
    const address = await signed("pictures", "told.png", "image/png");
    expect(contextOf(await signed("pictures", "told.png", "text/html"))).toEqual({
      content_type: "text/html",
      source: "request",
    });
    await sent(address, html);
    if (store.name === "s3")
      expect(contextOf(await post("/pictures/files/metadata", { key: "told.png" }))).toEqual(
        ofRequest,
      );
  });

  test("a handler that tells a type is held to it", async () => {
    const put = (bytes: Buffer, content_type: string) =>
      act((context) => objects(specs["mixed"], context).put("told", bytes, { content_type }));
    expect((await put(html, "image/png")).body).toMatchObject(refused);
    expect((await put(jpeg, "image/png")).body).toMatchObject(refused);
    expect((await put(png, "image/png")).body.content_type).toBe("image/png");
    const read = await act(async (context) => ({
      bytes: (await buffer((await objects(specs["mixed"], context).get("told")).body)).length,
    }));
    expect(read.body).toEqual({ bytes: png.length });
  });

  test("a type or a name that is given afterwards has to fit as well", async () => {
    const { key } = (await upload("mixed", "x.png", png)).body;
    const change = (changes: object) => post("/mixed/files/metadata/update", { key, ...changes });
    expect((await change({ content_type: "application/pdf" })).body).toMatchObject(refused);
    expect((await change({ content_type: "image/jpeg" })).body).toMatchObject(refused);
    expect((await change({ filename: "x.html" })).body).toMatchObject(refused);
    expect((await change({ content_type: "image/png", filename: "y.jpg" })).body).toMatchObject({
      content_type: "image/png",
      filename: "y.jpg",
    });
  });

  test.each(["image/*", "*/*", "*/png", "image/p*"])("%s is no type of a file", async (type) => {
    const { key } = (await upload("mixed", "x.png", png)).body;
    const answers = [
      await post("/mixed/files/metadata/update", { key, content_type: type }),
      await signed("mixed", "patterned.png", type),
      await act((context) =>
        objects(specs["mixed"], context).put("patterned.png", png, { content_type: type }),
      ),
    ];
    for (const { status, body } of answers)
      expect([status, body.code, body.context.errors?.[0].path]).toEqual([
        422,
        "core.validation",
        "/content_type",
      ]);
    await lost("mixed", "patterned.png");
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(png)], { type }), "x.png");
    const formed = await service.call("POST", "/mixed/files", { body: form });
    expect([formed.status, formed.body.content_type]).toEqual([201, "image/png"]);
  });

  const signed = (storage: string, key: string, content_type: string): Promise<Answer> =>
    post(`/${storage}/files/presign/upload`, { key, content_type, expires_in: 60 });
  const sent = async ({ body }: Answer, bytes: Buffer): Promise<number> =>
    (
      await fetch(body.url, {
        method: body.method,
        headers: body.headers,
        body: new Uint8Array(bytes),
      })
    ).status;

  test("an address takes bytes in that fit their type, and what came past the service is never served", async () => {
    expect((await signed("pictures", "x.html", "image/png")).body).toMatchObject(refused);
    const address = await signed("pictures", "signed.png", "image/png");
    for (const bytes of [html, noise, empty, jpeg]) {
      expect(await sent(address, bytes)).toBe(store.name === "s3" ? 200 : 415);
      await lost("pictures", "signed.png");
    }
    await sent(address, html);
    const told = await post("/pictures/files/metadata", { key: "signed.png" });
    expect([told.status, told.body.code]).toEqual(
      store.name === "s3" ? [415, "upload_type_unsupported"] : [404, "core.not_found"],
    );
    for (const path of ["copy", "move"]) {
      await sent(address, html);
      const to = await post(`/pictures/files/${path}`, { from: "signed.png", to: "elsewhere" });
      expect(to.status).toBe(404);
    }
    await sent(address, html);
    const download = { key: "signed.png", expires_in: 60 };
    expect((await post("/pictures/files/presign/download", download)).status).toBe(404);
    await sent(address, html);
    const handled = await act((context) => objects(specs["pictures"], context).get("signed.png"));
    expect(handled.status).toBe(404);
    expect(await sent(address, png)).toBe(200);
    const got = await fetch(`${service.url}/pictures/files/signed.png`);
    expect([got.status, got.headers.get("content-type")]).toEqual([200, "image/png"]);
    // A picture that is there is no leave for what replaces it.
    await sent(address, html);
    expect((await fetch(`${service.url}/pictures/files/signed.png`)).status).toBe(
      store.name === "s3" ? 404 : 200,
    );
  });

  test("a signed form is judged by its bytes", async () => {
    const asked = { key: "form.png", content_type: "image/png", expires_in: 60 };
    const form = await post("/pictures/files/presign/post", asked);
    const send = async (bytes: Buffer): Promise<number> => {
      const data = new FormData();
      for (const [name, value] of Object.entries(form.body.fields)) data.set(name, String(value));
      data.set("file", new Blob([new Uint8Array(bytes)]), "x.png");
      return (await fetch(form.body.url, { method: "POST", body: data })).status;
    };
    expect(await send(html)).toBe(store.name === "s3" ? 204 : 415);
    await lost("pictures", "form.png");
    expect(await send(png)).toBeLessThan(300);
    expect((await fetch(`${service.url}/pictures/files/form.png`)).status).toBe(200);
  });

  test("an upload in parts is judged when it is complete", async () => {
    const inParts = async (bytes: Buffer): Promise<Answer> => {
      const begun = { key: "parts.png", content_type: "image/png" };
      const session = (await post("/pictures/files/uploads", begun)).body;
      const asked = { session, part_number: 1, expires_in: 60 };
      const address = await post("/pictures/files/uploads/parts/url", asked);
      const answer = await fetch(address.body.url, { method: "PUT", body: new Uint8Array(bytes) });
      const parts = [{ part_number: 1, etag: answer.headers.get("etag") }];
      return post("/pictures/files/uploads/complete", { session, parts });
    };
    const { status, body } = await inParts(html);
    expect([status, body]).toMatchObject([415, refused]);
    await lost("pictures", "parts.png");
    expect((await inParts(png)).body).toMatchObject({
      key: "parts.png",
      content_type: "image/png",
    });
    expect(await keys("pictures")).toContain("parts.png");
    // One that is refused replaces nothing, and leaves nothing (attack 163).
    const served = async (): Promise<readonly [number, string | null, boolean]> => {
      const got = await fetch(`${service.url}/pictures/files/parts.png`);
      const isThere = Buffer.from(await got.arrayBuffer()).equals(png);
      return [got.status, got.headers.get("etag"), isThere];
    };
    const before = await served();
    expect(before).toMatchObject([200, expect.any(String), true]);
    expect((await inParts(html)).status).toBe(415);
    expect(await served()).toEqual(before);
    expect(await keys("pictures")).toContain("parts.png");
    const store = await place.open();
    const left: string[] = [];
    for await (const { key } of store.list("pictures/~uploads/", null)) left.push(key);
    await store.close();
    expect(left).toEqual([]);
    // One that is taken does.
    const larger = Buffer.concat([png, Buffer.alloc(100)]);
    expect((await inParts(larger)).body).toMatchObject({ key: "parts.png", size: larger.length });
    const after = await fetch(`${service.url}/pictures/files/parts.png`);
    expect(Buffer.from(await after.arrayBuffer()).equals(larger)).toBe(true);
  });

  test("an upload in parts that broke off before it was in its place is completed when it is asked again", async () => {
    const begun = { key: "broken-off.png", content_type: "image/png" };
    const session = (await post("/pictures/files/uploads", begun)).body;
    const asked = { session, part_number: 1, expires_in: 60 };
    const { url } = (await post("/pictures/files/uploads/parts/url", asked)).body;
    const sent = await fetch(url, { method: "PUT", body: new Uint8Array(png) });
    const etag = (sent.headers.get("etag") ?? "").replaceAll('"', "");
    // What the service does first; then its process dies.
    const there = await upload("pictures", "there.png", png);
    const engine = service.running.connection.of(storageResources).of(specs["pictures"]);
    let asStored = "";
    for await (const { key } of engine.list("pictures/", null))
      if (key.endsWith(`/${there.body.key}`)) asStored = key;
    const wanted = asStored.replace(there.body.key, begun.key);
    const key = stagedKey({ ...specs["pictures"], name: "pictures" }, wanted, session.expires_at);
    const made = await engine.direct?.complete(key, session.upload_id, [{ partNumber: 1, etag }]);
    expect(made?.key).toBe(key);
    await lost("pictures", begun.key);
    const parts = [{ part_number: 1, etag }];
    const { status, body } = await post("/pictures/files/uploads/complete", { session, parts });
    expect([status, body]).toMatchObject([200, { key: begun.key, size: png.length }]);
    const got = await fetch(`${service.url}/pictures/files/${begun.key}`);
    expect(Buffer.from(await got.arrayBuffer()).equals(png)).toBe(true);
    expect(await engine.head(key)).toBeNull();
    expect((await post("/pictures/files/uploads/complete", { session, parts })).status).toBe(404);
  });
});
