// What the client says of errors is true: faults of the application are told from failures of the service, and platforms that lack something are no obstacle.
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ApiError,
  authn,
  createClient,
  files,
  isApiError,
  tasks,
  upload,
  type Client,
  type ClientOptions,
  type Tokens,
} from "../../../generated/client/index.js";

const sent: Request[] = [];
const task = { id: "1", rev: 1, title: "t" };
const answering: typeof fetch = async (input, init) => {
  sent.push(new Request(input, init));
  return Response.json(task);
};
const clientOf = (options: Partial<ClientOptions> = {}): Client =>
  createClient({ baseUrl: "http://service.test", fetch: answering, ...options });
/** The code that a call fails with. */
const codeOf = async (client: Client, input: unknown = { id: "1" }): Promise<string> => {
  sent.length = 0;
  const settled = await tasks.get(client, input as { readonly id: string }).settled();
  return settled.ok ? "fine" : settled.error.code;
};
const caller = (): string => "ann";
const throws = (): never => {
  throw new Error("the application's own");
};

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("a fault of the application is `client.invalid`, and nothing is sent", () => {
  const circular: Record<string, unknown> = { title: "t", project: "p" };
  circular["self"] = circular;

  test.each([
    ["a circle", circular],
    ["a BigInt", { title: "t", project: "p", estimate: 1n }],
    ["a getter that throws", Object.defineProperty({}, "title", { enumerable: true, get: throws })],
  ])("%s in the input", async (_what, input) => {
    sent.length = 0;
    const settled = await tasks.create(clientOf(), input as never).settled();
    expect(settled).toMatchObject({ ok: false, error: { code: "client.invalid", status: 0 } });
    expect(!settled.ok && settled.error.cause).toBeInstanceOf(Error);
    expect(sent).toEqual([]);
  });

  test("no input at all", async () => {
    expect(await codeOf(clientOf(), null)).toBe("client.invalid");
  });

  test.each([
    "api.example.com",
    "localhost:4400",
    "ftp://service.test",
    "//service.test",
    "http://",
    "http://a b",
    "http://service.test:99999",
    "http://user:secret@service.test",
    "http://service.test?x=1",
    undefined,
    null,
    5,
  ])("%j as its baseUrl", async (baseUrl) => {
    expect(await codeOf(clientOf({ baseUrl: baseUrl as string }))).toBe("client.invalid");
    expect(sent).toEqual([]);
  });

  test.each(["", "/api"])("%j as its baseUrl, where there is no page", async (baseUrl) => {
    const client = createClient({ baseUrl });
    expect(await codeOf(client)).toBe("client.invalid");
  });

  test.each(["http://service.test", "https://service.test:8080/api/", "HTTP://Service.test", ""])(
    "%j is an address",
    async (baseUrl) => {
      const own: typeof fetch = async () => Response.json(task);
      expect(await codeOf(clientOf({ baseUrl, fetch: own }))).toBe("fine");
    },
  );

  test("a header that is none", async () => {
    expect(await codeOf(clientOf({ headers: { "x y": "z" } }))).toBe("client.invalid");
  });

  test("a store that fails, when it is asked and when it is told", async () => {
    const set = vi.fn();
    expect(await codeOf(clientOf({ tokens: { get: throws, set, caller } }))).toBe("client.invalid");
    const rejects = async (): Promise<never> => throws();
    expect(await codeOf(clientOf({ tokens: { get: rejects, set, caller } }))).toBe(
      "client.invalid",
    );
    expect(sent).toEqual([]);
    const tokens: Tokens = { access_token: "old", refresh_token: "r" };
    const client = clientOf({
      refreshPath: "/auth/refresh",
      fetch: async (input) =>
        String(input).endsWith("/auth/refresh")
          ? Response.json({ access_token: "new", refresh_token: "s" })
          : Response.json({ code: "core.authentication" }, { status: 401 }),
      tokens: { get: () => tokens, set: throws, caller },
    });
    expect(await codeOf(client)).toBe("client.invalid");
  });

  test("no fetch, where the platform has none", async () => {
    const own = globalThis.fetch;
    Reflect.deleteProperty(globalThis, "fetch");
    const code = await codeOf(createClient({ baseUrl: "http://service.test" }));
    globalThis.fetch = own;
    expect(code).toBe("client.invalid");
  });
});

