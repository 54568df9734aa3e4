// The client where others fail it: who is signed in changes under way, handlers and stores throw, lines end at bad moments.
import type { AddressInfo } from "node:net";
import { io } from "socket.io-client";
import { WebSocket, WebSocketServer } from "ws";
import { afterAll, describe, expect, test, vi } from "vitest";
import {
  ApiError,
  authn,
  createClient,
  files,
  tasks,
  upload,
  type Tokens,
} from "../../../generated/client/index.js";
import {
  connect,
  shareConnection,
  socketIo,
  webSocket,
  type Dial,
  type LiveOptions,
  type MakeSocket,
  type Receiver,
  type Transport,
} from "../../../generated/client/realtime.js";
import { tabLocks, withTabLocks } from "../../support/tab-locks.js";

type Command = Parameters<ReturnType<Transport["open"]>["command"]>[0];

const sleep = (millis: number): Promise<void> => new Promise((go) => setTimeout(go, millis));
let serial = 0;

/** A token of somebody's, that lasts so many seconds by the service's clock. */
function jwt(sub: string, seconds = 900): string {
  const exp = Math.floor(Date.now() / 1_000) + seconds;
  const claims = { sub, tid: "t", iat: exp - 900, exp };
  return `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${(serial += 1)}`;
}
const subjectOf = (token: string | null): string =>
  token === null
    ? ""
    : (
        JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
          sub: string;
        }
      ).sub;

/** What a browser keeps. */
function storage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

const json = (body: unknown, status = 200): Response => Response.json(body, { status });
const unauthenticated = (): Response => json({ code: "core.authentication", detail: "no" }, 401);

/** A client whose tokens and answers are the test's. */
function clientOf(
  answer: (request: Request) => Response | Promise<Response>,
  tokens: Tokens | null = null,
) {
  const held = { tokens, fails: 0 };
  const client = createClient({
    baseUrl: "http://service.test/api",
    fetch: async (input, init) => answer(new Request(input, init)),
    tokens: {
      caller: () => subjectOf(held.tokens?.access_token ?? null),
      get() {
        if (held.fails-- > 0) throw new Error("the store is busy");
        return held.tokens;
      },
      set: (next) => void (held.tokens = next),
    },
  });
  return { client, held };
}

describe("who is signed in", () => {
  const of = (sub: string): Tokens => ({ access_token: jwt(sub), refresh_token: `of ${sub}` });

  test.each([
    ["in as somebody else", of("ben")],
    ["out", null],
  ])("stays so where they sign %s while a refresh is under way", async (_how, next) => {
    const sent: string[] = [];
    const { client, held } = clientOf(async (request) => {
      sent.push(
        `${new URL(request.url).pathname} ${subjectOf(request.headers.get("authorization"))}`,
      );
      if (!request.url.endsWith("/auth/refresh")) return unauthenticated();
      await sleep(20);
      return json(of("ann"));
    }, of("ann"));
    const call = tasks.create(client, { title: "hers", project: "p" }).settled();
    await sleep(5);
    held.tokens = next;
    expect(await call).toMatchObject({ ok: false, error: { code: "core.authentication" } });
    expect(held.tokens).toBe(next);
    // What she began is not sent in his name.
    expect(sent).toEqual(["/api/tasks ann", "/api/auth/refresh "]);
  });

  test("is forgotten where a refresh is refused, and not where a gateway refuses it", async () => {
    for (const [status, code, isForgotten] of [
      [401, "core.authentication", true],
      [403, "core.permission", false],
      [503, "service_draining", false],
    ] as const) {
      const { client, held } = clientOf(
        ({ url }) => (url.endsWith("/auth/refresh") ? json({ code }, status) : unauthenticated()),
        of("ann"),
      );
      // Who is still signed in is not told to sign in.
      expect(await tasks.get(client, { id: "1" }).settled()).toMatchObject({ error: { code } });
      expect([status, held.tokens === null]).toEqual([status, isForgotten]);
    }
  });

  test("is renewed where the browser has locks and refuses them", async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    const locks = { request: () => Promise.reject(new DOMException("no origin", "SecurityError")) };
    Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
    try {
      const fresh = of("ann");
      const { client } = clientOf(({ url, headers }) => {
        if (url.endsWith("/auth/refresh")) return json(fresh);
        const isFresh = headers.get("authorization") === `Bearer ${fresh.access_token}`;
        return isFresh ? json({ id: "1" }) : unauthenticated();
      }, of("ann"));
      expect(await tasks.get(client, { id: "1" })).toEqual({ id: "1" });
    } finally {
      if (before === undefined) Reflect.deleteProperty(globalThis, "navigator");
      else Object.defineProperty(globalThis, "navigator", before);
    }
  });

  test("stays so where the answer to a refresh is lost", async () => {
    const fresh = of("ann");
    let refreshes = 0;
    const { client, held } = clientOf(async ({ url, headers }) => {
      if (url.endsWith("/auth/refresh")) {
        refreshes += 1;
        if (refreshes === 1) throw new TypeError("the connection was reset");
        return json(fresh);
      }
      const isFresh = headers.get("authorization") === `Bearer ${fresh.access_token}`;
      return isFresh ? json({ id: "1" }) : unauthenticated();
    }, of("ann"));
    expect((await tasks.get(client, { id: "1" }).settled()).ok).toBe(true);
    expect([refreshes, held.tokens]).toEqual([2, fresh]);
  });

  test("is no matter to who signs in: a wrong password is sent once, without a token", async () => {
    const sent: string[] = [];
    const { client } = clientOf(({ url, headers }) => {
      sent.push(`${new URL(url).pathname} ${headers.get("authorization")}`);
      return unauthenticated();
    }, of("ann"));
    await authn.passwordLogin(client, { login: "ann", password: "wrong" }).settled();
    expect(sent).toEqual(["/api/auth/login null"]);
  });

  test("does not take over what nobody began", async () => {
    const sent: (string | null)[] = [];
    const { client, held } = clientOf(({ headers }) => {
      sent.push(headers.get("authorization"));
      held.tokens = of("ben");
      return json({ code: "core.unavailable", detail: "later" }, 503);
    });
    const settled = await tasks.create(client, { title: "t", project: "p" }).settled();
    expect([settled, sent]).toMatchObject([
      { ok: false, error: { code: "client.aborted" } },
      [null],
    ]);
  });

  test("is asked for no longer than a call may take", async () => {
    // Whoever waited for it would have its answer.
    const { client } = clientOf(async ({ url }) => {
      if (url.endsWith("/auth/refresh")) await sleep(2_000);
      return unauthenticated();
    }, of("ann"));
    const settled = await tasks.get(client, { id: "1" }, { timeoutMillis: 100 }).settled();
    expect(settled).toMatchObject({ ok: false, error: { code: "client.timeout" } });
  });
});

