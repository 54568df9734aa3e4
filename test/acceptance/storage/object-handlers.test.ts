// Objects in author handlers: `objects(…)` with the rules of the routes, and as much of a transaction as engines of objects have.
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collection, fail, objects, type ExecutionContext } from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

/** What the next handler does. */
const next: { work: (context: ExecutionContext) => Promise<unknown> } = {
  work: async () => undefined,
};
Object.assign(globalThis, { objectsUnderTest: next });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: album, title: Album, version: 1.0.0}
policies: {open: []}
documents:
  people: {type: {name: {type: string, minLength: 1}, avatar: string?}, guard: open}
storage:
  avatars: {guard: open, max_upload: 2KiB, accept: ["image/*"], mount: {at: /avatars, style: rest}}
  papers: {guard: open, max_range: 1MiB, max_upload: 20MiB, mount: {at: /papers, style: rest}}
  vault: {guard: open, max_upload: 20MiB, encryption: client, mount: {at: /vault, style: rest}}
operations:
  act.write: {post: /write, out: {type: object, additionalProperties: true}, run: registry/act.ts#act, guard: open}
  act.read: {post: /read, out: {type: object, additionalProperties: true}, run: registry/act.ts#act, guard: open, transaction: read}
  act.briefly: {post: /briefly, run: registry/act.ts#act, guard: open, deadline: 1s}
`,
  "registry/act.ts":
    "export const act = async (_input, context) => (await globalThis.objectsUnderTest.work(context)) ?? {};\n",
};

let project: TestProject;
// oxlint-disable-next-line typescript/no-explicit-any -- the specs are generated only now
let specs: Record<"avatars" | "papers" | "vault" | "people", any>;
beforeAll(async () => {
  project = await testProject(files);
  specs = {
    avatars: (await project.load("generated/storage/avatars.ts")).avatarsSpec,
    papers: (await project.load("generated/storage/papers.ts")).papersSpec,
    vault: (await project.load("generated/storage/vault.ts")).vaultSpec,
    people: (await project.load("generated/documents/people.ts")).peopleSpec,
  };
});
afterAll(() => project.remove());

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

const pairs = engines.flatMap((database) =>
  objectEngines.map((store) => ({
    database,
    store,
    name: `${database.name} and ${store.name}`,
    isAvailable: database.isAvailable && store.isAvailable,
  })),
);

for (const { database, store, name, isAvailable } of pairs) {
  describe.skipIf(!isAvailable)(name, () => {
    let service: TestService;
    let fresh: FreshObjects;
    beforeAll(async () => {
      fresh = await store.create();
      const environment = { OBJECTS_URL: fresh.url, ...fresh.environment };
      service = await project.start(database, { environment });
    });
    afterAll(async () => {
      await service.stop();
      await fresh.drop();
    });

    /** Has a handler do this: in a transaction unless told otherwise. */
    const act = (
      work: (context: ExecutionContext) => Promise<unknown>,
      path = "/write",
    ): Promise<Answer> => {
      next.work = work;
      return service.post(path, {});
    };
    const download = async (path: string): Promise<readonly [number, Buffer]> => {
      const answer = await fetch(`${service.url}${path}`);
      return [answer.status, Buffer.from(await answer.arrayBuffer())];
    };
    const keysOf = async (storage: string, prefix: string): Promise<readonly string[]> => {
      const { status, body } = await service.post(`/${storage}/files/list`, { size: 100, prefix });
      expect(status).toBe(200);
      return body.hits.map(({ key }: { readonly key: string }) => key);
    };

    describe.each(["/write", "/read"])("on %s", (path) => {
      const root = path.slice(1);

      test("an object is written, listed, read, described and removed as over HTTP", async () => {
        const key = `${root}/a.txt`;
        const answer = await act(async (context) => {
          const papers = objects(specs.papers, context);
          const put = await papers.put(key, "hällo", { tags: { stage: "draft" } });
          const { hits } = await papers.list({ prefix: `${root}/`, tags: { stage: "draft" } });
          const { body, ...head } = await papers.get(key);
          return {
            put,
            listed: hits,
            head,
            text: await text(body),
            bytes: (await papers.bytes(key)).toString(),
            there: [await papers.exists(key), await papers.exists(`${key}x`)],
          };
        }, path);
        expect(answer.status).toBe(200);
        const { put, listed, head, text: read, bytes, there } = answer.body;
        expect(put).toMatchObject({
          key,
          size: 6,
          content_type: "text/plain",
          filename: "a.txt",
          tags: { stage: "draft" },
        });
        expect([listed, head, read, bytes, there]).toEqual([
          [put],
          put,
          "hällo",
          "hällo",
          [true, false],
        ]);
        expect((await service.post("/papers/files/metadata", { key })).body).toEqual(put);
        expect(await download(`/papers/files/${key}`)).toEqual([200, Buffer.from("hällo")]);
        const changed = await act(async (context) => {
          const papers = objects(specs.papers, context);
          await papers.updateMetadata(key, { description: "read me", content_type: "text/x-a" });
          await papers.copy(key, `${root}/b.txt`);
          await papers.move(key, `${root}/c.txt`);
          await papers.delete(`${root}/b.txt`);
        }, path);
        expect(changed.status).toBe(200);
        expect(await keysOf("papers", `${root}/`)).toEqual([`${root}/c.txt`]);
        expect(
          (await service.post("/papers/files/metadata", { key: `${root}/c.txt` })).body,
        ).toMatchObject({
          description: "read me",
          content_type: "text/x-a",
          tags: { stage: "draft" },
        });
      });

      test("bytes of any size pass through, encrypted or not", async () => {
        const whole = Buffer.alloc(7 * 1024 * 1024 + 3, "0123456789");
        const answer = await act(async (context) => {
          const made = await objects(specs.papers, context).put(`${root}/large`, whole);
          const { body } = await objects(specs.papers, context).get(made.key);
          const sealed = await objects(specs.vault, context).put(`${root}/large`, body);
          const back = await objects(specs.vault, context).bytes(sealed.key);
          return { isSame: back.equals(whole) };
        }, path);
        expect([answer.status, answer.body]).toEqual([200, { isSame: true }]);
        expect((await download(`/vault/files/${root}/large`))[1].equals(whole)).toBe(true);
      });

      test("handlers are refused what routes refuse, and nothing is left", async () => {
        const refusals = async (
          work: (context: ExecutionContext) => Promise<unknown>,
        ): Promise<unknown> => {
          const { status, body } = await act(work, path);
          return [status, body.code, body.context];
        };
        const invalid = (at: string, keyword: string, message: string) => [
          422,
          "core.validation",
          { errors: [{ path: at, keyword, message }] },
        ];
        expect(
          await refusals((context) => objects(specs.avatars, context).put("x", "plain text")),
        ).toEqual([
          415,
          "upload_type_unsupported",
          { content_type: "text/plain", source: "bytes" },
        ]);
        expect(
          await refusals((context) =>
            objects(specs.avatars, context).create(Buffer.alloc(2049), {
              content_type: "image/png",
            }),
          ),
        ).toEqual([413, "upload_too_large", { max_bytes: 2048 }]);
        const put =
          (about: object, key = "x") =>
          (context: ExecutionContext) =>
            objects(specs.papers, context).put(key, "text", about);
        expect(await refusals(put({}, "../x"))).toEqual(
          invalid("/key", "pattern", "must be segments, none of them empty, . or .."),
        );
        expect(await refusals(put({ content_type: "text/html\r\nx: y" }))).toEqual(
          invalid("/content_type", "pattern", "must be a media type such as image/png"),
        );
        expect(await refusals(put({ tags: { "a b": "c" } }))).toEqual(
          invalid("/tags", "maxLength", "must have names of up to 32 letters, digits and ._:-"),
        );
        expect((await act(put({ filename: "a/b" }), path)).body.context.errors[0].path).toBe(
          "/filename",
        );
        expect(
          await refusals((context) => objects(specs.papers, context).delete("nothing")),
        ).toEqual([404, "core.not_found", {}]);
        for (const name of ["head", "get", "bytes", "delete"] as const)
          expect(
            await refusals((context) => objects(specs.papers, context)[name]("no//key")),
          ).toEqual([404, "core.not_found", {}]);
        expect(await refusals((context) => objects(specs.papers, context).get("nothing"))).toEqual([
          404,
          "core.not_found",
          {},
        ]);
        expect([await keysOf("avatars", ""), await keysOf("papers", "x")]).toEqual([[], []]);
      });

      test("no more is read into memory than fits", async () => {
        const answer = await act(async (context) => {
          const papers = objects(specs.papers, context);
          await papers.put(`${root}/wide`, Buffer.alloc(1024 * 1024 + 1));
          const codeOf = (work: Promise<unknown>) =>
            work.then(
              () => "read",
              ({ code, context: told }) => [code, told],
            );
          return {
            usual: await codeOf(papers.bytes(`${root}/wide`)),
            less: await codeOf(papers.bytes(`${root}/wide`, { max: 10 })),
            more: await codeOf(papers.bytes(`${root}/wide`, { max: 2 * 1024 * 1024 })),
          };
        }, path);
        expect(answer.body).toEqual({
          usual: ["upload_too_large", { max_bytes: 1024 * 1024 }],
          less: ["upload_too_large", { max_bytes: 10 }],
          more: "read",
        });
      });

      test("signed addresses carry bytes past the service", async () => {
        const { body } = await act(async (context) => {
          const papers = objects(specs.papers, context);
          await papers.put(`${root}/signed`, "signed");
          return {
            down: await papers.presignDownload(`${root}/signed`, { expires_in: "PT5M" }),
            up: await papers.presignUpload(`${root}/uploaded`, { expires_in: 60 }),
            form: await papers.presignPost(`${root}/posted`, { expires_in: 60, max_bytes: 9 }),
          };
        }, path);
        expect(await (await fetch(body.down.url)).text()).toBe("signed");
        const { method, headers, url } = body.up;
        expect((await fetch(url, { method, headers, body: "up" })).ok).toBe(true);
        expect(await download(`/papers/files/${root}/uploaded`)).toEqual([200, Buffer.from("up")]);
        expect(body.form).toMatchObject({ method: "POST", fields: expect.any(Object) });
      });
    });

    test("objects of another tenant are not there", async () => {
      const { body } = await act(async (context) => {
        const { key } = await objects(specs.papers, context).create("mine", { prefix: "mine" });
        return { key };
      });
      expect(body.key).toMatch(/^mine\//);
      const elsewhere = await service.running.connection.write(
        "test.elsewhere",
        async (context) => {
          const papers = objects(specs.papers, context);
          const hits = (await papers.list()).hits.length;
          return [await papers.exists(body.key), hits];
        },
        "elsewhere",
      );
      expect(elsewhere).toEqual([false, 0]);
    });

    test("a row and its file are stored together", async () => {
      const { status, body } = await act(async (context) => {
        const { key } = await objects(specs.avatars, context).create(pixel);
        return collection(specs.people, context).create({ name: "Ann", avatar: key });
      });
      expect([status, body.name]).toEqual([200, "Ann"]);
      expect(await download(`/avatars/files/${body.avatar}`)).toEqual([200, pixel]);
      expect(await keysOf("avatars", body.avatar)).toEqual([body.avatar]);
    });

    test("a rollback removes new objects and keeps those that were to be deleted", async () => {
      await act((context) => objects(specs.papers, context).put("undo/old", "old"));
      const { status } = await act(async (context) => {
        const papers = objects(specs.papers, context);
        await papers.put("undo/new", "1");
        await papers.put("undo/new", "2");
        await papers.copy("undo/old", "undo/copy");
        await papers.move("undo/copy", "undo/moved");
        await papers.delete("undo/old");
        throw fail("core.conflict");
      });
      expect(status).toBe(409);
      expect(await keysOf("papers", "undo/")).toEqual(["undo/old"]);
      for (const key of ["new", "copy", "moved"])
        expect((await download(`/papers/files/undo/${key}`))[0]).toBe(404);
      expect(await download("/papers/files/undo/old")).toEqual([200, Buffer.from("old")]);
    });

    test("objects that somebody reads meanwhile are taken back all the same", async () => {
      let looked: Promise<Answer> | undefined;
      const { status } = await act(async (context) => {
        await objects(specs.papers, context).put("seen/a", "a");
        // It brings what it sees into the index, as the walk over all objects does.
        looked = service.post("/papers/files/metadata", { key: "seen/a" });
        await download("/papers/files/seen/a");
        throw fail("core.conflict");
      });
      expect(status).toBe(409);
      await looked;
      expect(await keysOf("papers", "seen/")).toEqual([]);
      expect((await download("/papers/files/seen/a"))[0]).toBe(404);
    });

    test("a version that an undone part has written over another one stays", async () => {
      const { status } = await act(async (context) => {
        const papers = objects(specs.papers, context);
        await papers.put("over/a", "first");
        await context
          .commit(async () => {
            await papers.put("over/a", "second");
            throw new Error("not this");
          })
          .catch(() => undefined);
      });
      expect(status).toBe(200);
      expect(await download("/papers/files/over/a")).toEqual([200, Buffer.from("second")]);
      expect(await keysOf("papers", "over/")).toEqual(["over/a"]);
    });

    test("a partial rollback keeps the rest", async () => {
      const { status } = await act(async (context) => {
        const papers = objects(specs.papers, context);
        await papers.put("part/kept", "kept");
        await context
          .commit(async () => {
            await papers.put("part/undone", "undone");
            await papers.delete("part/kept");
            throw new Error("not this");
          })
          .catch(() => undefined);
      });
      expect(status).toBe(200);
      expect(await keysOf("papers", "part/")).toEqual(["part/kept"]);
      expect((await download("/papers/files/part/undone"))[0]).toBe(404);
      expect((await download("/papers/files/part/kept"))[0]).toBe(200);
    });

    test("an object that replaced another stays, and lists say so", async () => {
      const first = await act((context) => objects(specs.papers, context).put("same/a", "one"));
      const { status } = await act(async (context) => {
        await objects(specs.papers, context).put("same/a", "another");
        throw new Error("too late");
      });
      expect([first.status, status]).toEqual([200, 500]);
      const { body } = await service.post("/papers/files/list", { prefix: "same/" });
      expect(body.hits).toMatchObject([{ key: "same/a", size: 7 }]);
      expect(await download("/papers/files/same/a")).toEqual([200, Buffer.from("another")]);
    });

    test("at the deadline nothing of it is left", async () => {
      const { status } = await act(async (context) => {
        const papers = objects(specs.papers, context);
        await papers.put("late/a", "a");
        await papers.put(
          "late/b",
          (async function* () {
            yield Buffer.from("b");
            await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
            yield Buffer.from("c");
          })(),
        );
      }, "/briefly");
      expect(status).toBe(504);
      await expect.poll(() => keysOf("papers", "late/")).toEqual([]);
      await expect.poll(async () => (await download("/papers/files/late/a"))[0]).toBe(404);
      expect((await download("/papers/files/late/b"))[0]).toBe(404);
    });

    test("objects and rows are written side by side", async () => {
      const { status, body } = await act(async (context) => {
        const papers = objects(specs.papers, context);
        const people = collection(specs.people, context);
        const settled = await Promise.allSettled([
          ...[1, 2, 3, 4].map((n) => papers.put(`side/${n}`, `${n}`)),
          people.create({ name: "" }),
          people.create({ name: "Bea" }),
        ]);
        return { kept: settled.map(({ status: one }) => one), people: await people.count({}) };
      });
      expect(status).toBe(200);
      expect(body.kept).toEqual([
        ...Array.from({ length: 4 }, () => "fulfilled"),
        "rejected",
        "fulfilled",
      ]);
      expect(await keysOf("papers", "side/")).toHaveLength(4);
    });

    test("a stream is fetched when it is read, and let go of where the loop ends", async () => {
      const { body } = await act(async (context) => {
        const papers = objects(specs.papers, context);
        await papers.put("stream/a", Buffer.alloc(900_000, "a"));
        const { body: unread } = await papers.get("stream/a");
        const { body: first } = await papers.get("stream/a");
        let size = 0;
        for await (const chunk of first) {
          size = chunk.length;
          break;
        }
        await papers.put("stream/a", "changed");
        const refused = await buffer(unread).catch(({ code }) => code);
        return { isPart: size > 0 && size < 900_000, refused };
      });
      expect(body).toEqual({ isPart: true, refused: "core.concurrency" });
    });
  });
}
