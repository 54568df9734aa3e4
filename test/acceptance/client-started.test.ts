// Work belongs to whoever was signed in when it was started: whatever of it is sent later goes in that name, or not at all
// (attacks 187 and 188).
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createClient, tasks, type ClientOptions } from "../../generated/client/index.js";

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
