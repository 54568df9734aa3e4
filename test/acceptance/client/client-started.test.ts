// Work belongs to whoever was signed in when it was started: whatever of it is sent later goes in that name, or not at all
// (attacks 187 and 189).
import { setTimeout as sleep } from "node:timers/promises";
import {
  MutationObserver,
  QueryClient,
  dehydrate,
  hydrate,
  onlineManager,
} from "@tanstack/query-core";
import { afterEach, describe, expect, test } from "vitest";
import {
  createClient,
  each,
  edit,
  files,
  tasks,
  upload,
  type ClientOptions,
} from "../../../generated/client/index.js";
import * as taskQueries from "../../../generated/client/queries/tasks.js";

/** A browser whose store answers after a while; notes what is sent, and in whose name. */
function browser(options: Partial<ClientOptions> = {}) {
  const state = { who: "ann" as string | null };
  const sent: string[] = [];
  const keys: (string | null)[] = [];
  const tokens = {
    get: async () => {
      const { who } = state;
      await sleep(30);
      return who === null ? null : { access_token: who };
    },
    set: () => undefined,
    caller: () => state.who,
  };
  const client = createClient({
    baseUrl: "http://service.test",
    tokens,
    fetch: async (input, init) => {
      const { method, url, headers } = new Request(input, init);
      const path = new URL(url).pathname;
      sent.push(`${method} ${path} as ${headers.get("authorization")?.slice(7) ?? "nobody"}`);
      keys.push(headers.get("idempotency-key"));
      return answerTo(`${method} ${path}`);
    },
    ...options,
  });
  return { client, state, sent, keys };
}

/** What the service answers: documents, pages without an end, sessions of uploads, parts. */
function answerTo(route: string): Response {
  if (route === "PUT /part") return new Response(null, { headers: { etag: '"e"' } });
  if (route.includes("list_cursor"))
    return Response.json({ hits: [{ id: "1" }, { id: "2" }], next_cursor: String(Math.random()) });
  const part = { url: "http://service.test/part", method: "PUT", headers: {} };
  const session = { key: "k", upload_id: "u", token: "t", expires_at: "", parts: [] };
  const task = { id: "1", rev: 1, title: "t" };
  return Response.json({ ...session, ...task, ...part, data: task });
}

const aborted = { ok: false, error: { code: "client.aborted" } };

describe("a call whose tokens are still read", () => {
  test.each([
    ["somebody else signs in", "bob"],
    ["nobody is signed in any more", null],
  ])("is not sent where %s", async (_what, next) => {
    const { client, state, sent } = browser();
    const call = tasks.create(client, { title: "ann's", project: "p" }).settled();
    await sleep(10);
    state.who = next;
    expect(await call).toMatchObject(aborted);
    expect(sent).toEqual([]);
  });

  test("is not sent where nobody was signed in, and somebody is by then", async () => {
    const { client, state, sent } = browser();
    state.who = null;
    const call = tasks.list(client, {}).settled();
    await sleep(10);
    state.who = "bob";
    expect(await call).toMatchObject(aborted);
    expect(sent).toEqual([]);
  });
});

test("an edit that somebody started is not written by who signs in while it reads", async () => {
  const { client, state, sent } = browser();
  const change = (): object => {
    state.who = "bob";
    return { title: "ann's" };
  };
  const edited = edit(tasks, client, "1", change);
  await expect(edited).rejects.toMatchObject({ code: "client.aborted" });
  expect(sent).toEqual(["GET /tasks/1 as ann"]);
});

test("a list is read to its end by who began it", async () => {
  const { client, state, sent } = browser();
  const list = each(tasks.listCursor, client, {});
  const read = async (): Promise<void> => {
    for await (const _one of list) {
      state.who = "bob";
      if (sent.length > 3) break;
    }
  };
  await expect(read()).rejects.toMatchObject({ code: "client.aborted" });
  expect(sent).toEqual(["POST /tasks/list_cursor as ann"]);
  // Also where its first page is asked for later.
  state.who = "ann";
  const later = each(tasks.listCursor, client, {});
  state.who = "bob";
  await expect(later.next()).rejects.toMatchObject({ code: "client.aborted" });
  expect(sent).toHaveLength(1);
});

