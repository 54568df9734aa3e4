// How often a request waits for PostgreSQL: a write, whatever follows from it, and a page with its count.
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
audit: {guard: open}
outbox: {events: {kept.made: {destination: log, data: {id: uuid}}}}
documents:
  notes: {type: {text: string}, guard: open}
  kept:
    type: {text: string}
    guard: open
    history: {keep: 1}
search: {kept_search: {of: kept, text: [text], guard: open}}
operations:
  act.write: {post: /write, in: {text: string}, run: registry/code.ts#write, guard: open, idempotency: true}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { keptSpec } from "../generated/documents/kept.js";
import { stageEvent } from "../generated/outbox.js";
export const write = async (input, context) => {
  const { id } = await collection(keptSpec, context).create({ text: input.text });
  await stageEvent(context, "kept.made", { id });
};
`,
};

/**
 * Counts the waits of each transaction, and of all that is read from documents: how often its client
 * speaks again behind an answer.
 */
async function countWaits(host: string, port: number) {
  const waits: number[] = [];
  let reads = 0;
  const server = createServer((near) => {
    const far = connect({ host, port });
    let isTheirs = false;
    let isAnswered = true;
    let count = 0;
    near.on("data", (chunk) => {
      // Of the service's own connections, none writes documents.
      isTheirs ||= /INSERT INTO "(?:notes|kept)"/.test(chunk.toString("latin1"));
      if (isAnswered) count += 1;
      if (isAnswered && isTheirs) reads += 1;
      isAnswered = false;
      if (chunk.includes("COMMIT")) {
        if (isTheirs) waits.push(count);
        count = 0;
      }
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      isAnswered = true;
      near.write(chunk);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => one.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    waits,
    all: () => reads,
    host: `127.0.0.1:${own}`,
    close: () => server.close(),
  };
}

const postgres = engines.find(({ name, isAvailable }) => name === "postgres" && isAvailable);

describe.skipIf(postgres === undefined)("round trips to PostgreSQL", () => {
  let project: TestProject | undefined;
  let database: FreshDatabase | undefined;
  let proxy: Awaited<ReturnType<typeof countWaits>> | undefined;
  let service: TestService | undefined;
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    project = await testProject(files);
    database = await postgres.create();
    const url = new URL(database.url);
    proxy = await countWaits(url.hostname, Number(url.port || 5432));
    url.host = proxy.host;
    const environment = { ...database.environment, DATABASE_URL: url.href, BUS_URL: "none" };
    service = await project.start(postgres, { environment });
  });
  afterAll(async () => {
    await service?.stop();
    proxy?.close();
    await database?.drop();
    project?.remove();
  });

  /** The fewest waits of some such requests: the network may cut a message in two. */
  const waitsOf = async (path: string, headers: () => Readonly<Record<string, string>>) => {
    const all: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const before = proxy?.waits.length ?? 0;
      const answer = await service?.post(path, { text: "some words" }, headers());
      expect(answer?.status).toBeLessThan(300);
      all.push(...(proxy?.waits.slice(before) ?? []));
    }
    return Math.min(...all);
  };

  test.each([
    ["a create", "/notes", 2],
    ["a create with history, words of a search and an audit entry", "/kept", 2],
    ["the same by a handler, and an event", "/write", 2],
  ])("%s", async (_what, path, expected) => {
    expect(await waitsOf(path, () => ({}))).toBe(expected);
  });

  test("an update and a delete read first", async () => {
    const waits: number[][] = [[], []];
    for (let round = 0; round < 8; round += 1) {
      const made = await service?.post("/notes", { text: "some words" });
      const at = `/notes/${made?.body.id}`;
      for (const [place, ask] of [
        () => service?.call("PATCH", `${at}?rev=1`, { body: { text: "other words" } }),
        () => service?.call("DELETE", `${at}?rev=2`),
      ].entries()) {
        const before = proxy?.waits.length ?? 0;
        expect((await ask())?.status).toBeLessThan(300);
        waits[place]?.push(...(proxy?.waits.slice(before) ?? []));
      }
    }
    expect(waits.map((some) => Math.min(...some))).toEqual([3, 3]);
  });

  test.each([
    ["a page of a list", "/kept/list", { size: 1 }],
    [
      "a page of groups",
      "/kept/agg_list",
      { aggregates: { $groups: { id: "id" }, $computed: {} } },
    ],
    ["a page of a search", "/search/kept_search/typed", { query: "words", size: 1 }],
  ])("%s and its count", async (_what, path, body) => {
    const waits: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      // So that each connection that reads has written.
      await Promise.all(Array.from({ length: 4 }, () => service?.post("/kept", { text: "words" })));
      const before = proxy?.all() ?? 0;
      const answer = await service?.post(path, body);
      expect(answer?.body.count).toBeGreaterThan(answer?.body.size);
      waits.push((proxy?.all() ?? 0) - before);
    }
    // What somebody reads over a connection that is new isn't seen here.
    expect(Math.min(...waits.filter((count) => count > 0))).toBe(1);
  });

  test("an idempotent one: its lock and record, the write, what follows, its end", async () => {
    const headers = (): Record<string, string> => ({ "idempotency-key": randomUUID() });
    expect(await waitsOf("/write", headers)).toBe(4);
  });
});
