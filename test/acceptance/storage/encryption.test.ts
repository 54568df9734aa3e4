// Files that the service encrypts: nothing readable rests, nothing that was changed comes out (decisions.md "Object storage").
import { createCipheriv, randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { vaultSpec } from "../../../generated/storage/vault.js";
import { service as reference } from "../../../generated/service.js";
import {
  defineService,
  direct,
  json,
  route,
  type AnyRoute,
  type Handler,
} from "../../../runtime/index.js";
import { encryptedStore } from "../../../runtime/families/storage/encryption/encrypted-store.js";
import {
  chunkBytes,
  headerBytes,
  printHeader,
  sealedBytes,
} from "../../../runtime/families/storage/encryption/format.js";
import { localKeyRing } from "../../../runtime/families/storage/encryption/key-ring.js";
import type { ByteWindow } from "../../../runtime/ports/object-head.js";
import type { ObjectStore } from "../../../runtime/ports/objects.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const secret = randomBytes(32);
const description = { contentType: "text/plain", filename: "x.txt", description: null };
/** Direct transfers with the vault, which does not offer them. */
const directly = <Input>(name: string, run: Handler<Input, unknown>): AnyRoute =>
  route<Input, unknown>({
    operationId: `vault.${name}`,
    method: "POST",
    path: `/direct/${name}`,
    status: 200,
    input: json(() => null),
    hooks: [],
    transaction: "read",
    run,
  });
const definition = defineService({
  ...reference,
  routes: [
    ...reference.routes,
    directly("presign_download", direct.presignDownload(vaultSpec)),
    directly("presign_upload", direct.presignUpload(vaultSpec)),
    directly("begin_upload", direct.beginUpload(vaultSpec)),
    directly("list_parts", direct.listParts(vaultSpec)),
  ],
});
const never = new AbortController().signal;

async function* bytesOf(content: Buffer, step = 10_007): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += step) yield content.subarray(at, at + step);
}

/** Bytes of which every position tells where it is. */
function numbered(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 2_654_435_761) >>> 24;
  return bytes;
}