describe("an upload", () => {
  test.each([undefined, "ann"])("goes up in one name (given: %s)", async (caller) => {
    const { client, state, sent } = browser();
    const up = upload(client, files, new Blob(["0123"]), {
      key: "k",
      partBytes: 2,
      parallel: 1,
      ...(caller === undefined ? {} : { caller }),
      onProgress: (there) => void (state.who = there === 0 ? "ann" : "bob"),
    });
    await expect(up).rejects.toMatchObject({ code: "client.aborted" });
    const names = sent.filter((one) => !one.startsWith("PUT"));
    expect(names.map((one) => one.split(" as ")[1])).toEqual(["ann", "ann"]);
  });

  test("that another caller began to go on with is not begun", async () => {
    const { client, state, sent } = browser();
    state.who = "bob";
    const up = upload(client, files, new Blob(["0123"]), { key: "k", caller: "ann" });
    await expect(up).rejects.toMatchObject({ code: "client.aborted" });
    expect(sent).toEqual([]);
  });
});

describe("a mutation", () => {
  const lives: QueryClient[] = [];
  afterEach(() => {
    onlineManager.setOnline(true);
    for (const queries of lives.splice(0)) queries.unmount();
  });
  const queryClient = (): QueryClient => {
    const queries = new QueryClient({ defaultOptions: { mutations: { retryDelay: 1 } } });
    queries.mount();
    lives.push(queries);
    return queries;
  };
  const input = { title: "ann's", project: "p" };
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "sent",
      ({ code }: { code: string }) => code,
    );

  test("that waits for the network goes as who started it, or not at all", async () => {
    const { client, state, sent } = browser();
    const queries = queryClient();
    onlineManager.setOnline(false);
    const observer = new MutationObserver(queries, taskQueries.create(client));
    const [first, second] = [codeOf(observer.mutate(input)), codeOf(observer.mutate(input))];
    state.who = "bob";
    // As a component does that is rendered again.
    observer.setOptions(taskQueries.create(client));
    onlineManager.setOnline(true);
    expect(await Promise.all([first, second])).toEqual(["client.aborted", "client.aborted"]);
    expect(sent).toEqual([]);
    expect(await codeOf(observer.mutate(input))).toBe("sent");
    expect(sent).toEqual(["POST /tasks as bob"]);
  });

  test("that waits behind another one of its scope as well", async () => {
    const { client, state, sent } = browser();
    const options = { ...taskQueries.create(client), scope: { id: "one at a time" } };
    const queries = queryClient();
    const onSuccess = (): void => void (state.who = "bob");
    const first = codeOf(new MutationObserver(queries, { ...options, onSuccess }).mutate(input));
    const second = codeOf(new MutationObserver(queries, options).mutate(input));
    expect(await first).toBe("sent");
    expect(await second).toBe("client.aborted");
    expect(sent).toHaveLength(1);
  });

  test.each(["ann", "bob"])(
    "that outlives a reload goes as who started it (%s resumes)",
    async (who) => {
      const { client, state, sent } = browser();
      const before = queryClient();
      onlineManager.setOnline(false);
      void codeOf(new MutationObserver(before, taskQueries.create(client)).mutate(input));
      await expect.poll(() => before.getMutationCache().getAll()[0]?.state.isPaused).toBe(true);
      const kept = JSON.stringify(dehydrate(before));

      // The page begins anew before anybody is signed in.
      state.who = null;
      const after = queryClient();
      after.setMutationDefaults(["tasks", "create"], taskQueries.create(client));
      hydrate(after, JSON.parse(kept));
      state.who = who;
      before.getMutationCache().clear();
      onlineManager.setOnline(true);
      const [mutation] = after.getMutationCache().getAll();
      await expect.poll(() => mutation?.state.status).toBe(who === "ann" ? "success" : "error");
      expect(sent).toEqual(who === "ann" ? ["POST /tasks as ann"] : []);
    },
  );

  test("of a client that is not told who calls has no caller in its key", async () => {
    const { client } = browser();
    const plain = createClient({ baseUrl: client.baseUrl, fetch: client.fetch ?? fetch });
    const { mutationKey, mutationFn } = taskQueries.create(plain);
    expect(mutationKey).toEqual(["tasks", "create"]);
    expect(await mutationFn(input)).toMatchObject({ id: "1" });
  });
});
