// The client beside peers that are no good: proxies, stores, sockets that can't be made, functions of the application that
// throw.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ApiError,
  createClient,
  tasks,
  upload,
  type UploadOptions,
} from "../../../generated/client/index.js";
import { connect, sse, webSocket, type MakeSocket } from "../../../generated/client/realtime.js";
import { readItems } from "../../../client/items.js";
import { call } from "../../../client/core.js";

const sleep = (millis: number): Promise<void> => new Promise((go) => setTimeout(go, millis));
const owner = "01890000-0000-7000-8000-000000000001";

/** A server of a test's own, and its address. */
async function peer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failed = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => "fine",
    (error: unknown) => error,
  );

describe("a call", () => {
  test("ends in its time, and by its signal, whatever `fetch` does", async () => {
    const fetch = (): Promise<Response> => new Promise(() => undefined);
    const client = createClient({ baseUrl: "http://service.test", fetch, retries: 0 });
    const late = tasks.get(client, { id: owner }, { timeoutMillis: 50 });
    expect(await failed(late)).toMatchObject({ code: "client.timeout" });
    const leaving = new AbortController();
    const given = tasks.get(client, { id: owner }, { signal: leaving.signal });
    leaving.abort();
    expect(await failed(given)).toMatchObject({ code: "client.aborted" });
  });

  test("that is refused without an envelope has the code and the id of the headers", async () => {
    const baseUrl = await peer((_request, response) => {
      const headers = { "x-error-code": "revision_mismatch", "x-request-id": "r1" };
      response.writeHead(409, { ...headers, "content-type": "text/html" }).end("<h1>Conflict</h1>");
    });
    const client = createClient({ baseUrl });
    const refusal = { code: "revision_mismatch", status: 409, requestId: "r1" };
    expect(await failed(tasks.get(client, { id: owner }))).toMatchObject(refusal);
  });

  test("to a service that isn't there has not merely run out of time", async () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:1", retries: 50 });
    const seen = await failed(tasks.get(client, { id: owner }, { timeoutMillis: 1_000 }));
    expect(seen).toMatchObject({ code: "client.network" });
  });

  test("goes on after a refresh whose refusal has broken off", async () => {
    let tokens = { access_token: "old", refresh_token: "r" };
    const baseUrl = await peer((request, response) => {
      if (request.url === "/auth/refresh")
        return response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ access_token: "new", refresh_token: "r2", expires_in: 900 }));
      if (request.headers.authorization === "Bearer new")
        return response.writeHead(200, { "content-type": "application/json" }).end("{}");
      response.writeHead(401, { "content-type": "application/json", "content-length": "1000" });
      response.write("{");
      setTimeout(() => request.socket.destroy(), 20);
      return response;
    });
    const client = createClient({
      baseUrl,
      tokens: {
        get: () => sleep(0).then(() => tokens),
        set: (next) => void (tokens = next as typeof tokens),
        caller: () => "ann",
      },
    });
    expect(await tasks.get(client, { id: owner })).toEqual({});
  });

  test("of a stream that is given up for a reason has been given up", async () => {
    const baseUrl = await peer((_request, response) => {
      response.writeHead(200, { "content-type": "application/jsonl" }).write('{"n":1}\n');
    });
    const client = createClient({ baseUrl });
    const leaving = new AbortController();
    const answer = call(
      client,
      { method: "GET", path: "/stream", repeats: "safe", isBytes: true },
      {},
      { signal: leaving.signal },
    );
    const read = async (): Promise<void> => {
      for await (const _item of readItems(answer as never))
        leaving.abort(new Error("left the page"));
    };
    expect(await failed(read())).toMatchObject({ code: "client.aborted" });
  });

  test("of a stream whose values are none is unreadable", async () => {
    const baseUrl = await peer((_request, response) => response.end("<html>\n"));
    const answer = call(
      createClient({ baseUrl }),
      { method: "GET", path: "/stream", isBytes: true },
      {},
    );
    const read = async (): Promise<void> => {
      for await (const item of readItems(answer as never)) expect(item).toBe("none");
    };
    expect(await failed(read())).toMatchObject({ code: "client.unreadable" });
  });
});

