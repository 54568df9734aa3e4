// Signed requests and uploads in parts, over HTTP and with nothing but fetch (service.md "Direct and resumable uploads").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { filesSpec } from "../../../generated/storage/files.js";
import {
  defineService,
  direct,
  json,
  route,
  defineStorage,
  type AnyRoute,
  type Handler,
} from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const notes = defineStorage({
  ...filesSpec,
  name: "notes",
  maxUploadBytes: 1_000,
  accept: ["text/*"],
});
/** The same operations on a storage that is told what it takes. */
const limited = <Input>(path: string, run: Handler<Input, unknown>): AnyRoute =>
  route<Input, unknown>({
    operationId: `notes.${path.replaceAll("/", "_")}`,
    method: "POST",
    path: `/notes/${path}`,
    status: path.endsWith("abort") ? 204 : 200,
    input: json(() => null),
    hooks: [],
    transaction: "read",
    run,
  });
const definition = defineService({
  ...reference,
  storage: [...(reference.storage ?? []), notes],
  routes: [
    ...reference.routes,
    limited("presign/upload", direct.presignUpload(notes)),
    limited("presign/post", direct.presignPost(notes)),
    limited("uploads", direct.beginUpload(notes)),
    limited("uploads/parts/url", direct.presignPart(notes)),
    limited("uploads/parts", direct.listParts(notes)),
    limited("uploads/complete", direct.completeUpload(notes)),
    limited("uploads/abort", direct.abortUpload(notes)),
  ],
});
/** The least that S3 takes as a part that is not the last. */
const partBytes = 5 * 1024 * 1024;

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    let objects: FreshObjects;
    const logged: string[] = [];
    const note = (...entries: readonly unknown[]): void =>
      void logged.push(JSON.stringify(entries));
    beforeAll(async () => {
      objects = await engine.create();
      if (sqlite === undefined) throw new Error("there is no SQLite");
      service = await startTestService(sqlite, {
        definition,
        signsIn: false,
        environment: { OBJECTS_URL: objects.url, ...objects.environment },
        log: { debug: note, info: note, warn: note, error: note },
      });
      people = peopleOf(service);
      member = await people.member("", "files.read", "files.write");
    });
    afterAll(async () => {
      await service.stop();
      await objects.drop();
    });

    const post = (path: string, body: object, who = member): Promise<Answer> =>
      people.as(who.token, "POST", `/files/${path}`, body);
    const sent = async (signed: Answer["body"], body?: Buffer): Promise<Response> =>
      fetch(signed.url, {
        method: signed.method,
        headers: signed.headers,
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      });
    const begun = async (key: string, type?: string): Promise<Answer["body"]> => {
      const { status, body } = await post("uploads", { key, ...(type && { content_type: type }) });
      expect(status).toBe(201);
      return body;
    };
    const putPart = async (
      session: object,
      part_number: number,
      content: Buffer,
    ): Promise<{ readonly part_number: number; readonly etag: string }> => {
      const asked = { session, part_number, expires_in: 60 };
      const { status, body } = await post("uploads/parts/url", asked);
      expect([status, body.method]).toEqual([200, "PUT"]);
      const answer = await sent(body, content);
      expect(answer.status).toBe(200);
      return { part_number, etag: answer.headers.get("etag") ?? "" };
    };

    test("an address takes an object in, and another one gives it out", async () => {
      const asked = { key: "a b/ü.txt", expires_in: "PT1M", content_type: "text/plain" };
      const { status, body: put } = await post("presign/upload", asked);
      expect(status).toBe(200);
      expect(put).toEqual({
        url: expect.stringMatching(/^http/),
        method: "PUT",
        headers: { "content-type": "text/plain" },
        expires_at: expect.stringMatching(/Z$/),
      });
      const remaining = (Date.parse(put.expires_at) - Date.now()) / 1000;
      expect(remaining).toBeGreaterThan(50);
      expect(remaining).toBeLessThanOrEqual(60);
      expect((await sent(put, Buffer.from("content"))).status).toBe(200);
      const { body: got } = await post("presign/download", { key: asked.key, expires_in: 60 });
      const answer = await fetch(got.url);
      expect([answer.status, await answer.text()]).toEqual([200, "content"]);
      expect(answer.headers.get("content-type")).toBe("text/plain");
      expect(answer.headers.get("content-disposition")).toContain("attachment");
      const part = await fetch(got.url, { headers: { range: "bytes=2-3" } });
      expect([part.status, await part.text()]).toEqual([206, "nt"]);
      const own = await people.as(member.token, "GET", "/files/a%20b/%C3%BC.txt");
      expect([own.status, own.body]).toEqual([200, "content"]);
      for (const { url } of [put, got]) {
        const [, secret = ""] = /(?:Signature=|_objects\/[^.]+\.)([^&]+)/.exec(url) ?? [];
        expect(secret).not.toBe("");
        expect(logged.join("\n")).not.toContain(secret);
      }
    });

    const removing = (key: string, tag: string): Promise<Answer> =>
      service.call("DELETE", `/files/${key}`, {
        headers: { authorization: `Bearer ${member.token}`, "if-match": tag },
      });
    const put = async (key: string, text: string): Promise<string> => {
      const { body } = await post("presign/upload", { key, expires_in: 60 });
      expect((await sent(body, Buffer.from(text))).status).toBe(200);
      const head = await people.as(member.token, "HEAD", `/files/${key}`);
      return head.headers.get("etag") ?? "";
    };

    test("a tag removes the version that it names, and no newer one", async () => {
      const old = await put("versions", "old");
      const current = await put("versions", "new");
      const refused = await removing("versions", old);
      expect([refused.status, refused.body.code]).toEqual([412, "precondition_failed"]);
      expect((await people.as(member.token, "GET", "/files/versions")).body).toBe("new");
      expect((await removing("versions", `"other", W/${current}`)).status).toBe(204);
      expect((await removing("versions", current)).status).toBe(404);
    });

    // The gateway of the tests is of a version that ignores conditions of removals (docs/storage.md).
    if (engine.name === "folder")
      test("an object that is written while its older version is removed stays", async () => {
        for (let round = 0; round < 40; round += 1) {
          const key = `raced-${round}`;
          const old = await put(key, "old");
          const { body: signed } = await post("presign/upload", { key, expires_in: 60 });
          const [removed, sentAnswer] = await Promise.all([
            removing(key, old),
            sent(signed, Buffer.from("new")),
          ]);
          expect([204, 412]).toContain(removed.status);
          expect(sentAnswer.status).toBe(200);
          expect((await people.as(member.token, "GET", `/files/${key}`)).body).toBe("new");
        }
      });

    test("a client that leaves in the middle of a download is not logged as a failure", async () => {
      const { body: put } = await post("presign/upload", { key: "left", expires_in: 60 });
      expect((await sent(put, Buffer.alloc(20_000_000))).status).toBe(200);
      const gone = new AbortController();
      const answer = await fetch(`${service.url}/files/left`, {
        headers: { authorization: `Bearer ${member.token}` },
        signal: gone.signal,
      });
      await answer.body?.getReader().read();
      gone.abort();
      // The next answer comes after the service has seen the end of the last.
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect((await people.as(member.token, "HEAD", "/files/left")).status).toBe(200);
      expect(logged.join("\n")).not.toContain("an operation failed");
    });

    test("an address that was changed, used with another method, or that has expired is refused", async () => {
      const { body: put } = await post("presign/upload", { key: "x", expires_in: 60 });
      const at = new URL(put.url);
      const changed =
        engine.name === "s3"
          ? put.url.replace("/x?", "/y?")
          : put.url.replace(
              /_objects\/(.)/,
              (_all: string, first: string) => `_objects/${first === "e" ? "f" : "e"}`,
            );
      expect(changed).not.toBe(put.url);
      for (const [url, method] of [
        [changed, "PUT"],
        [put.url, "GET"],
        [put.url, "DELETE"],
        [`${at.origin}${at.pathname}`.slice(0, -3), "PUT"],
      ] as const) {
        const body = method === "PUT" ? { body: "x" } : {};
        const answer = await fetch(url, { method, ...body });
        expect([403, 404, 405]).toContain(answer.status);
        await answer.arrayBuffer();
      }
      const { body: brief } = await post("presign/upload", { key: "x", expires_in: 1 });
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      expect((await sent(brief, Buffer.from("late"))).status).toBe(403);
      expect((await people.as(member.token, "GET", "/files/x")).status).toBe(404);
    });

    test("the content type that was asked for is part of the address", async () => {
      const asked = { key: "typed", expires_in: 60, content_type: "image/png" };
      const { body: put } = await post("presign/upload", asked);
      const other = await fetch(put.url, {
        method: "PUT",
        headers: { "content-type": "text/html" },
        body: "<script>",
      });
      expect(other.status).toBe(403);
    });

    test("a form takes a file up to its size, and no larger one", async () => {
      const asked = {
        key: "formed.txt",
        expires_in: 60,
        max_bytes: 1_000,
        content_type: "text/plain",
      };
      const { status, body: signed } = await post("presign/post", asked);
      expect([status, signed.method]).toEqual([200, "POST"]);
      const send = async (size: number): Promise<Response> => {
        const form = new FormData();
        for (const [name, value] of Object.entries(signed.fields as Record<string, string>))
          form.set(name, value);
        form.set("file", new Blob(["x".repeat(size)], { type: "text/plain" }), "x.txt");
        const answer = await fetch(signed.url, { method: "POST", body: form });
        await answer.arrayBuffer();
        return answer;
      };
      expect((await send(1_001)).ok).toBe(false);
      expect((await people.as(member.token, "GET", "/files/formed.txt")).status).toBe(404);
      expect((await send(1_000)).ok).toBe(true);
      const got = await people.as(member.token, "GET", "/files/formed.txt");
      expect([got.status, got.body.length]).toEqual([200, 1_000]);
      expect(got.headers.get("content-type")).toBe("text/plain");
      expect((await post("presign/post", { ...asked, max_bytes: 0 })).status).toBe(422);
    });

    test("an upload refused on arrival or completion replaces nothing (attack 176)", async () => {
      const key = "replaced.txt";
      const type = { content_type: "text/plain" };
      const { body: first } = await post("presign/upload", { key, expires_in: 60, ...type });
      expect((await sent(first, Buffer.from("before"))).status).toBe(200);
      const there = async (): Promise<readonly unknown[]> => {
        const got = await people.as(member.token, "GET", `/files/${key}`);
        return [got.body, got.headers.get("etag")];
      };
      const before = await there();
      expect(before[0]).toBe("before");
      const headers = { "content-type": "text/html" };
      const other = await fetch(first.url, { method: "PUT", headers, body: "<script>" });
      const asked = { key, expires_in: 60, max_bytes: 10, ...type };
      const { body: form } = await post("presign/post", asked);
      const data = new FormData();
      for (const [name, value] of Object.entries(form.fields as Record<string, string>))
        data.set(name, value);
      data.set("file", new Blob(["x".repeat(11)], { type: "text/plain" }), "x.txt");
      const large = await fetch(form.url, { method: "POST", body: data });
      const session = await begun(key);
      const parts = [await putPart(session, 1, Buffer.from("parts"))];
      const wrong = parts.map((part) => ({ ...part, etag: "0".repeat(32) }));
      const { status } = await post("uploads/complete", { session, parts: wrong });
      expect([other.ok, large.ok, status]).toEqual([false, false, 422]);
      expect(await there()).toEqual(before);
      expect((await post("uploads/abort", { session })).status).toBe(204);
    });

    // How servers of S3 end a form that breaks off, and a race, is theirs: Ceph takes what came, and answers 500.
    const ofFolder = test.each([engine].filter(({ name }) => name === "folder"));
    ofFolder("$name: a form that breaks off leaves what was there", async () => {
      const { body: put } = await post("presign/upload", { key: "kept.txt", expires_in: 60 });
      expect((await sent(put, Buffer.from("before"))).status).toBe(200);
      const { body: signed } = await post("presign/post", { key: "kept.txt", expires_in: 60 });
      const fields = Object.entries(signed.fields as Record<string, string>).map(
        ([name, value]) =>
          `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const half = `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n`;
      const answer = await fetch(signed.url, {
        method: "POST",
        headers: { "content-type": "multipart/form-data; boundary=b" },
        body: [...fields, half, "x".repeat(100_000)].join(""),
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      await answer.arrayBuffer();
      expect((await people.as(member.token, "GET", "/files/kept.txt")).body).toBe("before");
      expect(await objects.leftovers()).toBe(0);
    });

    test("an address holds to the limits of its storage", async () => {
      const ask = async (path: string, body: object): Promise<Answer> =>
        people.as(member.token, "POST", `/notes/${path}`, body);
      for (const [path, body] of [
        ["presign/upload", { key: "x", expires_in: 60, content_type: "image/png" }],
        ["presign/upload", { key: "x", expires_in: 60 }],
        ["presign/post", { key: "x", expires_in: 60, content_type: "image/png" }],
        ["uploads", { key: "x", content_type: "image/png" }],
      ] as const) {
        const { status, body: refused } = await ask(path, body);
        expect([status, refused.code]).toEqual([415, "upload_type_unsupported"]);
      }
      const type = { content_type: "text/plain" };
      const put = await ask("presign/upload", { key: "x", expires_in: 60, ...type });
      // A presigned PUT of S3 cannot hold to a size (direct-transfers.ts); forms and completed uploads can.
      const tooLarge = engine.name === "s3" ? 200 : 413;
      expect((await sent(put.body, Buffer.alloc(1_001, "x"))).status).toBe(tooLarge);
      expect((await sent(put.body, Buffer.alloc(1_000, "x"))).status).toBe(200);
      const session = (await ask("uploads", { key: "y", ...type })).body;
      const part = async (part_number: number, size: number): Promise<Response> => {
        const asked = await ask("uploads/parts/url", { session, part_number, expires_in: 60 });
        return sent(asked.body, Buffer.alloc(size, "x"));
      };
      expect((await part(1, 1_001)).status).toBe(tooLarge);
      if (engine.name === "folder") {
        expect((await ask("uploads/abort", { session })).status).toBe(204);
        return;
      }
      // All parts of S3 but the last have 5 MiB, so that there can be one.
      const second = await ask("uploads/parts/url", { session, part_number: 2, expires_in: 60 });
      expect([second.status, second.body.context.errors[0].path]).toEqual([422, "/part_number"]);
      const etag = (await part(1, 1_001)).headers.get("etag");
      const parts = [{ part_number: 1, etag }];
      const whole = await ask("uploads/complete", { session, parts });
      expect([whole.status, whole.body.code]).toEqual([413, "upload_too_large"]);
      // What can become no object takes no room any more.
      expect((await ask("uploads/complete", { session, parts })).status).toBe(404);
    });

    ofFolder(
      "$name: parts beyond the limit are refused as they come, and nothing is kept",
      async () => {
        const ask = async (path: string, body: object): Promise<Answer> =>
          people.as(member.token, "POST", `/notes/${path}`, body);
        const begin = async (): Promise<Answer["body"]> =>
          (await ask("uploads", { key: "bounded", content_type: "text/plain" })).body;
        const signedPart = async (session: object, part_number: number): Promise<Answer> =>
          ask("uploads/parts/url", { session, part_number, expires_in: 60 });
        const put = async (session: object, part_number: number, size: number): Promise<number> => {
          const answer = await sent(
            (await signedPart(session, part_number)).body,
            Buffer.alloc(size, "x"),
          );
          await answer.arrayBuffer();
          return answer.status;
        };
        const sizesOf = async (session: object): Promise<readonly number[]> =>
          (await ask("uploads/parts", { session })).body.parts.map(
            ({ size }: { size: number }) => size,
          );

        const one = await begin();
        expect(await put(one, 1, 600)).toBe(200);
        expect(await put(one, 2, 401)).toBe(413);
        expect(await sizesOf(one)).toEqual([600]);
        expect(await put(one, 2, 400)).toBe(200);
        // A part that takes the place of another one counts once; one that is too large for it leaves the other.
        expect(await put(one, 1, 600)).toBe(200);
        expect(await put(one, 1, 601)).toBe(413);
        expect(await sizesOf(one)).toEqual([600, 400]);
        const full = await signedPart(one, 3);
        expect([full.status, full.body.code]).toEqual([413, "upload_too_large"]);
        expect((await signedPart(one, 2)).status).toBe(200);

        const many = await begin();
        const statuses = await Promise.all(
          Array.from({ length: 10 }, (_none, index) => put(many, index + 1, 300)),
        );
        expect(new Set(statuses)).toEqual(new Set([200, 413]));
        const kept = await sizesOf(many);
        expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1_000);
        for (const session of [one, many])
          expect((await ask("uploads/abort", { session })).status).toBe(204);
        expect(await objects.leftovers()).toBe(0);
      },
    );

    test("a part that several send at once is one of theirs, and what was told of it", async () => {
      const session = await begun("at-once");
      const sentAtOnce = await Promise.all(
        Array.from({ length: 8 }, (_none, index) =>
          putPart(session, 1, Buffer.from(`part ${index}`)),
        ),
      );
      const { body } = await post("uploads/parts", { session });
      expect(body.parts).toHaveLength(1);
      const [kept] = body.parts;
      const winner = sentAtOnce.findIndex(({ etag }) => etag.replaceAll('"', "") === kept.etag);
      expect(winner).toBeGreaterThanOrEqual(0);
      expect((await post("uploads/complete", { session, parts: [kept] })).status).toBe(200);
      expect((await people.as(member.token, "GET", "/files/at-once")).body).toBe(`part ${winner}`);
    });

    ofFolder("$name: of completing and giving up at once, one happens", async () => {
      for (let round = 0; round < 5; round += 1) {
        const session = await begun(`either-${round}`);
        const part = await putPart(session, 1, Buffer.from("x"));
        const [completed] = await Promise.all([
          post("uploads/complete", { session, parts: [part] }),
          post("uploads/abort", { session }),
        ]);
        const { status } = await people.as(member.token, "GET", `/files/either-${round}`);
        expect([200, 404]).toContain(completed.status);
        expect(status).toBe(completed.status);
        expect(await objects.leftovers()).toBe(0);
      }
    });

    test.each([0, -1, 604_801, 1e9, "60", "", "PT0S", "P8D", "P1Y", "PT", "P1DT", 1.5])(
      "expires_in %j is refused",
      async (expires_in) => {
        const { status, body } = await post("presign/upload", { key: "x", expires_in });
        expect([status, body.code]).toEqual([422, "core.validation"]);
        expect(body.context.errors[0].path).toBe("/expires_in");
      },
    );

    test.each([1, 604_800, "PT15M", "P7D", "P1W", "PT1H30M", "P1DT12H"])(
      "expires_in %j is taken",
      async (expires_in) => {
        expect((await post("presign/upload", { key: "x", expires_in })).status).toBe(200);
      },
    );

    test.each([
      ["presign/upload", { key: "../x", expires_in: 60 }, "/key"],
      [
        "presign/upload",
        { key: "x", expires_in: 60, content_type: "a/b\r\nx: y" },
        "/content_type",
      ],
      ["uploads", { key: "a\\b" }, "/key"],
    ])("%s with %j is refused", async (path, body, at) => {
      const answer = await post(path, body);
      expect([answer.status, answer.body.context.errors?.[0].path]).toEqual([422, at]);
    });

    test("no address is given for an object that is not there, or another tenant's", async () => {
      expect((await post("presign/download", { key: "nothing", expires_in: 60 })).status).toBe(404);
      const { body: put } = await post("presign/upload", { key: "mine", expires_in: 60 });
      await sent(put, Buffer.from("x"));
      const stranger = await people.member("", "files.read", "files.write");
      const asked = { key: "mine", expires_in: 60 };
      expect((await post("presign/download", asked, stranger)).status).toBe(404);
    });

    test("an upload in parts is resumed, and completed out of order, with quotes or without", async () => {
      const first = Buffer.alloc(partBytes, "a");
      const second = Buffer.alloc(partBytes, "b");
      const third = Buffer.from("the end");
      const session = await begun("big/file.bin", "application/x-test");
      expect(session).toMatchObject({
        key: "big/file.bin",
        upload_id: expect.any(String),
        content_type: "application/x-test",
        token: expect.any(String),
      });
      const three = await putPart(session, 3, third);
      const one = await putPart(session, 1, first);
      const listed = await post("uploads/parts", { session });
      expect(listed.body.parts).toEqual([
        { part_number: 1, etag: one.etag.replaceAll('"', ""), size: partBytes },
        { part_number: 3, etag: three.etag.replaceAll('"', ""), size: third.length },
      ]);
      // The browser was closed here; what is missing is sent.
      const two = await putPart(session, 2, second);
      expect((await people.as(member.token, "GET", "/files/big/file.bin")).status).toBe(404);
      const unquoted = { ...two, etag: two.etag.replaceAll('"', "") };
      const done = await post("uploads/complete", { session, parts: [three, unquoted, one] });
      expect(done.status).toBe(200);
      expect(done.body).toEqual({
        key: "big/file.bin",
        size: 2 * partBytes + third.length,
        content_type: "application/x-test",
        etag: expect.any(String),
        last_modified: expect.stringMatching(/Z$/),
        metadata: { filename: "file.bin" },
      });
      const got = await fetch(`${service.url}/files/big/file.bin`, {
        headers: { authorization: `Bearer ${member.token}` },
      });
      const bytes = Buffer.from(await got.arrayBuffer());
      expect(bytes.equals(Buffer.concat([first, second, third]))).toBe(true);
      const again = await post("uploads/complete", { session, parts: [one, two, three] });
      expect([again.status, again.body.code]).toEqual([404, "core.not_found"]);
      expect((await post("uploads/parts", { session })).status).toBe(404);
      const asked = { session, part_number: 1, expires_in: 60 };
      expect((await post("uploads/parts/url", asked)).status).toBe(404);
      expect(await objects.leftovers()).toBe(0);
    });

    test("a part that is sent again takes the place of the one before", async () => {
      const session = await begun("again");
      const wrong = await putPart(session, 1, Buffer.from("wrong"));
      const right = await putPart(session, 1, Buffer.from("right"));
      const stale = await post("uploads/complete", { session, parts: [wrong] });
      expect([stale.status, stale.body.code]).toEqual([422, "upload_parts_invalid"]);
      expect((await post("uploads/complete", { session, parts: [right] })).status).toBe(200);
      expect((await people.as(member.token, "GET", "/files/again")).body).toBe("right");
    });

    test("parts that are missing, twice there or foreign are refused; the session lives on", async () => {
      const session = await begun("faulty");
      const one = await putPart(session, 1, Buffer.from("x"));
      for (const parts of [
        [one, one],
        [one, { part_number: 2, etag: one.etag }],
        [{ part_number: 1, etag: "0123456789abcdef0123456789abcdef" }],
      ]) {
        const { status, body } = await post("uploads/complete", { session, parts });
        expect([status, body.code]).toEqual([422, "upload_parts_invalid"]);
      }
      for (const part_number of [0, 10_001, 1.5]) {
        const asked = { session, part_number, expires_in: 60 };
        expect((await post("uploads/parts/url", asked)).status).toBe(422);
      }
      expect((await post("uploads/complete", { session, parts: [] })).status).toBe(422);
      expect((await post("uploads/complete", { session, parts: [one] })).status).toBe(200);
    });

    test("a session is one of this service, this tenant and this storage, or is refused", async () => {
      const session = await begun("mine");
      const stranger = await people.member("", "files.read", "files.write");
      for (const [changed, who] of [
        [{ ...session, key: "other" }, member],
        [{ ...session, upload_id: "0123456789abcdef0123456789abcdef" }, member],
        [{ ...session, expires_at: "2036-01-01T00:00:00.000Z" }, member],
        [{ ...session, token: "x" }, member],
        [session, stranger],
      ] as const) {
        const { status, body } = await post("uploads/parts", { session: changed }, who);
        expect([status, body.code]).toEqual([422, "upload_session_invalid"]);
      }
      expect((await post("uploads/abort", { session })).status).toBe(204);
    });

    test("giving an upload up leaves nothing, and can be done twice", async () => {
      const session = await begun("given-up");
      await putPart(session, 1, Buffer.from("x"));
      expect((await post("uploads/abort", { session })).status).toBe(204);
      expect((await post("uploads/abort", { session })).status).toBe(204);
      const parts = [{ part_number: 1, etag: "x" }];
      expect((await post("uploads/complete", { session, parts })).status).toBe(404);
      expect(await objects.leftovers()).toBe(0);
    });

    test("an upload that does not end is removed after its time, and its session with it", async () => {
      const session = await begun("forgotten");
      await putPart(session, 1, Buffer.from("x"));
      expect(await objects.leftovers()).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      if (sqlite === undefined) throw new Error("there is no SQLite");
      // A service removes what is too old when it starts, and every hour.
      const brief = { UPLOAD_MAX_AGE_SECONDS: "1", OBJECTS_URL: objects.url };
      const environment = { ...brief, ...objects.environment };
      const other = await startTestService(sqlite, { signsIn: false, environment });
      await expect.poll(() => objects.leftovers(), { timeout: 20_000 }).toBe(0);
      await other.stop();
      expect((await post("uploads/parts", { session })).status).toBe(404);
    });

    test("two that complete at once make one object", async () => {
      const session = await begun("raced");
      const part = await putPart(session, 1, Buffer.from("content"));
      const answers = await Promise.all(
        [1, 2, 3].map(() => post("uploads/complete", { session, parts: [part] })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1);
      expect(statuses.every((status) => status === 200 || status === 404)).toBe(true);
      expect((await people.as(member.token, "GET", "/files/raced")).body).toBe("content");
    });
  });
}