test("no answer is still `client.network`; timeouts and aborts have codes of their own", async () => {
  const network = clientOf({ retries: 0, fetch: async () => throws() });
  expect(await codeOf(network)).toBe("client.network");
  const broken = new ReadableStream({ start: (stream) => stream.error(new Error("cut")) });
  const half = clientOf({ retries: 0, fetch: async () => new Response(broken) });
  expect(await codeOf(half)).toBe("client.network");
  const silent: typeof fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      // As platforms do that do not know reasons.
      init?.signal?.addEventListener("abort", () => reject(new Error("AbortError")));
    });
  expect(await codeOf(clientOf({ fetch: silent, timeoutMillis: 20 }))).toBe("client.timeout");
  const leaving = new AbortController();
  const call = tasks.get(clientOf({ fetch: silent }), { id: "1" }, { signal: leaving.signal });
  leaving.abort();
  expect(await call.settled()).toMatchObject({ error: { code: "client.aborted" } });
});

test("a platform without AbortSignal.any, AbortSignal.timeout and crypto serves as well", async () => {
  vi.stubGlobal("crypto", undefined);
  for (const lacking of ["any", "timeout"] as const) {
    const own = AbortSignal[lacking];
    Object.defineProperty(AbortSignal, lacking, { value: undefined, configurable: true });
    onTestFinished(() => void Object.defineProperty(AbortSignal, lacking, { value: own }));
  }
  let tokens: Tokens | null = { access_token: "old", refresh_token: "r" };
  const keys = new Set<string | null>();
  const client = clientOf({
    refreshPath: "/auth/refresh",
    tokens: { get: () => tokens, set: (next) => void (tokens = next), caller },
    fetch: async (input, init) => {
      const { url, headers, signal } = new Request(input, init);
      expect(signal.aborted).toBe(false);
      if (url.endsWith("/auth/refresh"))
        return Response.json({ access_token: "new", refresh_token: "s" });
      if (headers.get("authorization") === "Bearer old")
        return Response.json({ code: "core.authentication" }, { status: 401 });
      if (url.startsWith("http://objects.test"))
        return new Response(null, { headers: { etag: '"e"' } });
      if (url.endsWith("/uploads/parts/url"))
        return Response.json({ url: "http://objects.test/1", method: "PUT", headers: {} });
      keys.add(headers.get("idempotency-key"));
      return Response.json({ ...task, key: "k", upload_id: "u", expires_at: "", token: "t" });
    },
  });
  const { signal } = new AbortController();
  await tasks.create(client, { title: "t", project: "p" }, { signal });
  await tasks.create(client, { title: "t", project: "p" });
  expect(keys.size).toBe(2);
  await upload(client, files, new Blob(["x"]), { key: "k", signal });
  await authn.logout(client);
});

test("a signal that lives long is listened to only while calls run, and once for all of them", async () => {
  const long = new AbortController();
  const add = vi.spyOn(long.signal, "addEventListener");
  const remove = vi.spyOn(long.signal, "removeEventListener");
  const warned = vi.fn();
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const calls = Array.from({ length: 30 }, () =>
    tasks.get(clientOf(), { id: "1" }, { signal: long.signal }),
  );
  expect(add).toHaveBeenCalledTimes(1);
  await Promise.all(calls);
  expect(remove.mock.calls[0]?.[1]).toBe(add.mock.calls[0]?.[1]);
  expect(remove).toHaveBeenCalledTimes(1);
  // Warnings come in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warned).not.toHaveBeenCalled();

  const given = Array.from({ length: 3 }, () =>
    tasks.get(clientOf(), { id: "1" }, { signal: long.signal }).settled(),
  );
  long.abort();
  for (const call of given)
    expect(await call).toMatchObject({ ok: false, error: { code: "client.aborted" } });
  expect(remove).toHaveBeenCalledTimes(2);
});

test("an error of a call is told from others, by its codes as well", () => {
  const caught: unknown = new ApiError("core.not_found", "no", { status: 404 });
  expect([isApiError(caught), isApiError(caught, "core.not_found")]).toEqual([true, true]);
  expect([isApiError(caught, "core.conflict"), isApiError(new Error("x"))]).toEqual([false, false]);
  if (isApiError(caught, "core.not_found"))
    expect(caught.code satisfies "core.not_found").toBe("core.not_found");
});
