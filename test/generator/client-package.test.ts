// The client as npm users get it: packed, installed, type-checked as bundlers and Node.js resolve it, and run.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { namespaceName } from "../../generator/emit/client/functions.js";
import { installPackedClient } from "../support/packed-client.js";

const root = new URL("../..", import.meta.url).pathname;

const usage = `
import { ApiError, createClient, each, edit, isApiError, tasks, type models } from "@opwright/tracker-client";
import { fetchOf, mockService } from "@opwright/tracker-client/mocks";
import * as taskQueries from "@opwright/tracker-client/queries/tasks";
import { connect, shareConnection, socketIo, sse, webSocket } from "@opwright/tracker-client/realtime";
import { InfiniteQueryObserver, MutationObserver, QueryClient, QueryObserver } from "@tanstack/query-core";
import { io } from "socket.io-client";

const titles = ["one", "two", "three"];
const taskOf = (title: string): models.Task => ({
  id: title, rev: 1, created_at: "", last_update_at: "", title, state: "open",
  project: "p", assignee: null, due: null, estimate: null, labels: [], is_deleted: false,
});
let patched = 0;
const service = mockService({
  "tasks.get": ({ id }) => {
    if (!titles.includes(id)) throw new ApiError("core.not_found", "no task", { status: 404 });
    return taskOf(id);
  },
  "tasks.list_cursor": ({ after, size = 2 }) => {
    const from = after === undefined ? 0 : Number(after);
    const hits = titles.slice(from, from + size).map(taskOf);
    const hasMore = from + size < titles.length;
    return {
      hits, next_cursor: hasMore ? String(from + size) : null, prev_cursor: null, has_more: hasMore,
    };
  },
  "tasks.update": ({ id, rev, patch }) => {
    if (typeof rev !== "number") throw new Error("a revision is a number");
    if ((patched += 1) === 1) throw new ApiError("revision_mismatch", "late", { status: 409 });
    return { data: { ...taskOf(id), ...patch, rev: rev + 1 }, diff: {} };
  },
});
export const client = createClient({ baseUrl: "", fetch: fetchOf(service), caller: () => "ann" });

export async function use(): Promise<unknown> {
  const told: unknown[] = [];
  for await (const task of each(tasks.listCursor, client, { size: 2 })) told.push(task.title);
  const missing = await tasks.get(client, { id: "four" }).settled();
  told.push(missing.ok ? "?" : missing.error.code);
  // A code that the operation does not have would not compile.
  if (!missing.ok && missing.error.code === "core.not_found") told.push(missing.error.status);
  told.push((await edit(tasks, client, "one", ({ title }) => ({ title: title + "!" }))).title, patched);
  told.push((await tasks.create(client, { title: "no mock", project: "p" }).settled()).ok);

  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const one = new QueryObserver(queries, taskQueries.get(client, { id: "two" }));
  const { data } = await one.refetch();
  told.push(data?.title);
  const pages = new InfiniteQueryObserver(queries, taskQueries.listCursorPages(client, { size: 2 }));
  await pages.refetch();
  const all = await pages.fetchNextPage();
  told.push(all.data?.pages.flatMap(({ hits }) => hits.map(({ title }) => title)), all.hasNextPage);
  const change = new MutationObserver(queries, taskQueries.update(client));
  told.push((await change.mutate({ id: "two", rev: 3, patch: { title: "changed" } })).data.title);
  const keys = new Set<string | null>();
  const failing = createClient({
    baseUrl: "",
    fetch: async (_input, init) => {
      keys.add(new Headers(init?.headers).get("idempotency-key"));
      return Response.json({ code: "core.internal" }, { status: 500 });
    },
  });
  const again = { ...taskQueries.create(failing), retry: 1, retryDelay: 0 };
  const creation = new MutationObserver(queries, again);
  for (let time = 0; time < 2; time += 1)
    await creation.mutate({ title: "once", project: "p" }).catch(() => undefined);
  told.push(keys.size, keys.has(null));
  const below = "https://example.test/api/v1/";
  const based = createClient({ baseUrl: below, fetch: fetchOf(service, below) });
  told.push((await tasks.get(based, { id: "one" })).title);
  told.push((await tasks.update(based, { id: "two", rev: 1, patch: { title: "x" } })).data.title);
  queries.clear();
  return told;
}

export async function types(queries: QueryClient): Promise<string | undefined> {
  const options = taskQueries.get(client, { id: "two" });
  // @ts-expect-error -- a cache has to know whose answers it keeps
  taskQueries.get(createClient({ baseUrl: "" }), { id: "two" });
  // @ts-expect-error -- a store tells whose tokens it keeps
  createClient({ baseUrl: "", tokens: { get: () => null, set() {} } });
  // What is kept under a key has its type, and so has its error.
  const kept: models.Task | undefined = queries.getQueryData(options.queryKey);
  const first = queries.getQueryData(taskQueries.listCursorPages(client, {}).queryKey)?.pages[0];
  const title: string | undefined = kept?.title ?? first?.hits[0]?.title;
  const { error } = new QueryObserver(queries, options).getCurrentResult();
  if (error?.code === "core.not_found") return title;
  // @ts-expect-error -- the operation has no such code
  if (error?.code === "core.nothing") return title;
  // The error keeps its type where options of the application's own stand in place of some.
  const alone = new QueryObserver(queries, { ...options, retry: false }).getCurrentResult();
  const often = new QueryObserver(queries, { ...options, retry: 3, retryDelay: 5 });
  const some = new MutationObserver(queries, { ...taskQueries.update(client), retry: (count) => count < 2 });
  const pages = new InfiniteQueryObserver(queries, { ...taskQueries.listCursorPages(client, {}), retry: 1 });
  if (alone.error?.code === "core.not_found") return title;
  if (often.getCurrentResult().error?.code === "core.not_found") return title;
  if (some.getCurrentResult().error?.code === "revision_mismatch") return title;
  if (pages.getCurrentResult().error?.code === "invalid_cursor") return title;
  // @ts-expect-error -- the operation has no such code
  if (alone.error?.code === "core.nothing") return title;
  // @ts-expect-error -- a key is of one type
  queries.setQueryData(options.queryKey, 5);
  const change = new MutationObserver(queries, taskQueries.update(client)).getCurrentResult();
  if (change.error?.code === "revision_mismatch") return change.error.requestId ?? undefined;
  // @ts-expect-error -- the operation has no such code
  if (change.error?.code === "core.nothing") return title;
  try {
    await tasks.list(client, { filters: { $or: [{ $values: { title: "x" } }, { $not: { $values: {} } }] } });
    await tasks.list(client, { filters: { $values: { title: "x" }, $fields: { title: { $eq: "title" } } } });
    // @ts-expect-error -- a combinator stands alone
    await tasks.list(client, { filters: { $values: { title: "x" }, $or: [] } });
    // @ts-expect-error -- also beside another one
    await tasks.list(client, { filters: { $and: [], $not: {} } });
  } catch (caught) {
    if (isApiError(caught, "query_invalid", "query_too_complex")) {
      // @ts-expect-error -- it is one of these two
      if (caught.code === "core.not_found") return;
      return caught.code;
    }
    if (isApiError(caught)) return caught.requestId ?? caught.code;
  }
  return title;
}

export function live(): void {
  for (const transport of [shareConnection(webSocket()), sse(), socketIo(io)]) {
    const connection = connect(client, { transport, topics: ["project:1"] });
    connection.listen((signal) => {
      switch (signal.name) {
        case "task.typing":
          return signal.data.who;
        case "realtime.gap":
          return signal.data.from;
        default:
          return signal.name;
      }
    });
    connection.on("task.assigned", async (task) => task.labels.length);
    void connection.command("task.comment", { task: "t", text: "x" }).settled();
    connection.close();
  }
}
`;