describe("an upload", () => {
  const client = createClient({ baseUrl: "http://service.test" });
  /** A storage whose parts arrive as `put` says; what was done is noted. */
  const storageOf = (
    put: (number: number) => Response | Promise<Response>,
    there: readonly { part_number: number; etag: string; size?: number }[] = [],
  ) => {
    const done: string[] = [];
    const session = { key: "k", upload_id: "u", expires_at: "2030-01-01T00:00:00Z", token: "t" };
    const storage = {
      beginUpload: async () => (done.push("begin"), session),
      presignPart: async (_client: unknown, { part_number }: { part_number: number }) => ({
        url: `http://store.test/${part_number}`,
        method: "PUT",
        headers: {},
      }),
      listParts: async () => ({ parts: there }),
      completeUpload: async (_client: unknown, { parts }: { parts: readonly unknown[] }) => {
        done.push(`complete ${parts.length}`);
        return { size: parts.length };
      },
    };
    const fetch = async (url: string): Promise<Response> => {
      const number = Number(url.split("/").at(-1));
      done.push(`put ${number}`);
      return put(number);
    };
    const run = (options: Partial<UploadOptions>): Promise<unknown> =>
      upload({ ...client, fetch: fetch as never }, storage as never, new Blob(["x".repeat(100)]), {
        key: "k",
        partBytes: 10,
        ...options,
      });
    return { done, session, run };
  };
  const arrived = (): Response => new Response(null, { headers: { etag: '"e"' } });

  test.each([
    { partBytes: 100 / 3 },
    { partBytes: 0 },
    { partBytes: -1 },
    { parallel: 0 },
    { parallel: Number.NaN },
  ])("%o is refused before anything begins", async (options) => {
    const { done, run } = storageOf(arrived);
    expect(await failed(run(options))).toMatchObject({ code: "client.invalid" });
    expect(done).toEqual([]);
  });

  test("goes on in its session whichever part is missing", async () => {
    const there = [2, 3, 9].map((part_number) => ({ part_number, etag: "e", size: 10 }));
    const { done, session, run } = storageOf(arrived, there);
    expect(await run({ session, parallel: 1 })).toEqual({ size: 10 });
    expect(done).toEqual([1, 4, 5, 6, 7, 8, 10].map((n) => `put ${n}`).concat("complete 10"));
  });

  test("sends nothing more once the application's own function has thrown", async () => {
    const { done, run } = storageOf(arrived);
    const onProgress = (sent: number): void => {
      if (sent > 0) throw new Error("set state on an unmounted component");
    };
    expect(await failed(run({ onProgress, parallel: 1 }))).toMatchObject({ message: /unmounted/ });
    await sleep(100);
    expect(done).toEqual(["begin", "put 1"]);
  });

  test("waits for a store that is busy, and names the header that CORS hides", async () => {
    let isBusy = true;
    const busy = storageOf(() => {
      const answer = isBusy ? new Response(null, { status: 429 }) : arrived();
      isBusy = false;
      return answer;
    });
    expect(await busy.run({})).toEqual({ size: 10 });
    const hidden = storageOf(() => new Response(null));
    expect(await failed(hidden.run({}))).toMatchObject({ message: /ETag/ });
  });

  test("leaves nothing on the caller's signal", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await storageOf(arrived).run({ signal });
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });
});

describe("a connection", () => {
  const statuses = async (
    listener: RequestListener,
    millis: number,
  ): Promise<readonly (readonly [string, string | undefined])[]> => {
    const seen: [string, string | undefined][] = [];
    const client = createClient({ baseUrl: await peer(listener) });
    const live = connect(client, {
      transport: sse(),
      onStatus: (status: string, error?: ApiError) => void seen.push([status, error?.code]),
    } as never);
    await sleep(millis);
    live.close();
    return seen;
  };

  test.each([404, 408])("that a proxy refuses with %d comes back", async (status) => {
    let dials = 0;
    const seen = await statuses((_request, response) => {
      dials += 1;
      response.writeHead(status, { "content-type": "text/html" }).end("default backend");
    }, 2_500);
    expect(dials).toBeGreaterThan(1);
    expect(seen.slice(0, -1).map(([one]) => one)).not.toContain("closed");
  });

  test("to a page that stands in for the service is never open", async () => {
    const seen = await statuses(
      (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      1_000,
    );
    expect(seen.map(([one]) => one)).not.toContain("open");
  });

  test("keeps to a delay of a month without being a flood", async () => {
    let dials = 0;
    await statuses((_request, response) => {
      dials += 1;
      response.writeHead(503, { "retry-after": String(30 * 24 * 3_600) }).end();
    }, 1_000);
    expect(dials).toBe(1);
  });

  test("whose socket can't be made leaves no timer behind", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const make: MakeSocket = () => {
      throw new SyntaxError("no such subprotocol");
    };
    const client = createClient({ baseUrl: "http://service.test" });
    const live = connect(client, { transport: webSocket(make) } as never);
    await vi.advanceTimersByTimeAsync(30_000);
    live.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("of nobody is open once it is admitted, and notices that nobody answers", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => server.close());
    await once(server, "listening");
    server.on("connection", (socket) => socket.close(1008, "core.authentication: sign in first"));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const seen: string[] = [];
    const live = connect(createClient({ baseUrl }), {
      transport: webSocket((url, protocols) => new WebSocket(url, protocols) as never),
      onStatus: (status: string) => void seen.push(status),
    } as never);
    await vi.waitFor(() => expect(seen.at(-1)).toBe("closed"), 5_000);
    live.close();
    expect(seen).not.toContain("open");
  });
});
