// The contract of the object-store port: what every object engine must pass (architecture.md, idea
// 3).
import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import type { ObjectDescription } from "../ports/object-head.js";
import type { ObjectStore, OpenedObject } from "../ports/objects.js";
import type { TestApi } from "./test-api.js";
import { drawBytes, epochMillis } from "../ports/ambient.js";

export interface ObjectStoreHarness {
  /** Opens the store. It may be shared by all cases. */
  open(): Promise<ObjectStore>;
  /**
   * How many temporary files, parts and other remains of uploads there are; null if that can't be
   * told.
   */
  leftovers(): Promise<number | null>;
}

const description: ObjectDescription = {
  contentType: "text/plain",
  filename: "naïve 😀.txt",
  description: "said of it",
  tags: { project: "naïve 😀", stage: "draft" },
};
const never = new AbortController().signal;
const mebibyte = 1024 * 1024;

async function* bytesOf(content: Buffer | string, step = 64 * 1024): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

async function textOf(opened: OpenedObject | null): Promise<string | null> {
  return opened === null ? null : (await buffer(opened.body)).toString("utf8");
}

/** Declares the suite with the functions of a test runner. */
export function objectStoreContract(
  { describe, test }: TestApi,
  harness: ObjectStoreHarness,
): void {
  /** Each case has its own keys. */
  const withStore = async (
    body: (store: ObjectStore, prefix: string) => Promise<void>,
  ): Promise<void> => {
    const store = await harness.open();
    try {
      await body(store, `contract/${drawBytes(8).toString("hex")}/`);
    } finally {
      await store.close();
    }
  };
  const write = (store: ObjectStore, key: string, content: Buffer | string) =>
    store.write(key, bytesOf(content), description, never);
  const keysOf = async (store: ObjectStore, prefix: string, after: string | null = null) => {
    const keys: string[] = [];
    for await (const { key } of store.list(prefix, after)) keys.push(key);
    return keys;
  };

  describe("object store", () => {
    test("what was written is there, with what was said of it", () =>
      withStore(async (store, prefix) => {
        const before = epochMillis();
        const head = await write(store, `${prefix}a`, "content");
        assert.deepEqual(
          { ...head, etag: "", modifiedAt: 0 },
          { ...description, key: `${prefix}a`, size: 7, contentSize: 7, etag: "", modifiedAt: 0 },
        );
        assert.match(head.etag, /^[\x21\x23-\x7e]+$/);
        assert.ok(Math.abs(head.modifiedAt - before) < 60_000);
        assert.deepEqual(await store.head(`${prefix}a`), head);
        const opened = await store.open(`${prefix}a`);
        assert.deepEqual(opened?.head, head);
        assert.equal(opened?.window, null);
        assert.equal(await textOf(opened ?? null), "content");
      }));

    test("what is not there is null, and is not removed", () =>
      withStore(async (store, prefix) => {
        assert.equal(await store.head(`${prefix}nothing`), null);
        assert.equal(await store.open(`${prefix}nothing`), null);
        assert.equal(await store.remove(`${prefix}nothing`), false);
        await write(store, `${prefix}a/b`, "x");
        assert.equal(await store.head(`${prefix}a`), null);
        assert.equal(await store.remove(`${prefix}a/b`), true);
        assert.equal(await store.remove(`${prefix}a/b`), false);
        assert.equal(await store.head(`${prefix}a/b`), null);
      }));

    test("a copy has the bytes of one version, and a description of its own", () =>
      withStore(async (store, prefix) => {
        const [from, to] = [`${prefix}a/ü &+%?`, `${prefix}b`];
        const one = await write(store, from, "content");
        const { tags: _tags, ...untagged } = description;
        const other = { ...untagged, contentType: "text/csv" };
        const copied = await store.copy(from, to, other, { etag: one.etag, signal: never });
        assert.deepEqual(copied, await store.head(to));
        assert.deepEqual(
          [copied?.key, copied?.contentType, copied?.tags, copied?.contentSize],
          [to, "text/csv", undefined, 7],
        );
        assert.equal(await textOf(await store.open(to)), "content");
        assert.deepEqual(await store.head(from), one);
        const again = await store.copy(from, from, other, { signal: never });
        assert.deepEqual([again?.contentType, again?.contentSize], ["text/csv", 7]);
        assert.equal(await textOf(await store.open(from)), "content");
        await write(store, from, "another");
        const old = { etag: one.etag, signal: never };
        assert.equal(await store.copy(from, to, other, old), null);
        assert.equal(await store.copy(`${prefix}none`, to, other, { signal: never }), null);
        assert.equal(await textOf(await store.open(to)), "content");
        const empty = await write(store, from, "");
        assert.equal((await store.copy(from, to, other, { signal: never }))?.contentSize, 0);
        assert.equal(empty.size, 0);
      }));

    test("an empty object is one", () =>
      withStore(async (store, prefix) => {
        assert.equal((await write(store, `${prefix}a`, "")).size, 0);
        assert.equal(await textOf(await store.open(`${prefix}a`)), "");
      }));

    test("windows have both of their ends", () =>
      withStore(async (store, prefix) => {
        await write(store, `${prefix}a`, "0123456789");
        for (const [first, last, text] of [
          [0, 0, "0"],
          [0, 9, "0123456789"],
          [3, 5, "345"],
          [9, 9, "9"],
        ] as const) {
          const opened = await store.open(`${prefix}a`, { window: { first, last } });
          assert.deepEqual(opened?.window, { first, last });
          assert.equal(opened?.head.contentSize, 10);
          assert.equal(await textOf(opened ?? null), text);
        }
      }));

    test("a new version has another tag, and the old tag opens nothing", () =>
      withStore(async (store, prefix) => {
        const one = await write(store, `${prefix}a`, "one");
        const two = await write(store, `${prefix}a`, "two");
        assert.notEqual(one.etag, two.etag);
        assert.equal(await store.open(`${prefix}a`, { etag: one.etag }), null);
        assert.equal(await textOf(await store.open(`${prefix}a`, { etag: two.etag })), "two");
      }));

    test("a tag removes its own version alone", () =>
      withStore(async (store, prefix) => {
        const one = await write(store, `${prefix}a`, "one");
        const two = await write(store, `${prefix}a`, "two");
        assert.equal(await store.remove(`${prefix}a`, { etag: one.etag }), false);
        assert.equal(await textOf(await store.open(`${prefix}a`)), "two");
        assert.equal(await store.remove(`${prefix}a`, { etag: two.etag }), true);
        assert.equal(await store.head(`${prefix}a`), null);
        assert.equal(await store.remove(`${prefix}a`, { etag: two.etag }), false);
        assert.deepEqual(await keysOf(store, prefix), []);
      }));

    test("an object that is replaced while it is read gives one version or breaks off", () =>
      withStore(async (store, prefix) => {
        const size = 12 * mebibyte;
        await write(store, `${prefix}a`, Buffer.alloc(size, "a"));
        const opened = await store.open(`${prefix}a`);
        assert.ok(opened !== null);
        const seen = new Set<number>();
        let length = 0;
        let isReplaced = false;
        try {
          for await (const chunk of opened.body) {
            const bytes = chunk as Buffer;
            length += bytes.length;
            seen.add(bytes[0] ?? 0).add(bytes.at(-1) ?? 0);
            if (!isReplaced) await write(store, `${prefix}a`, Buffer.alloc(size, "b"));
            isReplaced = true;
          }
          assert.equal(length, size);
        } catch {
          assert.ok(length < size);
        }
        assert.equal(seen.size, 1);
      }));

    test("an object is seen as a whole or not at all", () =>
      withStore(async (store, prefix) => {
        async function* watched(): AsyncGenerator<Buffer> {
          yield Buffer.from("first");
          assert.equal(await store.head(`${prefix}a`), null);
          assert.deepEqual(await keysOf(store, prefix), []);
          yield Buffer.from(" and second");
        }
        await store.write(`${prefix}a`, watched(), description, never);
        assert.equal(await textOf(await store.open(`${prefix}a`)), "first and second");
      }));

    test("a write that fails or is aborted leaves nothing, and keeps what was there", () =>
      withStore(async (store, prefix) => {
        await write(store, `${prefix}a`, "before");
        const left = await harness.leftovers();
        async function* failing(): AsyncGenerator<Buffer> {
          yield Buffer.alloc(9 * mebibyte);
          yield Buffer.alloc(9 * mebibyte);
          throw new Error("the client has gone");
        }
        for (const key of ["a", "b"])
          await assert.rejects(
            store.write(`${prefix}${key}`, failing(), description, never),
            /the client has gone/,
          );
        const controller = new AbortController();
        async function* endless(): AsyncGenerator<Buffer> {
          for (let count = 0; count < 1_000; count += 1) {
            yield Buffer.alloc(mebibyte);
            if (count === 20) controller.abort(new Error("enough"));
          }
        }
        await assert.rejects(
          store.write(`${prefix}c`, endless(), description, controller.signal),
          /enough/,
        );
        assert.equal(await textOf(await store.open(`${prefix}a`)), "before");
        assert.deepEqual(await keysOf(store, prefix), [`${prefix}a`]);
        assert.equal(await harness.leftovers(), left);
      }));

    test("a reader that stops early does not hold the object", () =>
      withStore(async (store, prefix) => {
        await write(store, `${prefix}a`, Buffer.alloc(8 * mebibyte));
        for (let round = 0; round < 200; round += 1) {
          const opened = await store.open(`${prefix}a`);
          opened?.body.destroy();
        }
        assert.equal(await store.remove(`${prefix}a`), true);
      }));

    test("keys are listed by their bytes, from a prefix and behind a key", () =>
      withStore(async (store, prefix) => {
        const names = ["a", "a-b", "a/b", "a/b/c", "ab", "B", "ä", "z😀", "z\uff5e", "%2e", "a b"];
        for (const name of names) await write(store, prefix + name, name);
        const sorted = names
          .map((name) => prefix + name)
          .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
        assert.deepEqual(await keysOf(store, prefix), sorted);
        assert.deepEqual(
          await keysOf(store, `${prefix}a`),
          sorted.filter((key) => key.startsWith(`${prefix}a`)),
        );
        assert.deepEqual(await keysOf(store, `${prefix}a/`), [`${prefix}a/b`, `${prefix}a/b/c`]);
        assert.deepEqual(await keysOf(store, prefix, sorted[4] ?? null), sorted.slice(5));
        for (const name of names) assert.equal(await textOf(await store.open(prefix + name)), name);
      }));

    test("keys that look alike are different objects", () =>
      withStore(async (store, prefix) => {
        const twins = ["\u00e9", "e\u0301", "E\u0301", "a.", "a", "A", "con", "x".repeat(500)];
        for (const [index, twin] of twins.entries()) await write(store, prefix + twin, `${index}`);
        for (const [index, twin] of twins.entries())
          assert.equal(await textOf(await store.open(prefix + twin)), `${index}`);
        assert.equal((await keysOf(store, prefix)).length, twins.length);
      }));

    test("writers of one object do not mix", () =>
      withStore(async (store, prefix) => {
        const contents = ["a", "b", "c", "d"].map((letter) => letter.repeat(100_000));
        await Promise.all(contents.map((content) => write(store, `${prefix}a`, content)));
        assert.ok(contents.includes((await textOf(await store.open(`${prefix}a`))) ?? ""));
      }));

    test("a sweep takes so many uploads that have not ended at a time", () =>
      withStore(async (store, prefix) => {
        const begun = store.direct === null ? 0 : 3;
        for (let at = 0; at < begun; at += 1)
          await store.direct?.begin(`${prefix}${at}`, description);
        // An age below zero finds uploads that began just now, since the clocks of some stores only
        // count seconds.
        const sweep = () => store.sweep(prefix, -5, 2);
        assert.equal(await store.sweep(prefix, 3_600, 2), 0);
        assert.deepEqual(
          [await sweep(), await sweep(), await sweep()],
          begun === 0 ? [0, 0, 0] : [2, 1, 0],
        );
      }));

    test("folders that empty and fill at once lose nothing", () =>
      withStore(async (store, prefix) => {
        await Promise.all(
          Array.from({ length: 8 }, async (_, worker) => {
            for (let round = 0; round < 10; round += 1) {
              const key = `${prefix}deep/er/${worker}`;
              await write(store, key, `${round}`);
              assert.equal(await textOf(await store.open(key)), `${round}`);
              assert.equal(await store.remove(key), true);
            }
          }),
        );
        assert.deepEqual(await keysOf(store, prefix), []);
      }));
  });
}
