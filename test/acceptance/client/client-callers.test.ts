// The client is told who calls, and guesses nothing: keys of caches, calls under way where somebody else signs in, servers that render.
import { QueryClient, dehydrate, hydrate } from "@tanstack/query-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ApiError,
  createClient,
  tasks,
  tenants,
  type CallerClient,
  type Client,
  type ClientOptions,
  type Tokens,
} from "../../../generated/client/index.js";
import * as taskQueries from "../../../generated/client/queries/tasks.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;

/** A browser with one caller at a time, whose client keeps tokens in some way; the service answers with what it was sent. */
function browser() {
  const state = { who: null as string | null };
  const titleOf = (request: Request): string =>
    request.headers.get("authorization") ?? request.headers.get("x-api-key") ?? "cookie";
  const answering: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const cookie = state.who;
    await Promise.resolve();
    return Response.json({ id: "1", title: `${titleOf(request)} ${cookie}` });
  };
  const caller = (): string | null => state.who;
  const tokens = (): Tokens | null =>
    state.who === null ? null : { access_token: `opaque of ${state.who}` };
  const set = (): void => undefined;
  const clientOf = (options: ClientOptions & { caller: () => string | null }): CallerClient =>
    createClient({ fetch: answering, ...options });
  const baseUrl = "http://service.test";
  return {
    state,
    clients: {
      "a store that answers at once": createClient({
        baseUrl,
        fetch: answering,
        tokens: { get: tokens, set, caller },
      }),
      "a store that answers later": createClient({
        baseUrl,
        fetch: answering,
        tokens: { get: async () => tokens(), set, caller },
      }),
      "a cookie": clientOf({ baseUrl, caller }),
      "an API key": clientOf({ baseUrl, caller, headers: { "x-api-key": "k" } }),
    },
  };
}

const ways = Object.keys(browser().clients) as (keyof ReturnType<typeof browser>["clients"])[];

describe.each(ways)("with %s and tokens that say nothing", (way) => {
  test("nobody is shown what a cache holds of somebody else", async () => {
    const { state, clients } = browser();
    const client = clients[way];
    const queries = new QueryClient({
      defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } },
    });
    const seen: string[] = [];
    for (const who of ["ann", "ben", "ann"]) {
      state.who = who;
      seen.push((await queries.fetchQuery(taskQueries.get(client, { id: "1" }))).title);
    }
    expect(seen[0]).toContain("ann");
    expect(seen[1]).toContain("ben");
    expect(seen[2]).toBe(seen[0]);
    queries.clear();
  });

  test("a key made for one caller never gets what another one reads", async () => {
    const { state, clients } = browser();
    state.who = "ann";
    const { queryKey, queryFn } = taskQueries.get(clients[way], { id: "1" });
    const pages = taskQueries.listCursorPages(clients[way], {});
    expect(queryKey[3]).toEqual({ service: "tracker", caller: "ann" });
    state.who = "ben";
    const { signal } = new AbortController();
    await expect(queryFn({ signal })).rejects.toMatchObject({ code: "client.aborted" });
    await expect(pages.queryFn({ signal, pageParam: undefined })).rejects.toMatchObject({
      code: "client.aborted",
    });
    // Nor while it is under way.
    state.who = "ann";
    const underWay = queryFn({ signal });
    state.who = "ben";
    await expect(underWay).rejects.toMatchObject({ code: "client.aborted" });
  });
});

describe("a client that was not told", () => {
  test("has no keys, and says what is missing", () => {
    const client = createClient({ baseUrl: "http://service.test" }) as CallerClient;
    expect(() => taskQueries.get(client, { id: "1" })).toThrow(/`caller`/);
  });

  test("of a store that does not tell fails before anything is sent", async () => {
    let sent = 0;
    const tokens = { get: () => ({ access_token: "x" }), set: () => undefined };
    const client = createClient({
      baseUrl: "http://service.test",
      // As JavaScript may have it.
      tokens: tokens as unknown as NonNullable<ClientOptions["tokens"]>,
      fetch: async () => {
        sent += 1;
        return Response.json({});
      },
    });
    const settled = await tasks.get(client, { id: "1" }).settled();
    expect(settled).toMatchObject({
      error: { code: "client.invalid", message: expect.stringContaining("`caller`") },
    });
    expect(sent).toBe(0);
  });

  test("keeps nothing under nobody's name where there are tokens", async () => {
    const client = createClient({
      baseUrl: "http://service.test",
      fetch: async () => Response.json({ id: "1" }),
      tokens: { get: () => ({ access_token: "x" }), set() {}, caller: () => null },
    });
    const { queryFn } = taskQueries.get(client, { id: "1" });
    const { signal } = new AbortController();
    await expect(queryFn({ signal })).rejects.toMatchObject({ code: "client.invalid" });
    // Signing in begins so: who calls is asked with the first token.
    expect(await tasks.get(client, { id: "1" })).toEqual({ id: "1" });
  });
});

