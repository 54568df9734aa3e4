// A mutation that was sent before its page was loaded anew, and is sent again after that: under the key that the application
// keeps with it, the service writes once.
import {
  MutationObserver,
  QueryClient,
  dehydrate,
  hydrate,
  onlineManager,
} from "@tanstack/query-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createClient, tasks } from "../../../generated/client/index.js";
import * as taskQueries from "../../../generated/client/queries/tasks.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

let service: TestService;
let ann: Member;
let project = "";
const lives: QueryClient[] = [];
beforeAll(async () => {
  const [sqlite] = engines;
  if (sqlite === undefined) throw new Error("there is no SQLite");
  service = await startTestService(sqlite, { signsIn: false });
  const people = peopleOf(service);
  ann = await people.member("", "tasks.read", "tasks.write", "projects.read", "projects.write");
  project = await people.by(ann.token).make("projects", { name: "P", key: "PP" });
});
afterEach(() => {
  onlineManager.setOnline(true);
  for (const queries of lives.splice(0)) queries.unmount();
});
afterAll(() => service.stop());

/** A page of Ann's; `lost` has the answer to each request get lost. */
function page(lost: () => boolean) {
  const client = createClient({
    baseUrl: service.url,
    retries: 0,
    tokens: { get: () => ({ access_token: ann.token }), set() {}, caller: () => ann.id },
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      if (lost()) throw new TypeError("the answer was lost");
      return answer;
    },
  });
  const queries = new QueryClient({ defaultOptions: { mutations: { retry: 3, retryDelay: 1 } } });
  queries.mount();
  lives.push(queries);
  return { client, queries };
}

/** Sends a mutation whose answer gets lost with the network, loads the page anew, and lets it go on. */
async function sentTwice(title: string, meta: Record<string, unknown> | undefined) {
  const before = page(() => {
    onlineManager.setOnline(false);
    return true;
  });
  const options = { ...taskQueries.create(before.client), ...(meta === undefined ? {} : { meta }) };
  const input = { title, project, labels: [] };
  new MutationObserver(before.queries, options).mutate(input).catch(() => undefined);
  await expect.poll(() => before.queries.getMutationCache().getAll()[0]?.state.isPaused).toBe(true);
  const kept = JSON.stringify(dehydrate(before.queries));
  before.queries.getMutationCache().clear();

  const after = page(() => false);
  after.queries.setMutationDefaults(["tasks", "create"], taskQueries.create(after.client));
  hydrate(after.queries, JSON.parse(kept));
  onlineManager.setOnline(true);
  const [mutation] = after.queries.getMutationCache().getAll();
  await expect.poll(() => mutation?.state.status).not.toBe("pending");
  const { hits } = await tasks.list(after.client, { filters: { $values: { title } } });
  return { status: mutation?.state.status, count: hits.length };
}

test("under the application's key it is written once", async () => {
  const meta = { idempotencyKey: "draft-1" };
  expect(await sentTwice("kept", meta)).toEqual({ status: "success", count: 1 });
});

test("a key that is no text is refused, and nothing is written", async () => {
  const { client } = page(() => false);
  const wrong = taskQueries
    .create(client)
    .mutationFn({ title: "wrong", project, labels: [] }, { meta: { idempotencyKey: 1 } });
  await expect(wrong).rejects.toMatchObject({ code: "client.invalid" });
});
