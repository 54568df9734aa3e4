// The generated client against the running service, also where tokens expire, answers get lost and the service says 503.
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  ApiError,
  createClient,
  each,
  files,
  projects,
  tasks,
  upload,
  type Client,
  type KeptSession,
  type Tokens,
} from "../../../generated/client/index.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;

/** What a proxy does with a request: passes it on, or loses its answer, or answers itself. */
type Fault =
  | "pass"
  | "cut"
  | "lose the answer"
  | "say nothing"
  | { readonly status: number; readonly retryAfter?: string };

/** A proxy before the service, whose next requests meet with faults. */
async function faultyProxy(target: string) {
  const faults: Fault[] = [];
  const seen: IncomingMessage[] = [];
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    seen.push(req);
    const fault = faults.shift() ?? "pass";
    if (typeof fault === "object") {
      req.resume();
      const { retryAfter } = fault;
      res.writeHead(fault.status, retryAfter === undefined ? {} : { "retry-after": retryAfter });
      res.end();
      return;
    }
    if (fault === "say nothing") return;
    if (fault === "cut") {
      // In the middle of what comes.
      req.once("data", () => req.socket.destroy());
      return;
    }
    const passed = request(
      new URL(req.url ?? "", target),
      { method: req.method, headers: req.headers },
      (back) => {
        if (fault === "lose the answer") {
          back.resume();
          back.on("end", () => req.socket.destroy());
          return;
        }
        res.writeHead(back.statusCode ?? 500, back.headers);
        back.pipe(res);
      },
    );
    req.pipe(passed);
  };
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    seen,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Tokens in memory. */
function kept(tokens: Tokens | null) {
  const store = {
    tokens,
    get: () => store.tokens,
    caller: () => (store.tokens === null ? null : "ann"),
    set: (next: Tokens | null) => {
      store.tokens = next;
    },
  };
  return store;
}

