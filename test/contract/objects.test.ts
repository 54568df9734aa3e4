// Both object engines pass the contract of the object-store port, and take no version away that a tag does not name.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openFolderStore } from "../../runtime/engines/folder/engine.js";
import { openS3Store } from "../../runtime/engines/s3/engine.js";
import { encryptedStore } from "../../runtime/families/storage/encryption/encrypted-store.js";
import { localKeyRing } from "../../runtime/families/storage/encryption/key-ring.js";
import { mixedStore } from "../../runtime/families/storage/encryption/mixed-store.js";
import type { ObjectStore } from "../../runtime/ports/objects.js";
import { objectStoreContract } from "../../runtime/testing/index.js";
import { objectEngines, type FreshObjects } from "../support/object-engines.js";

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let objects: FreshObjects;
    beforeAll(async () => {
      objects = await engine.create();
    });
    afterAll(() => objects.drop());
    objectStoreContract(
      { describe, test: (name, body) => void test(name, body, 60_000) },
      { open: () => objects.open(), leftovers: () => objects.leftovers() },
    );
    describe("beside encrypted ones", () => {
      const ring = localKeyRing([randomBytes(32)]);
      objectStoreContract(
        { describe, test: (name, body) => void test(name, body, 60_000) },
        {
          async open() {
            const plain = await objects.open();
            return mixedStore(plain, encryptedStore(plain, ring), "none");
          },
          leftovers: () => objects.leftovers(),
        },
      );
    });
  });
}

const description = { contentType: "text/plain", filename: "x", description: null };

async function written(store: ObjectStore, key: string, text: string): Promise<string> {
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from(text);
  }
  const head = await store.write(key, bytes(), description, new AbortController().signal);
  return head.etag;
}

async function textAt(store: ObjectStore, key: string): Promise<string | null> {
  const opened = await store.open(key);
  return opened === null ? null : (await buffer(opened.body)).toString();
}

function temporaryFolder(): string {
  const root = mkdtempSync(join(tmpdir(), "opwright-removals-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

describe("a removal by tag", () => {
  test("on a folder loses no version that another process writes meanwhile", async () => {
    const root = temporaryFolder();
    const [one, other] = [await openFolderStore(root, null), await openFolderStore(root, null)];
    for (let round = 0; round < 400; round += 1) {
      const key = `race/${round}`;
      const etag = await written(one, key, "old");
      await Promise.all([one.remove(key, { etag }), written(other, key, "new")]);
      expect(await textAt(one, key), key).toBe("new");
    }
    expect(readdirSync(join(root, "unfinished"))).toEqual([]);
  }, 60_000);

  test.each([
    ["puts back what it took", "another", "kept"],
    ["leaves what was written since", "another", "since"],
    ["ends what was decided", "kept", null],
  ])("of a process that died %s", async (_what, expected, left) => {
    const root = temporaryFolder();
    const store = await openFolderStore(root, null);
    const kept = await written(store, "a/b", "kept");
    // As removal.ts leaves it where the process ends between taking a file and looking at it.
    const taken = join(root, "unfinished", "died.removal");
    mkdirSync(taken);
    const etag = expected === "kept" ? kept : "0".repeat(32);
    writeFileSync(join(taken, "removal.json"), JSON.stringify({ key: "a/b", etag }));
    renameSync(join(root, "objects", "a.d", "b.o"), join(taken, "object"));
    if (left === "since") await written(store, "a/b", "since");
    expect(await store.sweep("other/", -5, 10)).toBe(0);
    expect(await store.sweep("a/", -5, 10)).toBe(1);
    expect(await textAt(store, "a/b")).toBe(left);
    expect(readdirSync(join(root, "unfinished"))).toEqual([]);
  });

  test("on S3 is the store's own", async () => {
    const asked: (readonly [string | undefined, string | undefined])[] = [];
    // A version is written between the look and the removal.
    const server = createServer((request, response) => {
      asked.push([request.method, request.headers["if-match"]]);
      if (request.method === "HEAD") response.writeHead(200, { etag: '"old"' }).end();
      else
        response
          .writeHead(412, { "content-type": "application/xml" })
          .end("<Error><Code>PreconditionFailed</Code></Error>");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const store = await openS3Store({
      bucket: "bucket",
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: "us-east-1",
      credentials: { accessKeyId: "a", secretAccessKey: "s" },
    });
    onTestFinished(() => store.close());
    expect(await store.remove("a", { etag: "old" })).toBe(false);
    expect(asked).toEqual([
      ["HEAD", undefined],
      ["DELETE", '"old"'],
    ]);
  });
});