test("a tenant is part of who calls, also where only the application knows it", () => {
  const keyOf = (who: string): string => {
    const client = createClient({ baseUrl: "http://service.test", caller: () => who });
    return JSON.stringify(taskQueries.get(client, { id: "1" }).queryKey);
  };
  expect(new Set(["ann@a", "ann@b", "ben@b"].map(keyOf)).size).toBe(3);
  expect(keyOf("ann@a")).toBe(keyOf("ann@a"));
});

test("a page rendered by a server hydrates, though both have other addresses of the service", async () => {
  let sent = 0;
  const of = (baseUrl: string, headers = {}): CallerClient =>
    createClient({
      baseUrl,
      headers,
      caller: () => "ann@a",
      fetch: async () => {
        sent += 1;
        return Response.json({ id: "1", title: "rendered" });
      },
    });
  const server = new QueryClient();
  const inside = of("http://tracker.internal:8080", { cookie: "session=1" });
  await server.prefetchQuery(taskQueries.get(inside, { id: "1" }));
  const page = JSON.stringify(dehydrate(server));

  const queries = new QueryClient();
  hydrate(queries, JSON.parse(page));
  const outside = taskQueries.get(of("https://api.example.com"), { id: "1" });
  expect(queries.getQueryData(outside.queryKey)?.title).toBe("rendered");
  expect(sent).toBe(1);
  // A page that talks to two services of one kind names them.
  const other = createClient({
    baseUrl: "https://api.example.org",
    service: "other",
    caller: () => "ann@a",
  });
  const { queryKey } = taskQueries.get(other, { id: "1" });
  expect(queries.getQueryData(queryKey)).toBeUndefined();
  server.clear();
  queries.clear();
});

test("tries of one mutation go in one name", async () => {
  let who = "ann";
  let sent = 0;
  const client = createClient({
    baseUrl: "http://service.test",
    caller: () => who,
    retries: 0,
    fetch: async () => {
      sent += 1;
      return Response.json({ code: "core.internal" }, { status: 500 });
    },
  });
  const { mutationFn } = taskQueries.create(client);
  const context = {};
  await expect(mutationFn({ title: "t", project: "p" }, context)).rejects.toThrow(ApiError);
  who = "ben";
  await expect(mutationFn({ title: "t", project: "p" }, context)).rejects.toMatchObject({
    code: "client.aborted",
  });
  expect(sent).toBe(1);
});

describe("a change of the tenant", () => {
  let service: TestService;
  let people: People;
  let ann: Member;
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    ann = await people.member("", "tasks.read", "tasks.write");
  });
  afterAll(() => service.stop());

  test("under which calls are on their way is told of as that, and signs nobody out", async () => {
    let kept: Tokens | null = await people.session(ann.id, ann.tenantId);
    let who = "ann";
    const forgotten: (Tokens | null)[] = [];
    const held: { go: () => void } = { go: () => undefined };
    let isAsked = false;
    const client: Client = createClient({
      baseUrl: service.url,
      tokens: {
        get: () => kept,
        set: (tokens) => {
          forgotten.push(tokens);
          kept = tokens;
        },
        caller: () => who,
      },
      // What is asked for with the old session arrives after that has ended.
      fetch: async (input, init) => {
        const isLate = new URL(new Request(input, init).url).pathname.startsWith("/tasks");
        if (isLate) {
          isAsked = true;
          await new Promise<void>((go) => (held.go = go));
        }
        return fetch(input, init);
      },
    });
    const late = tasks.get(client, { id: "1" }).settled();
    await expect.poll(() => isAsked).toBe(true);
    const scoped = await tenants.switchTenant(client, { id: ann.tenantId });
    // The application has not stored them yet.
    held.go();
    expect(await late).toMatchObject({ ok: false, error: { code: "client.aborted" } });
    expect(forgotten).toEqual([]);
    [kept, who] = [scoped, "ann again"];
    expect((await tenants.listTenants(client)).tenants).toHaveLength(1);
  });
});