describe("the packed client", () => {
  const folder = mkdtempSync(join(tmpdir(), "opwright-packed-"));
  const installed = join(folder, "node_modules/@opwright/tracker-client");
  beforeAll(async () => {
    await installPackedClient(folder);
    writeFileSync(join(folder, "use.ts"), usage);
    mkdirSync(join(folder, "node_modules/@tanstack"), { recursive: true });
    for (const name of ["@tanstack/query-core", "socket.io-client"])
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is a sound package without dependencies", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed, strict: true });
    expect(messages.map(({ code }) => code)).toEqual([]);
    expect(pkg).not.toHaveProperty("dependencies");
    expect(readdirSync(join(folder, "node_modules")).sort()).toEqual(
      [".package-lock.json", "@opwright", "@tanstack", "socket.io-client"].sort(),
    );
  });

  test.each(
    ["typescript", "typescript-5.9"].flatMap((compiler) => [
      [compiler, "NodeNext", "NodeNext"] as const,
      [compiler, "ESNext", "bundler"] as const,
    ]),
  )("compiles with %s, module %s, resolution %s", (compiler, module, resolution) => {
    const options = {
      module,
      moduleResolution: resolution,
      target: "ES2022",
      lib: ["ES2022", "DOM", "DOM.Iterable"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      skipLibCheck: true,
      outDir: `out-${resolution}`,
      rootDir: ".",
    };
    const config = { compilerOptions: options, include: ["use.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules", compiler, "bin/tsc");
    const { status, stdout } = spawnSync("node", [tsc, "-p", "."], {
      cwd: folder,
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, ""]);
  });

  test("keeps the names of its own functions from namespaces", async () => {
    const exported = Object.entries(await import("../../generated/client/index.js"));
    const functions = exported.filter(([, value]) => typeof value === "function");
    const own = functions.map(([name]) => name).filter((name) => /^[a-z]/.test(name));
    expect(own.filter((name) => namespaceName(name) === name)).toEqual([]);
  });

  test("runs, with mocks in place of the service and options in place of hooks", () => {
    const script =
      'import { use } from "./out-bundler/use.js"; console.log(JSON.stringify(await use()));';
    writeFileSync(join(folder, "run.mjs"), script);
    const { stdout, stderr } = spawnSync("node", ["run.mjs"], { cwd: folder, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([
      "one",
      "two",
      "three",
      "core.not_found",
      404,
      "one!",
      2,
      false,
      "two",
      titlesOfPages,
      false,
      "changed",
      // One key a mutation, whatever its tries.
      2,
      false,
      "one",
      "x",
    ]);
  });
});

const titlesOfPages = ["one", "two", "three"];