describe("a path", () => {
  test.each(["", ".", "..", undefined])("is not made of %s", async (id) => {
    const sent: string[] = [];
    const { client } = clientOf(({ url }) => {
      sent.push(url);
      return json({});
    });
    const settled = await tasks.get(client, { id: id as string }).settled();
    expect(settled).toMatchObject({ ok: false, error: { code: "client.invalid" } });
    expect(sent).toEqual([]);
  });

  test("of segments has none that leads elsewhere, and keeps those that look odd", async () => {
    const sent: string[] = [];
    const { client } = clientOf(({ url }) => {
      sent.push(url);
      return new Response(null, { status: 204 });
    });
    for (const key of ["../tasks/1", "a/../../principals/7", "a//b", "/a", "a/."])
      expect((await files.delete(client, { key }).settled()).ok).toBe(false);
    await files.delete(client, { key: "ä b/..c/%2e%2e?x#y" });
    expect(sent).toEqual(["http://service.test/api/files/%C3%A4%20b/..c/%252e%252e%3Fx%23y"]);
  });
});

test("a service that asks for more patience than a call has is told of at once", async () => {
  for (const later of ["45", new Date(Date.now() + 45_000).toUTCString()]) {
    let calls = 0;
    const { client } = clientOf(() => {
      calls += 1;
      const headers = { "retry-after": later, "x-error-code": "core.throttled" };
      return new Response(null, { status: 429, headers });
    }, null);
    const settled = await tasks.get(client, { id: "1" }).settled();
    expect(settled).toMatchObject({ error: { code: "core.throttled" } });
    expect(calls).toBe(1);
  }
});

test("an error without a body has its code from the header", async () => {
  const headers = { "x-error-code": "core.not_found" };
  const { client } = clientOf(() => new Response(null, { status: 404, headers }));
  const settled = await files.head(client, { key: "a" }).settled();
  expect(settled).toMatchObject({ ok: false, error: { code: "core.not_found", status: 404 } });
});

test("a call may take as long as it likes", async () => {
  const { client } = clientOf(async () => {
    await sleep(20);
    return json({ id: "1" });
  });
  const options = { timeoutMillis: Number.POSITIVE_INFINITY };
  expect((await tasks.get(client, { id: "1" }, options).settled()).ok).toBe(true);
});

test("an upload that was cut otherwise begins anew, in a session of its own", async () => {
  const [small, large] = [5, 8].map((size) => size * 1024);
  const file = new Blob([new Uint8Array(13 * 1024)]);
  const sent: string[] = [];
  const { client } = clientOf(async ({ url, method }) => {
    const [, , ...path] = new URL(url).pathname.split("/");
    const at = path.join("/");
    // The earlier try has sent the second of three parts alone, which is as long as the last of two.
    if (at === "files/uploads/parts")
      return json({ parts: [{ part_number: 2, etag: "old", size: small }] });
    if (at === "files/uploads") return json({ ...session, upload_id: "another" });
    if (at === "files/uploads/parts/url")
      return json({ url: "http://store.test/part", method: "PUT", headers: {} });
    if (method === "PUT") sent.push(at);
    return method === "PUT"
      ? new Response(null, { headers: { etag: `new ${sent.length}` } })
      : json({ key: "a" });
  });
  const session = { key: "a", upload_id: "u", expires_at: "", token: "t" };
  const told: string[] = [];
  await upload(client, files, file, {
    key: "a",
    session,
    partBytes: large ?? 0,
    parallel: 1,
    onSession: ({ upload_id }) => void told.push(upload_id),
  });
  expect([sent.length, told]).toEqual([2, ["another"]]);
});

