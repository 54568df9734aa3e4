// Files over HTTP: forms in, bytes out, conditions and ranges, keys, listing, tenants (service.md "Storage routes").
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesSpec } from "../../../generated/storage/files.js";
import { service as reference } from "../../../generated/service.js";
import {
  defineService,
  json,
  route,
  storage,
  storageInput,
  defineStorage,
  type AnyRoute,
  type Validator,
} from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const small = defineStorage({
  ...filesSpec,
  name: "small",
  maxUploadBytes: 1_000,
  accept: ["image/*"],
});
const medium = defineStorage({ ...filesSpec, name: "medium", maxUploadBytes: 100_000 });
const buffered = defineStorage({ ...filesSpec, name: "buffered" });
const any: Validator<never> = () => null;
const common = { hooks: [], transaction: "read" as const, status: 200 };
const extra = [
  route({
    ...common,
    operationId: "small.upload",
    method: "POST",
    path: "/small",
    status: 201,
    input: storageInput.upload,
    run: storage.upload(small),
  }),
  route({
    ...common,
    operationId: "small.list",
    method: "POST",
    path: "/small/list",
    input: json(any),
    run: storage.list(small),
  }),
  route({
    ...common,
    operationId: "medium.upload",
    method: "POST",
    path: "/medium",
    status: 201,
    input: storageInput.upload,
    run: storage.upload(medium),
  }),
  route({
    ...common,
    operationId: "buffered.upload",
    method: "POST",
    path: "/buffered",
    status: 201,
    input: storageInput.upload,
    run: storage.upload(buffered),
  }),
  route({
    ...common,
    operationId: "buffered.download",
    method: "GET",
    path: "/buffered/{+key}",
    input: storageInput.download,
    run: storage.downloadBuffered(buffered),
  }),
  route({
    ...common,
    operationId: "buffered.head",
    method: "HEAD",
    path: "/buffered/{+key}",
    input: storageInput.download,
    run: storage.headBuffered(buffered),
  }),
  route({
    ...common,
    operationId: "buffered.delete",
    method: "DELETE",
    path: "/buffered/{+key}",
    status: 204,
    input: storageInput.key,
    run: storage.deleteBuffered(buffered),
  }),
] as readonly AnyRoute[];
const definition = defineService({ ...reference, routes: [...reference.routes, ...extra] });

