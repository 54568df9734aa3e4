// Object engines that are away, silent, refusing or full: every call ends, with 503 and a time to come again (attack 84).
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import type { ServiceError } from "../../runtime/contract/errors.js";
import { openFolderStore } from "../../runtime/engines/folder/engine.js";
import { openS3Store } from "../../runtime/engines/s3/engine.js";
import type { ObjectStore, OpenedObject } from "../../runtime/ports/objects.js";

const description = { contentType: "text/plain", filename: "x", description: null };
const never = new AbortController().signal;
const ended: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function* bytes(size: number, step = 16 * 1024): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += step) yield Buffer.alloc(Math.min(step, size - at));
}

async function keysOf(store: ObjectStore, signal?: AbortSignal): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list("a", null, signal)) keys.push(key);
  return keys;
}

/** Every call of the port, by its name. */
const calls: Readonly<
  Record<string, (store: ObjectStore, signal?: AbortSignal) => Promise<unknown> | undefined>
> = {
  head: (store, signal) => store.head("a", signal),
  open: (store, signal) => store.open("a", { signal }),
  write: (store, signal) => store.write("a", bytes(10), description, signal ?? never),
  "write of many parts": (store, signal) =>
    store.write("a", bytes(9_000_000, 1_000_000), description, signal ?? never),
  remove: (store, signal) => store.remove("a", { signal }),
  keys: keysOf,
  ping: (store, signal) => store.ping(signal),
  "direct.begin": (store, signal) => store.direct?.begin("a", description, signal),
  "direct.parts": (store, signal) => store.direct?.parts("a", "u", signal),
  "direct.complete": (store, signal) =>
    store.direct?.complete("a", "u", [{ partNumber: 1, etag: "e" }], signal),
  "direct.abort": (store, signal) => store.direct?.abort("a", "u", signal),
};

async function faultOf(call: Promise<unknown> | undefined): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error("it did not fail");
}

async function bodyOf(opened: OpenedObject | null): Promise<Buffer> {
  if (opened === null) throw new Error("there is no object");
  return buffer(opened.body);
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const patience = { connect: 400, answer: 400, idle: 400 };

async function s3At(endpoint: string): Promise<ObjectStore> {
  const store = await openS3Store({
    bucket: "bucket",
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "a", secretAccessKey: "s" },
    patience,
  });
  ended.push(() => store.close());
  return store;
}

/** A server that takes connections and says nothing, and how many of them live. */
async function silent(): Promise<{ readonly url: string; readonly live: () => number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).once("close", () => sockets.delete(socket)));
    socket.resume();
  });
  ended.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: await listening(server), live: () => sockets.size };
}

async function answering(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  ended.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return listening(server);
}

const refusing =
  (status: number, code: string): RequestListener =>
  (req, res) => {
    req.resume();
    res.writeHead(status, { "content-type": "application/xml" });
    res.end(req.method === "HEAD" ? "" : `<Error><Code>${code}</Code></Error>`);
  };

const unavailable = { code: "core.unavailable", status: 503, headers: { "Retry-After": "1" } };

describe("S3", () => {
  test.each(Object.entries(calls))(
    "%s ends where S3 is silent, and its connection too",
    async (_name, call) => {
      const { url, live } = await silent();
      expect(await faultOf(call(await s3At(url)))).toMatchObject(unavailable);
      await expect.poll(live).toBe(0);
    },
  );

  test.each(Object.entries(calls))("%s ends with its caller", async (_name, call) => {
    const { url, live } = await silent();
    const gone = new AbortController();
    const failed = faultOf(call(await s3At(url), gone.signal));
    await expect.poll(live).toBeGreaterThan(0);
    const reason = new Error("the caller has gone");
    gone.abort(reason);
    expect(await failed).toBe(reason);
    await expect.poll(live).toBe(0);
  });

  test.each(Object.entries(calls))("%s says so where nothing listens", async (_name, call) => {
    const server = createServer();
    const url = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await faultOf(call(await s3At(url)))).toMatchObject(unavailable);
  });

  test.each([
    [403, "AccessDenied"],
    [403, "InvalidAccessKeyId"],
    [403, "SignatureDoesNotMatch"],
    [403, "RequestTimeTooSkewed"],
    [400, "ExpiredToken"],
    [400, "AuthorizationHeaderMalformed"],
    [301, "PermanentRedirect"],
    [404, "NoSuchBucket"],
    [429, "TooManyRequests"],
    [500, "InternalError"],
    [503, "SlowDown"],
    [507, "InsufficientStorage"],
  ])("what S3 refuses with %d %s is no fault of the request", async (status, code) => {
    const store = await s3At(await answering(refusing(status, code)));
    for (const [name, call] of Object.entries(calls)) {
      // A HEAD has no code: what is missing may be the object or the bucket, which `ping` tells.
      if (status === 404 && ["head", "remove"].includes(name)) continue;
      expect(await faultOf(call(store)), name).toMatchObject(unavailable);
    }
  });

  test("a call is tried twice at most", async () => {
    let count = 0;
    const url = await answering((req, res) => {
      count += 1;
      refusing(500, "InternalError")(req, res);
    });
    expect(await faultOf((await s3At(url)).head("a"))).toMatchObject(unavailable);
    expect(count).toBe(2);
  });

  test("a connection that ends before the first byte of an object is a fault of the call", async () => {
    const url = await answering((_req, res) => {
      res.writeHead(200, { "content-length": "1000", etag: '"e"' });
      res.flushHeaders();
      setTimeout(() => res.socket?.resetAndDestroy(), 50);
    });
    expect(await faultOf((await s3At(url)).open("a"))).toMatchObject(unavailable);
  });

  test("an object whose first byte does not come is a fault of the call", async () => {
    const url = await answering((_req, res) => {
      res.writeHead(200, { "content-length": "1000", etag: '"e"' });
      res.flushHeaders();
    });
    expect(await faultOf((await s3At(url)).open("a"))).toMatchObject(unavailable);
  });

  test("an object without bytes opens", async () => {
    const url = await answering((_req, res) => {
      res.writeHead(200, { "content-length": "0", etag: '"e"' });
      res.end();
    });
    expect(await bodyOf(await (await s3At(url)).open("a"))).toEqual(Buffer.alloc(0));
  });

  test("an object whose bytes stop coming breaks off", async () => {
    const url = await answering((_req, res) => {
      res.writeHead(200, { "content-length": "1000", etag: '"e"' });
      res.write("half");
    });
    const opened = await (await s3At(url)).open("a");
    await expect(bodyOf(opened)).rejects.toThrow();
  });

  test("a body that was opened outlives the patience for its head, and its caller's signal", async () => {
    const url = await answering((_req, res) => {
      res.writeHead(200, { "content-length": "8", etag: '"e"' });
      let sent = 0;
      const timer = setInterval(() => {
        res.write("ab");
        sent += 2;
        if (sent === 8) clearInterval(timer);
      }, patience.idle / 2);
    });
    const gone = new AbortController();
    const opened = await (await s3At(url)).open("a", { signal: gone.signal });
    gone.abort(new Error("the caller has gone"));
    expect((await bodyOf(opened)).toString()).toBe("abababab");
  });
});