test("an upload does not go on in the session of another file", async () => {
  const { client } = clientOf(() => json({}, 500));
  const session = { key: "a", upload_id: "u", expires_at: "", token: "t" };
  const other = upload(client, files, new Blob(["b"]), { key: "b", session });
  await expect(other).rejects.toMatchObject({ code: "client.upload_refused" });
});

interface FakeLine {
  readonly dial: Dial;
  readonly receiver: Receiver;
  readonly acks: string[];
  isClosed: boolean;
}

function fakeTransport(
  begin: (line: FakeLine) => void = ({ receiver }) => receiver.opened(),
  command: (line: FakeLine, command: Command) => Promise<unknown> = async () => ({}),
) {
  const lines: FakeLine[] = [];
  const transport: Transport = {
    open(dial, receiver) {
      const line: FakeLine = { dial, receiver, acks: [], isClosed: false };
      lines.push(line);
      setTimeout(() => line.isClosed || begin(line), 5);
      return {
        acknowledge: (id) => void line.acks.push(id),
        command: (asked) => command(line, asked),
        reauthenticate: async () => true,
        close: () => void (line.isClosed = true),
      };
    },
  };
  const last = (): FakeLine => {
    const line = lines.at(-1);
    if (line === undefined) throw new Error("there is no line");
    return line;
  };
  const send = (...ids: readonly string[]): void => {
    for (const id of ids) last().receiver.signal("task.assigned", id, {});
  };
  return { transport, lines, last, send };
}

const lives: { close(): void }[] = [];
afterAll(() => {
  for (const live of lives) live.close();
});

function live(
  fake: ReturnType<typeof fakeTransport>,
  options: Partial<LiveOptions> = {},
  client = clientOf(() => json({}, 500)).client,
) {
  const made = connect(client, { transport: fake.transport, store: storage(), ...options });
  lives.push(made);
  return made;
}

