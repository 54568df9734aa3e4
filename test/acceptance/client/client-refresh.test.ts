// A refresh is as patient as a read: where the service has no tokens to give now, it is asked again, and what is kept stays
// (attack 190).
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  createClient,
  tasks,
  type ClientOptions,
  type Tokens,
} from "../../../generated/client/index.js";
import { tabLocks, withTabLocks } from "../../support/tab-locks.js";

const json = (body: unknown, status = 200, headers = {}): Response =>
  Response.json(body, { status, headers });

/** A service that takes the token "fresh" alone, whose refreshes are answered one after the other. */
function serviceOf(answers: readonly (() => Response)[], options: Partial<ClientOptions> = {}) {
  const kept = { tokens: { access_token: "old", refresh_token: "r" } as Tokens | null };
  const refreshes: string[] = [];
  const client = createClient({
    baseUrl: `http://service.test/${Math.random()}`,
    tokens: {
      get: () => kept.tokens,
      set: (tokens) => void (kept.tokens = tokens),
      caller: () => "ann",
    },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (request.url.endsWith("/auth/refresh")) {
        refreshes.push(await request.text());
        const answer = answers[refreshes.length - 1] ?? (() => json({ access_token: "fresh" }));
        return answer();
      }
      const isFresh = request.headers.get("authorization") === "Bearer fresh";
      return isFresh ? json({ id: "1" }) : json({ code: "core.authentication" }, 401);
    },
    ...options,
  });
  return { client, kept, refreshes };
}

const offline = (): Response => {
  throw new TypeError("fetch failed");
};
const busy =
  (status: number, headers = {}) =>
  (): Response =>
    json({ code: "core.unavailable" }, status, headers);

afterEach(() => void vi.unstubAllGlobals());

describe("a read with an expired token goes through where the refresh first meets", () => {
  test.each([
    ["503", busy(503)],
    ["502", busy(502)],
    ["504", busy(504)],
    ["429", busy(429)],
    ["429 with Retry-After", busy(429, { "retry-after": "1" })],
    ["no network", offline],
    ["an empty object", () => json({})],
    ["null", () => json(null)],
    ["no body", () => new Response(null, { status: 204 })],
    ["a page of a gateway", () => new Response("<html>", { status: 200 })],
  ])("%s", async (_what, answer) => {
    const { client, kept, refreshes } = serviceOf([answer]);
    expect(await tasks.get(client, { id: "1" })).toEqual({ id: "1" });
    // The same refresh token each time.
    expect(refreshes).toEqual([refreshes[0], refreshes[0]]);
    expect(kept.tokens).toEqual({ access_token: "fresh" });
  });
});

test.each([
  ["503", busy(503), "core.unavailable"],
  ["no network", offline, "client.network"],
  ["an empty object", () => json({}), "client.unreadable"],
  ["null", () => json(null), "client.unreadable"],
  ["a token that is no text", () => json({ access_token: 5 }), "client.unreadable"],
] as const)(
  "a refresh that only meets %s ends, and keeps what is kept",
  async (_what, answer, code) => {
    const { client, kept, refreshes } = serviceOf(Array.from({ length: 9 }, () => answer));
    const calls = Array.from({ length: 20 }, () => tasks.get(client, { id: "1" }).settled());
    for (const call of calls) expect(await call).toMatchObject({ ok: false, error: { code } });
    // All calls shared its tries.
    expect(refreshes).toHaveLength(3);
    expect(kept.tokens).toEqual({ access_token: "old", refresh_token: "r" });
  },
);

test("a refresh waits for nobody longer than a call may take, and ends with its signal", async () => {
  const later = busy(503, { "retry-after": "20" });
  const { client } = serviceOf([later]);
  const timed = tasks.get(client, { id: "1" }, { timeoutMillis: 50 }).settled();
  const given = new AbortController();
  const aborted = tasks.get(client, { id: "1" }, { signal: given.signal }).settled();
  expect(await timed).toMatchObject({ error: { code: "client.timeout" } });
  given.abort();
  expect(await aborted).toMatchObject({ error: { code: "client.aborted" } });
  // Nobody waits for what is beyond any call.
  const far = serviceOf([busy(503, { "retry-after": "3600" })]);
  expect(await tasks.get(far.client, { id: "1" }).settled()).toMatchObject({
    error: { code: "core.unavailable" },
  });
  expect(far.refreshes).toHaveLength(1);
});

test("a refusal is for good, and asked for once", async () => {
  const { client, kept, refreshes } = serviceOf([busy(401)]);
  expect(await tasks.get(client, { id: "1" }).settled()).toMatchObject({ error: { status: 401 } });
  expect([refreshes.length, kept.tokens]).toEqual([1, null]);
});

test.each([
  ["a page", () => new Response("<html>sign in</html>", { status: 401 })],
  ["nothing", () => new Response(null, { status: 401 })],
  ["an object without a code", () => json({ message: "Unauthorized" }, 401)],
])("a 401 of a proxy, which says %s, signs nobody out", async (_what, answer) => {
  const { client, kept, refreshes } = serviceOf(Array.from({ length: 9 }, () => answer));
  expect(await tasks.get(client, { id: "1" }).settled()).toMatchObject({
    error: { code: "client.unreadable", status: 401 },
  });
  expect(refreshes.length).toBeGreaterThan(1);
  expect(kept.tokens).toEqual({ access_token: "old", refresh_token: "r" });
});

test("callers with a client each do not wait for one another's refresh", async () => {
  const restore = withTabLocks(tabLocks());
  try {
    const baseUrl = "http://shared.test";
    const later = busy(503, { "retry-after": "20" });
    const slow = serviceOf([later], { baseUrl });
    const given = new AbortController();
    const waits = tasks.get(slow.client, { id: "1" }, { signal: given.signal }).settled();
    await expect.poll(() => slow.refreshes.length).toBe(1);
    const began = Date.now();
    const other = serviceOf([], { baseUrl });
    const ben = createClient({ ...other.client, caller: () => "ben" });
    expect(await tasks.get(ben, { id: "1" })).toEqual({ id: "1" });
    expect(Date.now() - began).toBeLessThan(1_000);
    given.abort();
    expect(await waits).toMatchObject({ error: { code: "client.aborted" } });
  } finally {
    restore();
  }
});

test("a tab that stands still with the lock holds nobody up for longer than a refresh token lives on", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const asked: object[] = [];
    /** Locks that another tab has and never gives back. */
    const locks = {
      request: (
        _name: string,
        options: { readonly signal?: AbortSignal; readonly steal?: boolean },
        work: () => Promise<unknown>,
      ): Promise<unknown> => {
        asked.push(options);
        if (options.steal === true) return work();
        return new Promise((_, reject) => {
          options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
        });
      },
    };
    vi.stubGlobal("navigator", { locks });
    const { client } = serviceOf([]);
    const call = tasks.get(client, { id: "1" });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await call).toEqual({ id: "1" });
    expect(asked).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