describe("the generated client", () => {
  let service: TestService;
  let people: People;
  let ann: Member;
  let client: Client;
  let project = "";
  let proxy: Awaited<ReturnType<typeof faultyProxy>>;
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    const may = ["tasks", "projects", "files"].flatMap((of) => [`${of}.read`, `${of}.write`]);
    ann = await people.member("", ...may);
    client = createClient({ baseUrl: service.url, tokens: kept({ access_token: ann.token }) });
    project = (await projects.create(client, { name: "P", key: "PP" })).id;
    proxy = await faultyProxy(service.url);
  });
  afterEach(() => {
    proxy.faults.length = 0;
    proxy.seen.length = 0;
  });
  afterAll(async () => {
    proxy.stop();
    await service.stop();
  });

  const behindProxy = (tokens: Tokens = { access_token: ann.token }): Client =>
    createClient({ baseUrl: proxy.url, tokens: kept(tokens) });

  test("operations are functions with typed inputs and results", async () => {
    const task = await tasks.create(client, { title: "typed", project, labels: ["a"] });
    expect(await tasks.get(client, { id: task.id })).toEqual(task);
    const { data, diff } = await tasks.update(client, {
      id: task.id,
      rev: task.rev,
      patch: { state: "doing" },
    });
    expect([data.state, data.rev, diff]).toEqual(["doing", 2, { state: "doing" }]);
    const found = await tasks.list(client, {
      filters: { $values: { project, labels: { $overlaps: ["a"] } } },
      sorts: { title: "asc" },
    });
    expect(found.hits).toEqual([data]);
    const gone = await tasks.delete(client, { id: task.id, rev: 2 });
    expect(gone.is_deleted).toBe(true);
  });

  test("an error is told by its code, thrown or as a value", async () => {
    const task = await tasks.create(client, { title: "errors", project });
    const input = { id: task.id, rev: 9, patch: { state: "done" as const } };
    await expect(tasks.update(client, input)).rejects.toMatchObject({
      name: "ApiError",
      code: "revision_mismatch",
      status: 409,
      context: { current_rev: 1 },
      requestId: expect.any(String),
    });
    const settled = await tasks.update(client, input).settled();
    if (settled.ok) throw new Error("it went through");
    // The codes are those that the operation has: another one here would not compile.
    if (settled.error.code !== "revision_mismatch") throw settled.error;
    expect(settled.error.context["current_rev"]).toBe(1);
  });

  test("a list by cursor is walked to its end", async () => {
    const made = await projects.create(client, { name: "Many", key: "MA" });
    for (let index = 0; index < 7; index += 1)
      await tasks.create(client, { title: `t${index}`, project: made.id });
    const filters = { $values: { project: made.id } };
    const titles: string[] = [];
    for await (const { title } of each(tasks.listCursor, client, { filters, size: 3 }))
      titles.push(title);
    expect(titles.sort()).toEqual(Array.from({ length: 7 }, (_, index) => `t${index}`));
  });

  test("a cursor that comes twice ends the walk", async () => {
    const stuck = async () => ({ hits: [1], next_cursor: "same" });
    const walk = async (): Promise<void> => {
      for await (const _hit of each(stuck, client, {}));
    };
    await expect(walk()).rejects.toMatchObject({ code: "client.cursor_repeated" });
  });

  test("twenty calls with a token that is no longer good refresh it once, and all go through", async () => {
    const session = await people.session(ann.id, ann.tenantId);
    const ended = await people.session(ann.id, ann.tenantId);
    await people.as(ended.access_token, "POST", "/auth/logout", {});
    const tokens = { ...session, access_token: ended.access_token };
    const store = kept(tokens);
    const late = createClient({ baseUrl: proxy.url, tokens: store });
    const results = await Promise.all(
      Array.from({ length: 20 }, () => tasks.list(late, { size: 1 })),
    );
    expect(results).toHaveLength(20);
    expect(proxy.seen.filter(({ url }) => url === "/auth/refresh")).toHaveLength(1);
    expect(store.tokens?.access_token).not.toBe(ended.access_token);
  });

  test("tokens that nobody refreshes any more are forgotten", async () => {
    const store = kept({ access_token: "x", refresh_token: "y" });
    const stranger = createClient({ baseUrl: service.url, tokens: store });
    await expect(tasks.list(stranger, {})).rejects.toMatchObject({ code: "core.authentication" });
    expect(store.tokens).toBeNull();
  });

  test("a service that goes away is asked again, when it says", async () => {
    proxy.faults.push({ status: 503, retryAfter: "1" }, { status: 502 });
    const began = Date.now();
    expect((await tasks.list(behindProxy(), { size: 1 })).size).toBe(1);
    expect(Date.now() - began).toBeGreaterThanOrEqual(1_000);
    expect(proxy.seen).toHaveLength(3);
  });

  test("a create whose answer is lost is sent again under one key, and creates once", async () => {
    proxy.faults.push("lose the answer");
    const title = "once";
    const task = await tasks.create(behindProxy(), { title, project });
    const keys = proxy.seen.map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    const found = await tasks.list(client, { filters: { $values: { title } } });
    expect(found.hits.map(({ id }) => id)).toEqual([task.id]);
  });

  test("a call that may have taken effect is not sent again", async () => {
    const task = await tasks.create(client, { title: "no key", project });
    proxy.seen.length = 0;
    proxy.faults.push("lose the answer");
    const patch = { state: "done" as const };
    const settled = await tasks.update(behindProxy(), { id: task.id, rev: 1, patch }).settled();
    expect(settled).toMatchObject({ ok: false, error: { code: "client.network" } });
    expect(proxy.seen).toHaveLength(1);
  });

  test("a call ends with its signal and with its time", async () => {
    proxy.faults.push("say nothing", { status: 503, retryAfter: "10" });
    const patient = tasks.list(behindProxy(), {}, { timeoutMillis: 200 });
    await expect(patient).rejects.toMatchObject({ code: "client.timeout", status: 0 });
    const abort = new AbortController();
    const given = tasks.list(behindProxy(), {}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await expect(given).rejects.toMatchObject({ code: "client.aborted" });
    await expect(tasks.list(client, {}, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
      ApiError,
    );
  });

  test("files go up as forms, and come down as streams", async () => {
    const file = new File(["hello"], "hello.txt", { type: "text/plain" });
    const stored = await files.upload(client, { file, prefix: "docs" });
    const response = await files.download(client, { key: stored.key });
    expect([await response.text(), stored.size]).toEqual(["hello", 5]);
    await expect(files.download(client, { key: "docs/nothing" })).rejects.toMatchObject({
      code: "core.not_found",
    });
  });

  test("a part whose connection is cut is sent again, and the others go on", async () => {
    const mebibyte = 1024 * 1024;
    const bytes = new Uint8Array(5 * mebibyte).map((_, index) => index * 17);
    const broken = createClient({
      baseUrl: service.url,
      tokens: kept({ access_token: ann.token }),
      // Only the parts travel through the proxy.
      fetch: (input, init) =>
        fetch(init?.method === "PUT" ? String(input).replace(service.url, proxy.url) : input, init),
    });
    proxy.faults.push("pass", "cut", "cut", { status: 502 });
    const head = await upload(broken, files, new Blob([bytes]), {
      key: "cut.bin",
      partBytes: mebibyte,
      parallel: 2,
    });
    expect([head.size, proxy.seen.length]).toEqual([bytes.length, 8]);
    const back = await (await files.download(client, { key: "cut.bin" })).arrayBuffer();
    expect(Buffer.compare(Buffer.from(back), Buffer.from(bytes))).toBe(0);
  });

  test("a file that goes up has its own type, and what refuses a part says why", async () => {
    const typed = new Blob(["%PDF-1.7"], { type: "application/pdf" });
    await upload(client, files, typed, { key: "typed.pdf" });
    const head = await files.metadata(client, { key: "typed.pdf" });
    expect(head.content_type).toBe("application/pdf");
    // The storage takes 64 MiB.
    const large = new Blob([new Uint8Array(65 * 1024 * 1024)]);
    const refused = upload(client, files, large, { key: "large.bin", partBytes: 33 * 1024 * 1024 });
    await expect(refused).rejects.toMatchObject({
      code: "client.upload_refused",
      status: 413,
      cause: { code: "upload_too_large" },
    });
  });

  test("a download that is given up while it is read ends", async () => {
    const bytes = new Uint8Array(20 * 1024 * 1024);
    await upload(client, files, new Blob([bytes]), { key: "long.bin" });
    const leaving = new AbortController();
    const response = await files.download(client, { key: "long.bin" }, { signal: leaving.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    const rest = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toThrow();
  });

  test("a file goes up in parts, and on where an earlier try ended", async () => {
    const mebibyte = 1024 * 1024;
    const bytes = new Uint8Array(12 * mebibyte).map((_, index) => index * 31);
    const file = new Blob([bytes], { type: "application/octet-stream" });
    const session: { kept?: KeptSession } = {};
    const abort = new AbortController();
    const options = { key: "big.bin", partBytes: mebibyte, parallel: 2 };
    const first = upload(client, files, file, {
      ...options,
      signal: abort.signal,
      onSession: (given) => {
        session.kept = given;
      },
      onProgress: (sent) => {
        if (sent >= 4 * mebibyte) abort.abort();
      },
    });
    await expect(first).rejects.toMatchObject({ code: "client.aborted" });
    if (session.kept === undefined) throw new Error("there is no session");
    const told: number[] = [];
    const head = await upload(client, files, file, {
      ...options,
      session: session.kept,
      onProgress: (sent) => told.push(sent),
    });
    expect(told[0]).toBeGreaterThanOrEqual(4 * mebibyte);
    expect([told.at(-1), head.size]).toEqual([file.size, file.size]);
    const back = await (await files.download(client, { key: "big.bin" })).arrayBuffer();
    expect(Buffer.compare(Buffer.from(back), Buffer.from(bytes))).toBe(0);

    // Its session is over: another try, as after an answer that was lost, has a new one.
    const sessions: KeptSession[] = [];
    const again = await upload(client, files, new Blob(["anew"]), {
      ...options,
      session: session.kept,
      onSession: (given) => void sessions.push(given),
    });
    expect([again.size, sessions.length]).toEqual([4, 1]);
    expect(sessions[0]?.upload_id).not.toBe(session.kept.upload_id);
  });
});

test("one operation, with its errors, refresh and repetitions, is under 4 KB where the rest is shaken off", async () => {
  const folder = new URL("../../../generated/client", import.meta.url).pathname;
  const contents = `
    import { createClient, tasks } from "./index.js";
    const client = createClient({ baseUrl: "https://api.example.com" });
    tasks.get(client, { id: "1" }).settled().then(console.log);
  `;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder, loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  const [file] = outputFiles;
  expect(file?.text).not.toContain("/notes");
  expect(gzipSync(file?.contents ?? "").length).toBeLessThan(4 * 1024);
});