describe("a connection", () => {
  test("keeps what comes before somebody listens, and lets the rest be once it is closed", async () => {
    const fake = fakeTransport();
    const one = live(fake);
    await one.opened();
    fake.send("1", "2");
    await sleep(20);
    const handled: (string | null)[] = [];
    one.listen(async ({ id }) => {
      handled.push(id);
      await sleep(20);
    });
    await expect.poll(() => handled).toEqual(["1", "2"]);
    fake.send("3", "4", "5");
    one.close();
    await sleep(100);
    expect(handled.length).toBeLessThanOrEqual(3);
    expect(fake.last().acks.every((id) => ["1", "2"].includes(id))).toBe(true);
  });

  test("keeps for the next who listens what nobody heard", async () => {
    const fake = fakeTransport();
    const one = live(fake);
    await one.opened();
    const handled: (string | null)[] = [];
    const leave = one.listen(({ id }) => {
      handled.push(id);
      leave();
    });
    fake.send("1", "2", "3");
    await sleep(50);
    expect(handled).toEqual(["1"]);
    one.listen(({ id }) => void handled.push(id));
    await expect.poll(() => handled).toEqual(["1", "2", "3"]);
    await expect.poll(() => fake.last().acks, { timeout: 3_000 }).toEqual(["3"]);
  });

  test("holds up no handler for another one that is slow, and acknowledges what all have handled", async () => {
    const fake = fakeTransport();
    const one = live(fake);
    await one.opened();
    let go = (): void => undefined;
    const slow: (string | null)[] = [];
    const quick: (string | null)[] = [];
    one.listen(async ({ id }) => {
      slow.push(id);
      if (id === "2") await new Promise<void>((resolve) => (go = resolve));
    });
    one.listen(({ id }) => void quick.push(id));
    fake.send("1", "2", "3", "4");
    await expect.poll(() => quick).toEqual(["1", "2", "3", "4"]);
    expect(slow).toEqual(["1", "2"]);
    await expect.poll(() => fake.last().acks, { timeout: 3_000 }).toEqual(["1"]);
    go();
    await expect.poll(() => slow).toEqual(["1", "2", "3", "4"]);
    await expect.poll(() => fake.last().acks, { timeout: 3_000 }).toEqual(["1", "4"]);
  });

  test("lets signals pass a handler by that is far behind, says so, and has the kept ones sent anew", async () => {
    const count = 12_000;
    const stream = async ({ dial, receiver }: FakeLine): Promise<void> => {
      receiver.opened();
      for (let id = Number(dial.lastEventId ?? 0) + 1; id <= count; id += 1) {
        receiver.signal("task.assigned", String(id), {});
        // As they come over a network.
        if (id % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      receiver.signal("task.typing", null, {});
    };
    const fake = fakeTransport((line) => void stream(line));
    const errors: unknown[] = [];
    const one = live(fake, { onError: (error) => errors.push(error) });
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const slow: (string | null)[] = [];
    const quick: (string | null)[] = [];
    one.listen(async ({ id }) => {
      await held;
      slow.push(id);
    });
    one.listen(({ id }) => void quick.push(id));
    await expect.poll(() => quick.length).toBe(10_001);
    expect(errors).toMatchObject([{ code: "client.lagging" }]);
    go();
    // What is not kept passed the slow one by.
    const kept = Array.from({ length: count }, (_, index) => String(index + 1));
    await expect.poll(() => quick.filter((id) => id !== null)).toEqual(kept);
    await expect.poll(() => slow.filter((id) => id !== null)).toEqual(kept);
    expect(fake.lines.map(({ dial }) => dial.lastEventId)).toEqual([null, "10000"]);
    const passing = (): number[] =>
      [slow, quick].map((all) => all.filter((id) => id === null).length);
    await expect.poll(passing).toEqual([1, 2]);
  });

  test("has room for commands where others were given up", async () => {
    const one = live(fakeTransport(() => undefined));
    const aborted = new AbortController();
    const gone = Array.from({ length: 1_000 }, () =>
      one.command("task.comment", { task: "t", text: "x" }, { signal: aborted.signal }).settled(),
    );
    aborted.abort();
    await Promise.all(gone);
    const next = one.command("task.comment", { task: "t", text: "x" }).settled();
    expect(await Promise.race([next, sleep(50)])).toBeUndefined();
  });

  test("holds only so much that nobody hears, and has the rest sent anew", async () => {
    const fake = fakeTransport(({ dial, receiver }) => {
      receiver.opened();
      for (let id = Number(dial.lastEventId ?? 0) + 1; id <= 3_000; id += 1) {
        receiver.signal("task.typing", null, {});
        receiver.signal("task.assigned", String(id), {});
      }
    });
    const one = live(fake);
    await one.opened();
    await sleep(20);
    const handled: string[] = [];
    one.listen(({ id }) => id !== null && handled.push(id));
    const all = Array.from({ length: 3_000 }, (_, index) => String(index + 1));
    await expect.poll(() => handled.length).toBe(3_000);
    expect(handled).toEqual(all);
    expect(fake.lines.map(({ dial }) => dial.lastEventId)).toEqual([null, "500"]);
  });

  test("sends commands again in the order in which they were asked for", async () => {
    const texts: unknown[] = [];
    const fake = fakeTransport(undefined, async ({ receiver }, { payload }) => {
      if (fake.lines.length > 1) return texts.push((payload as { text: string }).text);
      await sleep(20);
      receiver.ended({});
      throw new ApiError("client.network", "gone");
    });
    const one = live(fake);
    const asked = ["1", "2", "3"].map((text) => one.command("task.comment", { task: "t", text }));
    await Promise.all(asked);
    expect(texts).toEqual(["1", "2", "3"]);
  });

  test("takes nothing for handled that was only on its way when somebody else signed in", async () => {
    const fake = fakeTransport();
    const { client, held } = clientOf(() => json({}, 500), { access_token: jwt("ann") });
    const one = live(fake, {}, client);
    await one.opened();
    fake.send("1");
    for (const name of ["ben", "ann"]) {
      held.tokens = { access_token: jwt(name) };
      one.setTopics([name]);
      await one.opened();
    }
    expect(fake.lines.map(({ dial }) => dial.lastEventId)).toEqual([null, null, null]);
  });

  test("sends nothing in the name of who has signed in since", async () => {
    const sent: string[] = [];
    const fake = fakeTransport(
      ({ dial, receiver }) => subjectOf(dial.token) === "ben" && receiver.opened(),
      async ({ dial }) => sent.push(subjectOf(dial.token)),
    );
    const { client, held } = clientOf(() => json({}, 500), { access_token: jwt("ann") });
    const one = live(fake, {}, client);
    const hers = one.command("task.comment", { task: "t", text: "hers" }).settled();
    await expect.poll(() => fake.lines.length).toBe(1);
    held.tokens = { access_token: jwt("ben") };
    one.setTopics(["his"]);
    expect(await hers).toMatchObject({ error: { code: "client.aborted" } });
    await one.command("task.comment", { task: "t", text: "his" });
    expect(sent).toEqual(["ben"]);
  });

  test("tells of a payload that cannot travel by a code", async () => {
    const fake = fakeTransport(undefined, async (_line, { payload }) => JSON.stringify(payload));
    const text = 1n as unknown as string;
    const asked = live(fake).command("task.comment", { task: "t", text });
    expect(await asked.settled()).toMatchObject({ error: { code: "client.invalid" } });
  });

  test("goes on behind what it has taken, however far its handlers are", async () => {
    const fake = fakeTransport(({ dial, receiver }) => {
      receiver.opened();
      for (let id = Number(dial.lastEventId ?? 0) + 1; id <= 5_000; id += 1)
        receiver.signal("task.assigned", String(id), {});
    });
    const handled: number[] = [];
    const one = live(fake);
    one.listen(async ({ id }) => {
      if (handled.length % 100 === 0) await sleep(0);
      handled.push(Number(id));
    });
    await one.opened();
    one.setTopics(["another"]);
    await expect.poll(() => handled.length, { timeout: 10_000 }).toBe(5_000);
    expect(handled).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
    expect(fake.last().dial.lastEventId).toBe("5000");
  });

  test("goes on where the application's own code throws", async () => {
    const fake = fakeTransport();
    const full = {
      getItem: () => null,
      setItem: () => {
        throw new Error("full");
      },
    };
    const broken = (): never => {
      throw new Error("broken");
    };
    const one = live(fake, { store: full, onError: broken, onStatus: broken });
    const handled: (string | null)[] = [];
    let fails = 1;
    one.listen(({ id }) => {
      if (fails-- > 0) throw new Error("once");
      handled.push(id);
    });
    await one.opened();
    fake.last().receiver.signal("task.typing", null, {});
    fake.send("1", "2");
    await expect.poll(() => handled).toEqual(["1", "2"]);
    await expect.poll(() => fake.last().acks, { timeout: 3_000 }).toEqual(["2"]);
  });

  test("waits where the application's tokens cannot be had, and comes back", async () => {
    const fake = fakeTransport();
    let isBroken = false;
    const client = createClient({
      baseUrl: "http://service.test",
      fetch: async () => unauthenticated(),
      tokens: {
        caller: () => "ann",
        get() {
          if (isBroken) throw new Error("no store");
          return { access_token: jwt("ann"), refresh_token: "r" };
        },
        set() {},
      },
    });
    const one = live(fake, { onError() {} }, client);
    await one.opened();
    isBroken = true;
    fake.last().receiver.ended({ code: "core.authentication" });
    await expect.poll(() => one.status).toBe("waiting");
    isBroken = false;
    await expect.poll(() => one.status, { timeout: 5_000 }).toBe("open");
  });

  test.each<[string, Transport]>([
    ["WebSocket", webSocket((url, protocols) => new WebSocket(url, protocols))],
    ["Socket.IO", socketIo(io)],
  ])(
    "over %s comes back at once from a service that ends before its first word",
    async (_, transport) => {
      const server = new WebSocketServer({ port: 0 });
      let came = 0;
      server.on("connection", (socket) => {
        came += 1;
        socket.terminate();
      });
      const { port } = server.address() as AddressInfo;
      const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
      const one = connect(client, { transport, store: storage() });
      lives.push(one);
      // Socket.IO's own patience is 20 seconds.
      await expect.poll(() => came, { timeout: 10_000 }).toBeGreaterThan(2);
      one.close();
      server.close();
    },
  );

  test("over WebSocket that leads nowhere any more is made anew, and one that answers is not", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const sockets: { frames: string[]; isClosed: boolean; answers: boolean }[] = [];
      const make: MakeSocket = () => {
        const own = { frames: [] as string[], isClosed: false, answers: true };
        const listeners = new Map<string, (event: never) => void>();
        sockets.push(own);
        setTimeout(() => listeners.get("open")?.(undefined as never), 1);
        return {
          send(text) {
            const { cid, type } = JSON.parse(text) as { cid: string; type: string };
            own.frames.push(type);
            const answer = { data: JSON.stringify({ type: "ack", cid, data: {} }) };
            if (own.answers) setTimeout(() => listeners.get("message")?.(answer as never), 1);
          },
          close: () => void (own.isClosed = true),
          addEventListener: (type: string, listener: (event: never) => void) =>
            void listeners.set(type, listener),
        };
      };
      const { client } = clientOf(() => json({}, 500), { access_token: jwt("ann") });
      lives.push(connect(client, { transport: webSocket(make), store: storage() }));
      await vi.advanceTimersByTimeAsync(100);
      const [first] = sockets;
      // Nothing has been said for a while: it is asked, answers, and stays.
      await vi.advanceTimersByTimeAsync(70_000);
      expect(first?.frames).toEqual(["realtime.reauth", "realtime.reauth"]);
      expect(sockets.length).toBe(1);
      if (first !== undefined) first.answers = false;
      await vi.advanceTimersByTimeAsync(70_000);
      expect(first?.isClosed).toBe(true);
      expect(sockets.length).toBe(2);
      expect(sockets[1]?.frames[0]).toBe("realtime.reauth");
    } finally {
      vi.useRealTimers();
    }
  });

  test("keeps its pause before another try while topics are set", async () => {
    const fake = fakeTransport(({ receiver }) => receiver.ended({}));
    const one = live(fake);
    await expect.poll(() => one.status).toBe("waiting");
    for (let set = 0; set < 20; set += 1) {
      one.setTopics([`topic:${set}`]);
      await sleep(10);
    }
    expect(fake.lines).toHaveLength(1);
    await expect.poll(() => fake.lines[1]?.dial.topics, { timeout: 5_000 }).toEqual(["topic:19"]);
  });

  test("stays closed, whenever it is closed", async () => {
    const slow = { now: false };
    const tokens = { access_token: jwt("ann"), refresh_token: "r" };
    const client = createClient({
      baseUrl: "http://service.test",
      fetch: async () => {
        throw new TypeError("offline");
      },
      tokens: {
        caller: () => subjectOf(tokens?.access_token ?? null),
        get: async () => (slow.now ? sleep(20).then(() => tokens) : tokens),
        set() {},
      },
    });
    const fake = fakeTransport();
    const one = live(fake, {}, client);
    await one.opened();
    slow.now = true;
    fake.last().receiver.ended({ code: "core.authentication" });
    await sleep(30);
    one.close();
    const within = fakeTransport();
    const other: { close?: () => void } = {};
    const two = live(
      within,
      { onStatus: (status) => status === "open" && other.close?.() },
      client,
    );
    other.close = () => two.close();
    await sleep(1_500);
    expect([one.status, fake.lines.length, two.status, within.lines.length]).toEqual([
      "closed",
      1,
      "closed",
      1,
    ]);
  });

  test("renews no more often than a clock that is wrong makes it", async () => {
    let refreshes = 0;
    const { client } = clientOf(
      () => {
        refreshes += 1;
        return json({ access_token: jwt("ann", -300), refresh_token: "r" });
      },
      { access_token: jwt("ann", -300), refresh_token: "r" },
    );
    const one = live(fakeTransport(), {}, client);
    await one.opened();
    await sleep(2_500);
    expect(refreshes).toBeLessThanOrEqual(2);
  });

  test("gives a command up in its time, and leaves nothing on its signal", async () => {
    let sent = 0;
    const failing: Transport = {
      open(_dial, receiver) {
        setTimeout(() => receiver.opened(), 5);
        return {
          acknowledge() {},
          async command() {
            sent += 1;
            throw new ApiError("client.network", "no answer");
          },
          reauthenticate: async () => true,
          close() {},
        };
      },
    };
    const one = live({ ...fakeTransport(), transport: failing });
    const settled = await one
      .command("task.comment", { task: "t", text: "x" }, { timeoutMillis: 600 })
      .settled();
    expect(settled).toMatchObject({ ok: false, error: { code: "client.timeout" } });
    expect(sent).toBeLessThan(10);
  });
});