const [sqlite] = engines;

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    let objects: FreshObjects;
    beforeAll(async () => {
      objects = await engine.create();
      if (sqlite === undefined) throw new Error("there is no SQLite");
      service = await startTestService(sqlite, {
        definition,
        signsIn: false,
        environment: { OBJECTS_URL: objects.url, ...objects.environment },
      });
      people = peopleOf(service);
      member = await people.member("", "files.read", "files.write");
    });
    afterAll(async () => {
      await service.stop();
      await objects.drop();
    });

    interface Bytes {
      readonly status: number;
      readonly headers: Headers;
      readonly bytes: Buffer;
    }
    const send = async (
      method: string,
      path: string,
      options: {
        readonly headers?: Record<string, string>;
        readonly body?: string | FormData;
      } = {},
      who = member,
    ): Promise<Bytes> => {
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${who.token}`, ...options.headers },
        ...(options.body === undefined ? {} : { body: options.body }),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, bytes };
    };
    const parsed = ({ bytes }: Bytes): Answer["body"] => JSON.parse(bytes.toString("utf8"));
    const form = (
      content: string | Buffer,
      name = "a.txt",
      fields: Readonly<Record<string, string>> = {},
    ): FormData => {
      const data = new FormData();
      for (const [field, value] of Object.entries(fields)) data.set(field, value);
      data.set("file", new Blob([new Uint8Array(Buffer.from(content))]), name);
      return data;
    };
    const put = async (
      content: string | Buffer,
      name?: string,
      fields?: Readonly<Record<string, string>>,
      who = member,
    ): Promise<Answer["body"]> => {
      const made = await send("POST", "/files", { body: form(content, name, fields) }, who);
      expect([made.status, made.bytes.toString()]).toEqual([201, expect.any(String)]);
      return parsed(made);
    };

    test("a file comes back as it was sent, with what was said of it", async () => {
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
      const made = await put(content, "Müller & Söhne.pdf", { description: "A contract" });
      expect(made).toEqual({
        key: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        filename: "Müller & Söhne.pdf",
        size: 300_000,
        content_type: "application/pdf",
        etag: expect.any(String),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        description: "A contract",
      });
      const got = await send("GET", `/files/${made.key}`);
      expect(got.status).toBe(200);
      expect(got.bytes.equals(content)).toBe(true);
      expect(Object.fromEntries(got.headers)).toMatchObject({
        "content-type": "application/pdf",
        "content-length": "300000",
        etag: `"${made.etag}"`,
        "accept-ranges": "bytes",
        "content-disposition": `attachment; filename="M?ller & S?hne.pdf"; filename*=UTF-8''M%C3%BCller%20%26%20S%C3%B6hne.pdf`,
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox",
        "cache-control": "private, no-cache",
      });
      const head = await send("HEAD", `/files/${made.key}`);
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      for (const name of [
        "etag",
        "last-modified",
        "content-length",
        "content-type",
        "accept-ranges",
      ])
        expect(head.headers.get(name)).toBe(got.headers.get(name));
      expect(Date.parse(got.headers.get("last-modified") ?? "") / 1000).toBe(
        Math.floor(Date.parse(made.created_at) / 1000),
      );
    });

    test("deleting is once, and then there is nothing", async () => {
      const { key } = await put("x");
      expect((await send("DELETE", `/files/${key}`)).status).toBe(204);
      for (const method of ["DELETE", "GET", "HEAD"])
        expect((await send(method, `/files/${key}`)).status).toBe(404);
    });

    test("an empty file is one", async () => {
      const { key, size } = await put("");
      expect(size).toBe(0);
      const got = await send("GET", `/files/${key}`);
      expect([got.status, got.bytes.length]).toEqual([200, 0]);
      const ranged = await send("GET", `/files/${key}`, { headers: { range: "bytes=0-" } });
      expect([ranged.status, ranged.headers.get("content-range")]).toEqual([416, "bytes */0"]);
    });

    describe("ranges", () => {
      const content = "abcdefghijklmnopqrstuvwxyz";
      let key = "";
      beforeAll(async () => {
        ({ key } = await put(content));
      });
      test.each([
        ["bytes=0-0", 206, "a", "bytes 0-0/26"],
        ["bytes=0-1", 206, "ab", "bytes 0-1/26"],
        ["bytes=24-", 206, "yz", "bytes 24-25/26"],
        ["bytes=-3", 206, "xyz", "bytes 23-25/26"],
        ["bytes=-100", 206, content, "bytes 0-25/26"],
        ["bytes=20-999999", 206, "uvwxyz", "bytes 20-25/26"],
        ["Bytes=1-2", 206, "bc", "bytes 1-2/26"],
        ["bytes= 1-2 ", 206, "bc", "bytes 1-2/26"],
        ["bytes=26-", 416, null, "bytes */26"],
        ["bytes=26-30", 416, null, "bytes */26"],
        ["bytes=-0", 416, null, "bytes */26"],
        ["bytes=5-2", 200, content, null],
        ["bytes=0-1,3-4", 200, content, null],
        ["items=0-1", 200, content, null],
        ["bytes=a-b", 200, content, null],
        ["bytes=-", 200, content, null],
        ["bytes", 200, content, null],
        ["bytes=0-99999999999999999999", 206, content, "bytes 0-25/26"],
        ["bytes=99999999999999999-", 416, null, "bytes */26"],
      ])("%s", async (range, status, expected, contentRange) => {
        const got = await send("GET", `/files/${key}`, { headers: { range } });
        expect([got.status, got.headers.get("content-range")]).toEqual([status, contentRange]);
        if (expected !== null) {
          expect(got.bytes.toString()).toBe(expected);
          expect(got.headers.get("content-length")).toBe(String(expected.length));
        }
        const head = await send("HEAD", `/files/${key}`, { headers: { range } });
        expect([head.status, head.headers.get("content-length")]).toEqual([200, "26"]);
      });
    });

    test("a window wider than the cap is cut to it", async () => {
      const size = filesSpec.maxRangeBytes + 10;
      const { key } = await put(Buffer.alloc(size, "x"));
      const got = await send("GET", `/files/${key}`, { headers: { range: "bytes=5-" } });
      const last = 5 + filesSpec.maxRangeBytes - 1;
      expect(got.headers.get("content-range")).toBe(`bytes 5-${last}/${size}`);
      expect(got.bytes.length).toBe(filesSpec.maxRangeBytes);
      expect((await send("GET", `/files/${key}`)).bytes.length).toBe(size);
    });

    test("conditions: 304 with validators echoed, 412, and If-Range", async () => {
      const { key, etag } = await put("content");
      const at = `/files/${key}`;
      const modified = (await send("HEAD", at)).headers.get("last-modified") ?? "";
      const unchanged = await send("GET", at, { headers: { "if-none-match": `W/"${etag}"` } });
      expect(unchanged.status).toBe(304);
      expect(unchanged.headers.get("etag")).toBe(`"${etag}"`);
      expect(unchanged.headers.get("last-modified")).toBe(modified);
      const status = async (headers: Record<string, string>, method = "GET"): Promise<number> =>
        (await send(method, at, { headers })).status;
      expect(await status({ "if-modified-since": modified })).toBe(304);
      expect(await status({ "if-modified-since": modified }, "HEAD")).toBe(304);
      expect(await status({ "if-modified-since": modified, "if-none-match": '"x"' })).toBe(200);
      expect(await status({ "if-match": `W/"${etag}"` })).toBe(200);
      expect(await status({ "if-match": `W/"x"` })).toBe(412);
      expect(await status({ "if-match": `"x", "${etag}"` })).toBe(200);
      expect(await status({ "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" })).toBe(412);
      expect(await status({ "if-unmodified-since": "yesterday" })).toBe(200);
      expect(await status({ range: "bytes=0-1", "if-range": `"${etag}"` })).toBe(206);
      expect(await status({ range: "bytes=0-1", "if-range": '"old"' })).toBe(200);
      expect(await status({ range: "bytes=0-1", "if-range": `W/"${etag}"` })).toBe(200);
    });

    test("keys are any UTF-8, byte by byte as they were", async () => {
      for (const prefix of [
        "a b+c",
        "\u00e9",
        "e\u0301",
        "日本/語 😀",
        "‮rtl",
        "%2e%2e",
        "UPPER/lower",
        "a.b.",
        "~'()*!",
      ]) {
        const made = await put(prefix, "x.txt", { prefix });
        expect(made.key.startsWith(`${prefix}/`)).toBe(true);
        const path = made.key.split("/").map(encodeURIComponent).join("/");
        expect((await send("GET", `/files/${path}`)).bytes.toString()).toBe(prefix);
        expect((await send("GET", `/files/${encodeURIComponent(made.key)}`)).status).toBe(200);
      }
    });

    /** The path as it stands: fetch would resolve dots. */
    const raw = (path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(service.url);
        const headers = { authorization: `Bearer ${member.token}` };
        request({ hostname, port, path, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        })
          .on("error", reject)
          .end();
      });

    test.each([
      ["/files/..", 422],
      ["/files/%2e%2e%2fetc%2fpasswd", 422],
      ["/files/..%5cx", 422],
      ["/files/%252e%252e", 404],
      ["/files/C:%5Cx", 422],
      ["/files/%5C%5Csrv%5Cx", 422],
      ["/files//etc/passwd", 422],
      ["/files/a/./b", 422],
      ["/files/a//b", 422],
      ["/files/a/", 422],
      ["/files/", 422],
      ["/files/a%00", 422],
      ["/files/a%0d%0ab", 422],
      ["/files/%c0%ae", 400],
      ["/files/%zz", 400],
      [`/files/${"a".repeat(1025)}`, 422],
      [`/files/${"a".repeat(1024)}`, 404],
    ])("the key %s is %d", async (path, status) => {
      expect(await raw(path)).toBe(status);
    });

    test("objects are listed in the order of their keys, by page and by cursor", async () => {
      const other = await people.member("", "files.read", "files.write");
      const keys: string[] = [];
      for (const prefix of ["b", "a/x", "a-", "a", "B", "ä", "%_"])
        keys.push((await put(prefix, "x.txt", { prefix }, other)).key);
      keys.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
      const list = async (body: object): Promise<Answer["body"]> =>
        (await people.as(other.token, "POST", "/files/list", body)).body;
      const keysOf = ({ hits }: Answer["body"]): readonly string[] =>
        hits.map(({ key }: { readonly key: string }) => key);
      expect(keysOf(await list({}))).toEqual(keys);
      expect(await list({ size: 3, page: 2 })).toMatchObject({ page: 2, size: 3, count: 7 });
      expect(keysOf(await list({ size: 3, page: 2 }))).toEqual(keys.slice(3, 6));
      const walked: string[] = [];
      for (let after: string | null | undefined; after !== null;) {
        const page = await list({ size: 2, ...(after && { after }) });
        walked.push(...keysOf(page));
        after = page.next_cursor;
      }
      expect(walked).toEqual(keys);
      expect((await list({ prefix: "a" })).count).toBe(3);
      expect((await list({ prefix: "a/" })).count).toBe(2);
      expect((await list({ prefix: "%" })).count).toBe(1);
      expect((await list({ prefix: "%_%" })).count).toBe(0);
      const { next_cursor } = await list({ size: 2 });
      expect((await list({ size: 2, prefix: "a", after: next_cursor })).code).toBe(
        "invalid_cursor",
      );
      expect((await list({ after: "x.y" })).code).toBe("invalid_cursor");
    });

    test("a tenant sees its own objects alone", async () => {
      const { key } = await put("mine");
      const stranger = await people.member("", "files.read", "files.write");
      for (const method of ["GET", "HEAD", "DELETE"])
        expect((await send(method, `/files/${key}`, {}, stranger)).status).toBe(404);
      expect((await people.as(stranger.token, "POST", "/files/list", {})).body.hits).toEqual([]);
      expect((await send("GET", `/files/${key}`)).status).toBe(200);
    });

    test("permission comes before bytes", async () => {
      const reader = await people.member("", "files.read");
      expect((await send("POST", "/files", { body: form("x") }, reader)).status).toBe(403);
      const response = await fetch(`${service.url}/files`, { method: "POST", body: form("x") });
      expect(response.status).toBe(401);
    });

    test.each([
      ["a prefix that leads out", { prefix: "../other" }, "core.validation", 422],
      ["a description of 10 kB", { description: "x".repeat(10_000) }, "core.validation", 422],
      ["an unknown field", { name: "x" }, "upload_malformed", 422],
      ["three fields", { prefix: "a", description: "b", more: "c" }, "upload_malformed", 422],
    ])("a form with %s is refused, and leaves nothing", async (_what, fields, code, status) => {
      const who = await people.member("", "files.read", "files.write");
      const answer = await send("POST", "/files", { body: form("x", "x.txt", fields) }, who);
      expect([answer.status, parsed(answer).code]).toEqual([status, code]);
      expect((await people.as(who.token, "POST", "/files/list", {})).body.count).toBe(0);
    });

    test("text fields count before and behind the file, and on both sides of it", async () => {
      const who = await people.member("", "files.read", "files.write");
      const content = Buffer.alloc(300_000, "0123456789");
      const fields = { prefix: "späte/Felder", description: "was es ist" };
      for (const before of [[], ["prefix"], ["description"], ["prefix", "description"]] as const) {
        const body = new FormData();
        const entries = Object.entries(fields);
        for (const [name, value] of entries)
          if ((before as readonly string[]).includes(name)) body.append(name, value);
        body.append("file", new Blob([content], { type: "text/plain" }), "x.txt");
        for (const [name, value] of entries)
          if (!(before as readonly string[]).includes(name)) body.append(name, value);
        const answer = await send("POST", "/files", { body }, who);
        const made = parsed(answer);
        expect([answer.status, made.description, made.size, made.filename]).toEqual([
          201,
          fields.description,
          content.length,
          "x.txt",
        ]);
        expect(made.key.startsWith(`${fields.prefix}/`)).toBe(true);
        const path = made.key.split("/").map(encodeURIComponent).join("/");
        const got = await send("GET", `/files/${path}`, {}, who);
        expect(got.bytes.equals(content)).toBe(true);
        expect(got.headers.get("etag")).toBe(`"${made.etag}"`);
      }
      expect((await people.as(who.token, "POST", "/files/list", {})).body.count).toBe(4);
    });

    test.each([
      ["a prefix that no key can have", "prefix", "../up", "/prefix"],
      ["a long description", "description", "x".repeat(1_001), "/description"],
      ["U+0000", "description", "a\0b", "/description"],
    ])("%s behind the file is refused, and leaves nothing", async (_what, name, value, pointer) => {
      const who = await people.member("", "files.read", "files.write");
      const body = form("x");
      body.append(name, value);
      const answer = await send("POST", "/files", { body }, who);
      expect([answer.status, parsed(answer).code]).toEqual([422, "core.validation"]);
      expect(parsed(answer).context.errors[0].path).toBe(pointer);
      expect((await people.as(who.token, "POST", "/files/list", {})).body.count).toBe(0);
      expect(await objects.leftovers()).toBe(0);
    });

    test("two files, an unknown field behind the file, and none are refused, and leave nothing", async () => {
      const who = await people.member("", "files.read", "files.write");
      const two = form("x");
      two.append("file", new Blob(["y"]), "y.txt");
      const late = form("x");
      late.append("later", "late");
      const none = new FormData();
      none.set("prefix", "a");
      const other = new FormData();
      other.set("upload", new Blob(["x"]), "x.txt");
      for (const body of [two, late, none, other]) {
        const answer = await send("POST", "/files", { body }, who);
        expect([answer.status, parsed(answer).code]).toEqual([422, "upload_malformed"]);
      }
      expect((await people.as(who.token, "POST", "/files/list", {})).body.count).toBe(0);
      const text = await send("POST", "/files", {
        body: "{}",
        headers: { "content-type": "application/json" },
      });
      expect([text.status, parsed(text).code]).toEqual([415, "media_type_unsupported"]);
    });

    test.each([
      ["no boundary", "multipart/form-data", "x", 422],
      [
        "a form without an end",
        "multipart/form-data; boundary=b",
        '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nhalf',
        422,
      ],
    ])("%s is refused", async (_what, type, body, status) => {
      const answer = await send("POST", "/files", { body, headers: { "content-type": type } });
      expect([answer.status, parsed(answer).code]).toEqual([
        type.includes(";") ? status : 415,
        type.includes(";") ? "upload_malformed" : "media_type_unsupported",
      ]);
    });

    test.each([
      ['a"b\\c.txt', "c.txt"],
      ["../../etc/passwd", "passwd"],
      ["evil\r\nx: y.html", "evilx: y.html"],
      ["x".repeat(300), "x".repeat(200)],
      ["😀;.svg", "😀;.svg"],
    ])("the file name %j is kept as %j", async (name, kept) => {
      const made = await put("<svg onload=alert(1)>", name);
      expect(made.filename).toBe(kept);
      const got = await send("GET", `/files/${made.key}`);
      expect(got.status).toBe(200);
      expect(got.headers.get("content-disposition")).toMatch(/^attachment; filename/);
      expect(got.headers.get("x")).toBeNull();
    });

    test("the type of a file follows from its bytes, then from its name", async () => {
      const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
      expect((await put(png, "x.html")).content_type).toBe("image/png");
      expect((await put("<h1>", "x.html")).content_type).toBe("text/html");
      expect((await put("x", "x")).content_type).toBe("application/octet-stream");
    });

    test("limits: at the byte that crosses, by Content-Length before, and by type", async () => {
      const upload = async (content: Buffer, name: string): Promise<Bytes> =>
        send("POST", "/small", { body: form(content, name) });
      const png = (size: number): Buffer =>
        Buffer.concat([
          Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
          Buffer.alloc(size - 16),
        ]);
      expect((await upload(png(1_000), "x.png")).status).toBe(201);
      const crossed = await upload(png(1_001), "x.png");
      expect([crossed.status, parsed(crossed).code]).toEqual([413, "upload_too_large"]);
      expect(parsed(crossed).context).toEqual({ max_bytes: 1_000 });
      const typed = await upload(Buffer.from("text"), "x.txt");
      expect([typed.status, parsed(typed).code]).toEqual([415, "upload_type_unsupported"]);
      const listed = await people.as(member.token, "POST", "/small/list", {});
      expect(listed.body.count).toBe(1);
      // A form that says it is far too large is answered before any of it has come.
      const { hostname, port } = new URL(service.url);
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(
            "POST /small HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000\r\n\r\n",
          );
        });
        socket.on("data", (data) => {
          resolve(data.toString());
          socket.destroy();
        });
        socket.on("error", reject);
      });
      expect(answer).toMatch(/^HTTP\/1.1 413 /);
    });

    test("a file that is too large behind its first bytes is told so, however it comes", async () => {
      for (const size of [100_001, 200_000, 5_000_000]) {
        const answer = await send("POST", "/medium", { body: form(Buffer.alloc(size)) });
        expect([answer.status, parsed(answer).code]).toEqual([413, "upload_too_large"]);
      }
      expect((await send("POST", "/medium", { body: form(Buffer.alloc(100_000)) })).status).toBe(
        201,
      );
      expect(await objects.leftovers()).toBe(0);
    });

    test("fields that are lists or trees to other parsers are refused", async () => {
      for (const name of ["description", "description[]", "description[a]", "prefix[0]"]) {
        const body = new FormData();
        body.append("description", "one");
        body.append(name, "two");
        body.append("file", new Blob(["x"]), "x.txt");
        const answer = await send("POST", "/files", { body });
        expect([answer.status, parsed(answer).code]).toEqual([422, "upload_malformed"]);
      }
    });

    test("a prefix that no key can have is refused, and one that no file name can have lists nothing", async () => {
      const list = async (prefix: string): Promise<Answer> =>
        people.as(member.token, "POST", "/files/list", { prefix });
      const long = await list("x".repeat(1_025));
      expect([long.status, long.body.context.errors[0].path]).toEqual([422, "/prefix"]);
      const nothing = await list(`${"x".repeat(900)}/x`);
      expect([nothing.status, nothing.body.count]).toEqual([200, 0]);
    });

    test("a client that sends more than asked gets the answer before the connection ends", async () => {
      const { hostname, port } = new URL(service.url);
      const heard = await new Promise<string>((resolve, reject) => {
        let text = "";
        const socket = connect(Number(port), hostname, () => {
          socket.write(
            "POST /files HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000000\r\n\r\n",
          );
          socket.write(Buffer.alloc(2_000_000));
        });
        socket.on("data", (data) => (text += data.toString()));
        socket.on("close", () => resolve(text));
        socket.on("error", reject);
      });
      expect(heard).toMatch(/^HTTP\/1.1 401 /);
      expect(heard).toMatch(/\r\nConnection: close\r\n/);
      expect(heard).toContain('"code":"core.authentication');
    });

    // It waits for half a minute, before any engine is asked: one engine is enough.
    test.each([engine].filter(({ name }) => name === "folder"))(
      "$name: an upload that stalls is given up, and said to be",
      async () => {
        const { hostname, port } = new URL(service.url);
        const heard = await new Promise<string>((resolve, reject) => {
          const socket = connect(Number(port), hostname, () => {
            socket.write(
              `POST /files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${member.token}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000\r\n\r\n` +
                `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${"x".repeat(100_000)}`,
            );
          });
          socket.on("data", (data) => resolve(data.toString()));
          socket.on("error", reject);
          socket.on("close", () => reject(new Error("the connection ended without an answer")));
        });
        expect(heard).toMatch(/^HTTP\/1.1 408 /);
        expect(heard).toContain('"request_timeout"');
        expect(await objects.leftovers()).toBe(0);
      },
      60_000,
    );

    test("a download in memory has the tag of its bytes, and slices", async () => {
      const made = await send("POST", "/buffered", { body: form("0123456789") });
      const { key, etag } = parsed(made);
      const at = `/buffered/${key}`;
      const whole = await send("GET", at);
      expect(whole.bytes.toString()).toBe("0123456789");
      expect(whole.headers.get("etag")).not.toBe(`"${etag}"`);
      const tag = whole.headers.get("etag") ?? "";
      expect((await send("HEAD", at)).headers.get("etag")).toBe(tag);
      expect((await send("GET", at, { headers: { "if-none-match": tag } })).status).toBe(304);
      const part = await send("GET", at, { headers: { range: "bytes=2-4" } });
      expect([part.status, part.bytes.toString()]).toEqual([206, "234"]);
      const stale = await send("DELETE", at, { headers: { "if-match": `"${etag}"` } });
      expect(stale.status).toBe(412);
      expect((await send("DELETE", at, { headers: { "if-match": tag } })).status).toBe(204);
    });

    test("an upload that breaks off leaves nothing", async () => {
      const who = await people.member("", "files.read", "files.write");
      const { hostname, port } = new URL(service.url);
      for (let round = 0; round < 5; round += 1) {
        await new Promise<void>((resolve, reject) => {
          const socket = connect(Number(port), hostname, () => {
            socket.write(
              `POST /files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${who.token}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000\r\n\r\n` +
                `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${"x".repeat(100_000)}`,
              () => setTimeout(() => socket.destroy(), 50),
            );
          });
          socket.on("close", () => resolve());
          socket.on("error", reject);
        });
      }
      await expect.poll(() => objects.leftovers()).toBe(0);
      expect((await people.as(who.token, "POST", "/files/list", {})).body.count).toBe(0);
    });
  });
}