/** A folder on a disk of 256 KiB, or null where this user may mount none. */
function tinyDisk(): string | null {
  const root = mkdtempSync(join(tmpdir(), "opwright-tiny-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", root]);
  ended.push(() => {
    if (mounted.status === 0) spawnSync("umount", [root]);
    rmSync(root, { recursive: true, force: true });
  });
  return mounted.status === 0 ? root : null;
}

describe("a folder", () => {
  test("that is full says so, keeps nothing of what did not fit, and goes on once there is room", async ({
    skip,
  }) => {
    const root = tinyDisk();
    if (root === null) return skip("this user may mount no file system");
    const store = await openFolderStore(root, null);
    await store.ping();
    await store.write("a", bytes(100_000), description, never);
    const full = await faultOf(store.write("b", bytes(400_000), description, never));
    expect(full).toMatchObject(unavailable);
    expect(readdirSync(join(root, "unfinished"))).toEqual([]);
    expect(await keysOf(store)).toEqual(["a"]);
    writeFileSync(join(root, "filler"), Buffer.alloc(100_000));
    try {
      for (let size = 64_000; size > 0; size = Math.floor(size / 2))
        for (;;) writeFileSync(join(root, "filler"), Buffer.alloc(size), { flag: "a" });
    } catch {
      // Nothing more fits.
    }
    expect(await faultOf(fillingUntilItFails(store, root))).toMatchObject(unavailable);
    rmSync(join(root, "filler"));
    await store.ping();
    await store.write("b", bytes(50_000), description, never);
    expect((await store.head("b"))?.size).toBe(50_000);
  });

  test("that is read-only says so, and still reads", async ({ skip }) => {
    const root = tinyDisk();
    if (root === null) return skip("this user may mount no file system");
    const store = await openFolderStore(root, null);
    await store.write("a", bytes(10), description, never);
    spawnSync("mount", ["-o", "remount,ro", root]);
    for (const call of [
      () => store.write("b", bytes(10), description, never),
      () => store.remove("a"),
      () => store.ping(),
    ])
      expect(await faultOf(call())).toMatchObject(unavailable);
    expect((await store.head("a"))?.size).toBe(10);
    spawnSync("mount", ["-o", "remount,rw", root]);
    await store.ping();
  });

  test.each(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"])(
    "%s of the file system is 503",
    async (code) => {
      const root = mkdtempSync(join(tmpdir(), "opwright-faulty-"));
      ended.push(() => rmSync(root, { recursive: true, force: true }));
      const store = await openFolderStore(root, null);
      async function* failing(): AsyncGenerator<Buffer> {
        yield Buffer.from("x");
        throw Object.assign(new Error(code), { code, syscall: "write" });
      }
      const fault = await faultOf(store.write("a", failing(), description, never));
      expect(fault).toMatchObject(unavailable);
      expect(readdirSync(join(root, "unfinished"))).toEqual([]);
    },
  );

  test("that cannot be made yet ends no start, and is made once it can be", async () => {
    const parent = mkdtempSync(join(tmpdir(), "opwright-absent-"));
    ended.push(() => rmSync(parent, { recursive: true, force: true }));
    const at = join(parent, "mount");
    writeFileSync(at, "a file where a folder should be");
    const store = await openFolderStore(join(at, "objects"), null);
    for (const call of [() => store.ping(), () => store.write("a", bytes(10), description, never)])
      expect(await faultOf(call())).toMatchObject(unavailable);
    rmSync(at);
    mkdirSync(at);
    await store.ping();
    await store.write("a", bytes(10), description, never);
    rmSync(at, { recursive: true });
    // A mount that goes away later is not written around.
    expect(await faultOf(store.ping())).toMatchObject(unavailable);
  });
});

/** Pings while the last free bytes of a full disk are taken. */
async function fillingUntilItFails(store: ObjectStore, root: string): Promise<void> {
  for (let file = 0; file < 100; file += 1) {
    await store.ping();
    writeFileSync(join(root, "filler"), Buffer.alloc(1), { flag: "a" });
  }
}