/** A service with a mailbox of signals "1", "2" and so on, of which pages of two are read. */
const mailboxOf =
  (count: number) =>
  ({ url }: Request): Response => {
    const { pathname, searchParams } = new URL(url);
    if (!pathname.endsWith("/realtime/history")) return json({}, 500);
    const after = Number(searchParams.get("after") ?? 0);
    const ids = Array.from({ length: count }, (_, index) => String(index + 1));
    const signals = ids
      .slice(after, after + 2)
      .map((id) => ({ event: "task.assigned", id, data: {} }));
    return json({ signals, gap: null, has_more: after + 2 < count });
  };

describe("tabs that share", () => {
  const locks = tabLocks();
  afterAll(withTabLocks(locks));

  /** A browser: tabs with one storage and one caller. */
  function browser(
    begin?: (line: FakeLine) => void,
    command?: (line: FakeLine, command: Command) => Promise<unknown>,
    answer: (request: Request) => Response = mailboxOf(0),
  ) {
    const fake = fakeTransport(begin, command);
    const store = storage();
    const { client, held: tokens } = clientOf(answer, { access_token: jwt("ann") });
    const baseUrl = `http://browser${(serial += 1)}.test`;
    const tab = (topics: readonly string[] = []) => {
      const statuses: string[] = [];
      const made = connect(
        { ...client, baseUrl },
        {
          transport: shareConnection(fake.transport),
          store,
          topics,
          onError() {},
          onStatus: (status, error) =>
            void statuses.push(error === null ? status : `${status} ${error.code}`),
        },
      );
      lives.push(made);
      return { live: made, statuses };
    };
    return { ...fake, store, tokens, tab };
  }

  test("end one that asks for what is not granted, and no other", async () => {
    const code = "realtime_topics_unauthorized";
    const { tab, last } = browser(({ dial, receiver }) =>
      dial.topics.includes("secret") ? receiver.ended({ code, isFinal: true }) : receiver.opened(),
    );
    const first = tab(["mine"]);
    await first.live.opened();
    // Both at once: which of them it is has to be found out.
    const second = tab(["ours"]);
    const third = tab(["secret"]);
    await second.live.opened();
    await expect.poll(() => third.live.status).toBe("closed");
    expect(third.statuses).toEqual([`closed ${code}`]);
    await expect.poll(() => [first.live.status, second.live.status]).toEqual(["open", "open"]);
    expect([...last().dial.topics].sort()).toEqual(["mine", "ours"]);
    // The one that leads may be the one.
    first.live.setTopics(["secret"]);
    await expect.poll(() => first.live.status).toBe("closed");
    await expect.poll(() => second.live.status, { timeout: 5_000 }).toBe("open");
  });

  test("end one whose topics are granted no longer, and not those that join", async () => {
    const code = "realtime_topics_unauthorized";
    const gone: string[] = [];
    const { tab } = browser(({ dial, receiver }) =>
      dial.topics.some((topic) => gone.includes(topic))
        ? receiver.ended({ code, isFinal: true })
        : receiver.opened(),
    );
    const first = tab();
    await first.live.opened();
    const second = tab(["was"]);
    await second.live.opened();
    gone.push("was");
    const third = tab(["is"]);
    await third.live.opened();
    await expect.poll(() => second.statuses.at(-1)).toBe(`closed ${code}`);
    expect([first.live.status, third.live.status]).toEqual(["open", "open"]);
  });

  test("are told apart where several want to hear the same, and one leaves before it is asked", async () => {
    const code = "realtime_topics_unauthorized";
    const { tab } = browser(({ dial, receiver }) =>
      dial.topics.includes("secret") ? receiver.ended({ code, isFinal: true }) : receiver.opened(),
    );
    const first = tab();
    await first.live.opened();
    const [second, third, fourth, fifth, sixth] = [["a"], ["a"], ["b"], ["secret"], ["secret"]].map(
      tab,
    );
    await sleep(60);
    sixth?.live.close();
    await Promise.all([second, third, fourth].map((one) => one?.live.opened()));
    await expect.poll(() => fifth?.statuses.at(-1)).toBe(`closed ${code}`);
    expect([first, second, third, fourth].map((one) => one?.live.status)).toEqual(
      Array.from({ length: 4 }, () => "open"),
    );
  });

  test("come back where the store of tokens fails once", async () => {
    const { tab, tokens } = browser();
    const first = tab();
    await first.live.opened();
    tokens.fails = 1;
    const second = tab(["a"]);
    await second.live.opened();
    await expect.poll(() => first.live.status, { timeout: 5_000 }).toBe("open");
  });

  test("that join while a line is on its way are told apart as well", async () => {
    const code = "realtime_topics_unauthorized";
    const { tab, lines } = browser(({ dial, receiver }) =>
      dial.topics.includes("secret") ? receiver.ended({ code, isFinal: true }) : receiver.opened(),
    );
    const first = tab(["mine"]);
    await first.live.opened();
    const second = tab(["ours"]);
    await expect.poll(() => lines.length).toBe(2);
    const third = tab(["secret"]);
    await second.live.opened();
    await expect.poll(() => third.live.status).toBe("closed");
    await sleep(200);
    expect([first.live.status, second.live.status]).toEqual(["open", "open"]);
  });

  test("hear each signal in each of them, also where a handler fails in one", async () => {
    const { tab, send, lines, store } = browser();
    const first = tab();
    const heard: (string | null)[][] = [[], []];
    first.live.listen(({ id }) => heard[0]?.push(id));
    await first.live.opened();
    const second = tab();
    let fails = 1;
    second.live.listen(({ id }) => {
      if (id === "2" && fails-- > 0) throw new Error("not now");
      heard[1]?.push(id);
    });
    await second.live.opened();
    send("1", "2", "3");
    await expect
      .poll(() => heard, { timeout: 5_000 })
      .toEqual([
        ["1", "2", "3"],
        ["1", "2", "3"],
      ]);
    expect(lines.length).toBe(1);
    await expect.poll(() => lines[0]?.acks, { timeout: 3_000 }).toEqual(["3"]);
    expect([...store.kept.values()]).toContain("3");
  });

  test("hear what others heard while they were on no line", async () => {
    const { tab, send, lines, tokens } = browser(undefined, undefined, mailboxOf(4));
    const first = tab();
    await first.live.opened();
    const heard: (string | null)[][] = [[], []];
    first.live.listen(({ id }) => heard[0]?.push(id));
    const second = tab();
    await second.live.opened();
    second.live.listen(({ id }) => heard[1]?.push(id));
    for (const before of [[], ["5"]]) {
      // It comes back later than the others: its tokens cannot be had at first.
      tokens.fails = 2;
      second.live.setTopics([]);
      await expect.poll(() => second.live.status).toBe("waiting");
      if (before.length === 0) send("1", "2", "3", "4");
      await expect.poll(() => second.live.status, { timeout: 5_000 }).toBe("open");
      send("5");
      const all = ["1", "2", "3", "4", "5"];
      await expect.poll(() => heard, { timeout: 5_000 }).toEqual([all, all]);
    }
    expect(lines.length).toBe(1);
  });

  test("go on where the service does not know their place any more", async () => {
    const { tab, send, tokens } = browser(undefined, undefined, ({ url }) => {
      if (!url.includes("/realtime/history")) return json({}, 500);
      if (url.includes("after=")) return json({ code: "core.validation" }, 422);
      const signals = [{ event: "task.assigned", id: "2", data: {} }];
      return json({ signals, gap: null, has_more: false });
    });
    const first = tab();
    await first.live.opened();
    const second = tab();
    await second.live.opened();
    const heard: (string | null)[] = [];
    second.live.listen(({ id }) => heard.push(id));
    send("1");
    await expect.poll(() => heard).toEqual(["1"]);
    tokens.fails = 2;
    second.live.setTopics([]);
    await expect.poll(() => second.live.status).toBe("waiting");
    send("2");
    await expect.poll(() => second.live.status, { timeout: 5_000 }).toBe("open");
    await sleep(50);
    send("3");
    await expect.poll(() => heard).toEqual(["1", "2", "3"]);
    expect(second.statuses.filter((status) => status === "waiting")).toHaveLength(1);
  });

  test("hear what is sent while they join, behind what they missed", async () => {
    const { tab, send, tokens } = browser(undefined, undefined, mailboxOf(3));
    const first = tab();
    await first.live.opened();
    const second = tab();
    await second.live.opened();
    const heard: (string | null)[] = [];
    second.live.listen(({ id }) => heard.push(id));
    send("1");
    await expect.poll(() => heard).toEqual(["1"]);
    tokens.fails = 2;
    // What it asks for now takes another line.
    second.live.setTopics(["another"]);
    await expect.poll(() => second.live.status).toBe("waiting");
    send("2");
    await expect.poll(() => second.live.status, { timeout: 5_000, interval: 1 }).toBe("connecting");
    await sleep(10);
    send("3");
    await second.live.opened();
    await expect.poll(() => heard).toEqual(["1", "2", "3"]);
  });

  test("hear nothing again where one that leads is behind them", async () => {
    const { tab, last, store } = browser(undefined, undefined, mailboxOf(4));
    const keep = (id: string): void => {
      for (const key of store.kept.keys()) if (key.includes(" last ")) store.setItem(key, id);
    };
    const before = tab();
    before.live.listen(() => undefined);
    await before.live.opened();
    last().receiver.signal("task.assigned", "1", {});
    await expect.poll(() => [...store.kept.values()]).toContain("1");
    before.live.close();
    const first = tab();
    await first.live.opened();
    // As a tab has it that handled more than the other before both were loaded anew.
    keep("4");
    const second = tab();
    const heard: (string | null)[] = [];
    second.live.listen(({ id }) => heard.push(id));
    await second.live.opened();
    await sleep(50);
    for (const id of ["2", "3", "4", "5"]) last().receiver.signal("task.assigned", id, {});
    await expect.poll(() => heard).toEqual(["5"]);
  });

  test("keep the line until the commands on it are answered", async () => {
    const { tab, lines } = browser(undefined, async (line) => {
      await sleep(300);
      if (line.isClosed) throw new ApiError("client.network", "gone");
      return {};
    });
    const first = tab();
    await first.live.opened();
    const asked = first.live.command("task.comment", { task: "t", text: "x" }).settled();
    const second = tab(["another"]);
    await second.live.opened();
    expect(await asked).toMatchObject({ ok: true });
    expect(lines.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    // What JSON leaves out cannot be cloned, and need not be.
    const payload = { task: "t", text: "x", more: () => undefined };
    expect(await second.live.command("task.comment", payload).settled()).toMatchObject({
      ok: true,
    });
  });

  test("have a line each where the browser has locks and refuses them", async () => {
    const { request } = locks;
    locks.request = () => Promise.reject(new DOMException("no origin", "SecurityError"));
    try {
      const { tab } = browser();
      const first = tab();
      await first.live.opened();
      await first.live.command("task.comment", { task: "t", text: "x" });
    } finally {
      locks.request = request;
    }
  });

  test("are not told that they hear before they do", async () => {
    const { tab, lines } = browser();
    const first = tab(["a"]);
    await first.live.opened();
    const second = tab(["b"]);
    await second.live.opened();
    expect(lines.find(({ isClosed }) => !isClosed)?.dial.topics).toEqual(["a", "b"]);
  });

  test("do not lead in the name of somebody who signed in later", async () => {
    const { tab, lines, tokens } = browser();
    const first = tab();
    await first.live.opened();
    const second = tab();
    await second.live.opened();
    tokens.tokens = { access_token: jwt("ben") };
    first.live.close();
    await expect.poll(() => lines.length, { timeout: 5_000 }).toBe(2);
    const [hers, his] = lines;
    expect([subjectOf(hers?.dial.token ?? null), subjectOf(his?.dial.token ?? null)]).toEqual([
      "ann",
      "ben",
    ]);
    expect(his?.dial.lastEventId).toBe(null);
  });
});