async function contentOf(store: ObjectStore, key: string, window?: ByteWindow): Promise<Buffer> {
  const opened = await store.open(key, window === undefined ? {} : { window });
  const chunks: Buffer[] = [];
  for await (const chunk of opened?.body ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let objects: FreshObjects;
    let inner: ObjectStore;
    let store: ObjectStore;
    beforeAll(async () => {
      objects = await engine.create();
      inner = await objects.open();
      store = encryptedStore(inner, localKeyRing([secret]));
    });
    afterAll(async () => {
      await inner.close();
      await objects.drop();
    });

    const kept = (key: string): Promise<Buffer> => contentOf(inner, key);
    const keep = (key: string, bytes: Buffer): Promise<unknown> =>
      inner.write(key, bytesOf(bytes), description, never);

    test.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes, 200_001])(
      "%d bytes come back, as a whole and in windows",
      async (size) => {
        const content = numbered(size);
        const key = `v/t/${size}`;
        const head = await store.write(key, bytesOf(content), description, never);
        const sealed = await kept(key);
        expect(head).toMatchObject({ size: sealed.length, contentSize: size });
        expect(await store.head(key)).toEqual(head);
        expect((await contentOf(store, key)).equals(content)).toBe(true);
        for (const [first, last] of [
          [0, 0],
          [0, size - 1],
          [chunkBytes - 1, chunkBytes],
          [size - 1, size - 1],
          [Math.floor(size / 3), Math.floor((2 * size) / 3)],
        ] as const) {
          if (first < 0 || last >= size || last < first) continue;
          const part = await contentOf(store, key, { first, last });
          expect(part.equals(content.subarray(first, last + 1))).toBe(true);
        }
      },
    );

    test("nothing of the content rests readable", async () => {
      const content = Buffer.from("a secret sentence ".repeat(10_000));
      await store.write("v/t/secret", bytesOf(content), description, never);
      expect((await kept("v/t/secret")).includes("secret sentence")).toBe(false);
    });

    test("a reader that never begins, or stops early, lets go of what rests", async () => {
      const content = numbered(20 * chunkBytes);
      await store.write("v/t/let-go", bytesOf(content), description, never);
      const sources: Readable[] = [];
      const watched: ObjectStore = {
        ...inner,
        async open(key, options) {
          const opened = await inner.open(key, options);
          if (opened !== null) sources.push(opened.body);
          return opened;
        },
      };
      const sealing = encryptedStore(watched, localKeyRing([secret]));
      for (const options of [{}, { window: { first: 10, last: 19 * chunkBytes } }]) {
        const never = await sealing.open("v/t/let-go", options);
        never?.body.destroy();
        const early = await sealing.open("v/t/let-go", options);
        for await (const _first of early?.body ?? []) break;
      }
      expect(sources.length).toBeGreaterThanOrEqual(4);
      await expect.poll(() => sources.every(({ destroyed }) => destroyed)).toBe(true);
    });

    describe("what was changed gives no byte of it", () => {
      const content = numbered(4 * chunkBytes + 100);
      let sealed: Buffer;
      let other: Buffer;
      beforeAll(async () => {
        await store.write("v/t/one", bytesOf(content), description, never);
        await store.write("v/t/two", bytesOf(numbered(content.length)), description, never);
        sealed = await kept("v/t/one");
        other = await kept("v/t/two");
      });
      const chunk = (bytes: Buffer, index: number): Buffer =>
        bytes.subarray(headerBytes + index * sealedBytes, headerBytes + (index + 1) * sealedBytes);
      const header = (bytes: Buffer): Buffer => bytes.subarray(0, headerBytes);
      const flipped = (at: number) => (): Buffer => {
        const bytes = Buffer.from(sealed);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      };
      const chunks = (order: readonly number[]) => (): Buffer =>
        Buffer.concat([header(sealed), ...order.map((index) => chunk(sealed, index))]);

      test.each([
        ["a bit of the third chunk", flipped(headerBytes + 2 * sealedBytes + 7), 2],
        ["a bit of a tag", flipped(headerBytes + sealedBytes - 1), 0],
        ["a bit of the header", flipped(headerBytes - 1), 0],
        ["a bit of the wrapped key", flipped(40), 0],
        ["two chunks swapped", chunks([0, 2, 1, 3, 4]), 1],
        ["a chunk twice", chunks([0, 0, 1, 2, 3, 4]), 1],
        ["a chunk left out", chunks([0, 2, 3, 4]), 1],
        ["cut off between chunks", chunks([0, 1, 2]), 2],
        ["cut off within a chunk", () => sealed.subarray(0, headerBytes + sealedBytes + 99), 1],
        ["cut off behind the header", () => header(sealed), 0],
        [
          "another object's header",
          () => Buffer.concat([header(other), sealed.subarray(headerBytes)]),
          0,
        ],
        [
          "another object's chunk",
          () =>
            Buffer.concat([
              header(sealed),
              chunk(sealed, 0),
              chunk(other, 1),
              sealed.subarray(headerBytes + 2 * sealedBytes),
            ]),
          1,
        ],
        ["another object as a whole", () => other, 0],
        ["nothing", () => Buffer.alloc(0), 0],
        ["no object of ours", () => Buffer.alloc(10_000, "x"), 0],
      ])("%s", async (_what, change, goodChunks) => {
        await keep("v/t/one", change());
        const given: Buffer[] = [];
        const reading = (async () => {
          const opened = await store.open("v/t/one");
          for await (const part of opened?.body ?? []) given.push(part as Buffer);
        })();
        await expect(reading).rejects.toThrow();
        const bytes = Buffer.concat(given);
        expect(bytes.length).toBe(goodChunks * chunkBytes);
        expect(bytes.equals(content.subarray(0, bytes.length))).toBe(true);
        await keep("v/t/one", sealed);
      });

      test("an object in another tenant's place does not open", async () => {
        await keep("v/u/one", sealed);
        await expect(contentOf(store, "v/u/one")).rejects.toThrow();
      });

      test("a window over a chunk that was changed gives nothing of it", async () => {
        await keep("v/t/one", flipped(headerBytes + 2 * sealedBytes + 7)());
        const window = { first: 2 * chunkBytes + 5, last: 2 * chunkBytes + 9 };
        await expect(contentOf(store, "v/t/one", window)).rejects.toThrow();
        const before = { first: 5, last: 9 };
        expect((await contentOf(store, "v/t/one", before)).equals(content.subarray(5, 10))).toBe(
          true,
        );
        await keep("v/t/one", sealed);
      });
    });

    test("a window reads the header and the chunks that it covers, and nothing else", async () => {
      const size = 64 * chunkBytes;
      await store.write("v/t/large", bytesOf(numbered(size), chunkBytes), description, never);
      let read = 0;
      const counting: ObjectStore = {
        ...inner,
        async open(key, options) {
          const opened = await inner.open(key, options);
          opened?.body.on("data", (chunk: Buffer) => (read += chunk.length)).pause();
          return opened;
        },
      };
      const counted = encryptedStore(counting, localKeyRing([secret]));
      const window = { first: 10 * chunkBytes + 1, last: 11 * chunkBytes + 1 };
      expect((await contentOf(counted, "v/t/large", window)).length).toBe(chunkBytes + 1);
      expect(read).toBe(headerBytes + 2 * sealedBytes);
    });

    test("keys rotate: what the old one wrapped opens, and nothing without it", async () => {
      const next = randomBytes(32);
      await store.write("v/t/old", bytesOf(Buffer.from("old")), description, never);
      const rotated = encryptedStore(inner, localKeyRing([next, secret]));
      await rotated.write("v/t/new", bytesOf(Buffer.from("new")), description, never);
      expect((await contentOf(rotated, "v/t/old")).toString()).toBe("old");
      expect((await contentOf(rotated, "v/t/new")).toString()).toBe("new");
      await expect(contentOf(store, "v/t/new")).rejects.toThrow();
    });

    test("the form of old is read as a whole, also where a window is asked for", async () => {
      const key = "v/t/legacy";
      const dataKey = randomBytes(32);
      const header = printHeader("whole", await localKeyRing([secret]).wrap(dataKey, key));
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", dataKey, nonce).setAAD(header);
      const content = numbered(150_000);
      const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
      await keep(key, Buffer.concat([header, nonce, sealed, cipher.getAuthTag()]));
      expect((await contentOf(store, key)).equals(content)).toBe(true);
      expect((await contentOf(store, key, { first: 1, last: 2 })).equals(content)).toBe(true);
      expect((await store.open(key, { window: { first: 1, last: 2 } }))?.window).toBeNull();
    });

    describe("over HTTP", () => {
      let service: TestService;
      let people: People;
      let member: Member;
      beforeAll(async () => {
        if (sqlite === undefined) throw new Error("there is no SQLite");
        service = await startTestService(sqlite, {
          definition,
          signsIn: false,
          environment: {
            OBJECTS_URL: objects.url,
            SECRETS_OBJECTS: secret.toString("base64url"),
            ...objects.environment,
          },
        });
        people = peopleOf(service);
        member = await people.member("", "vault.read", "vault.write");
      });
      afterAll(() => service.stop());
      const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
        fetch(`${service.url}${path}`, {
          headers: { authorization: `Bearer ${member.token}`, ...headers },
        });
      const upload = async (content: Buffer): Promise<string> => {
        const form = new FormData();
        form.set("file", new Blob([new Uint8Array(content)]), "x.bin");
        const answer = await fetch(`${service.url}/vault/files/upload`, {
          method: "POST",
          headers: { authorization: `Bearer ${member.token}` },
          body: form,
        });
        expect(answer.status).toBe(201);
        return ((await answer.json()) as { readonly key: string }).key;
      };

      test("a file comes back, without a length but with ranges; HEAD tells the stored length", async () => {
        const content = numbered(3 * chunkBytes + 5);
        const key = await upload(content);
        const whole = await get(`/vault/files/download/${key}`);
        expect(whole.headers.get("content-length")).toBeNull();
        expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
        const part = await get(`/vault/files/download/${key}`, { range: "bytes=65530-65545" });
        expect(part.status).toBe(206);
        expect(part.headers.get("content-range")).toBe(`bytes 65530-65545/${content.length}`);
        expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(65530, 65546))).toBe(
          true,
        );
        const head = await fetch(`${service.url}/vault/files/download/${key}`, {
          method: "HEAD",
          headers: { authorization: `Bearer ${member.token}` },
        });
        const stored = headerBytes + content.length + 4 * 16;
        expect(head.headers.get("content-length")).toBe(String(stored));
        expect(head.headers.get("etag")).toBe(whole.headers.get("etag"));
      });

      test("the size of a sealed file is that of its content, where it is made and listed", async () => {
        const content = numbered(2 * chunkBytes + 7);
        const form = new FormData();
        form.set("file", new Blob([new Uint8Array(content)]), "x.bin");
        form.set("prefix", "sized");
        const headers = { authorization: `Bearer ${member.token}` };
        const made = await fetch(`${service.url}/vault/files/upload`, {
          method: "POST",
          headers,
          body: form,
        });
        const stored = (await made.json()) as { readonly key: string; readonly size: number };
        expect(stored.size).toBe(content.length);
        const list = await fetch(`${service.url}/vault/files/list`, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify({ prefix: "sized/" }),
        });
        expect(await list.json()).toMatchObject({ hits: [{ ...stored, size: content.length }] });
      });

      test("a range of a file in the form of old is the whole file, wherever it begins", async () => {
        const content = numbered(1_000);
        const physical = `${vaultSpec.name}/${member.tenantId}/legacy`;
        const dataKey = randomBytes(32);
        const header = printHeader("whole", await localKeyRing([secret]).wrap(dataKey, physical));
        const nonce = randomBytes(12);
        const cipher = createCipheriv("aes-256-gcm", dataKey, nonce).setAAD(header);
        const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
        await keep(physical, Buffer.concat([header, nonce, sealed, cipher.getAuthTag()]));
        for (const range of ["bytes=1-2", "bytes=-5", "bytes=1000-", "bytes=5000-6000"]) {
          const answer = await get("/vault/files/download/legacy", { range });
          expect([range, answer.status, answer.headers.get("accept-ranges")]).toEqual([
            range,
            200,
            "none",
          ]);
          expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
        }
      });

      test("a chunk that was changed ends the connection, not the answer", async () => {
        const content = numbered(8 * chunkBytes);
        const key = await upload(content);
        const physical = `${vaultSpec.name}/${member.tenantId}/${key}`;
        const sealed = await kept(physical);
        const at = headerBytes + 6 * sealedBytes + 3;
        sealed[at] = (sealed[at] ?? 0) ^ 1;
        await keep(physical, sealed);
        const answer = await get(`/vault/files/download/${key}`);
        expect(answer.status).toBe(200);
        await expect(answer.arrayBuffer()).rejects.toThrow();
      });

      test.each([
        ["presign_download", { key: "k", expires_in: 60 }],
        ["presign_upload", { key: "k", expires_in: 60 }],
        ["begin_upload", { key: "k" }],
        [
          "list_parts",
          { session: { key: "k", upload_id: "u", expires_at: "2030-01-01T00:00:00Z", token: "t" } },
        ],
      ])("direct transfers are refused: %s", async (path, body) => {
        const answer = await people.as(member.token, "POST", `/direct/${path}`, body);
        expect([answer.status, answer.body.code]).toEqual([
          409,
          "encryption_forbids_direct_transfer",
        ]);
      });
    });
  });
}
