// The headers of answers are those of the document: what is sent is named, and what is named is sent (OpenAPI 3.1 "Response Object").
import { request, type OutgoingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: headed, title: Headed, version: 1.0.0}
identity: {}
policies: {open: [], mine: [principal], slow: [{rate_limit: 1/1m}]}
documents:
  notes:
    type: {text: string, more: string?}
    guard: open
    idempotency: [create]
storage:
  files: {guard: open}
realtime:
  transports: [sse]
  presence: true
  topics: registry/parts.ts#topics
  events:
    note.read: {data: {note: uuid}, audience: [principal, topic], delivery: ephemeral}
operations:
  parts.old:
    get: /old
    in: {fails: boolean?}
    out: {text: string}
    deprecated: {since: 2026-03-01, sunset: 2099-09-01}
    run: registry/parts.ts#old
    guard: open
  parts.said:
    get: /said
    out: {text: string}
    reply: {status: [202], headers: [X-Total, cache-control], cookies: {seen: {max_age: 1d}}}
    run: registry/parts.ts#said
    guard: open
  parts.go: {get: /go, reply: {redirect: [303]}, run: registry/parts.ts#go, guard: open}
  parts.mine: {get: /mine, run: registry/parts.ts#nothing, guard: mine}
  parts.slow: {get: /slow, run: registry/parts.ts#nothing, guard: slow}
  parts.away: {get: /away, run: registry/parts.ts#away, guard: open}
  parts.held: {post: /held, out: {text: string}, run: registry/parts.ts#held, guard: mine, idempotency: true}
`,
  "registry/parts.ts": `import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "opwright/runtime";
const text = "a text that is long enough to be worth the work of compressing it ".repeat(40);
export const old = ({ fails }: { readonly fails?: boolean }): { readonly text: string } => {
  if (fails === true) throw fail("core.conflict");
  return { text };
};
export const said = (_input: unknown, { reply }): { readonly text: string } => {
  reply.header("x-total", "12");
  reply.header("cache-control", "max-age=60");
  reply.cookie("seen", "yes");
  return { text };
};
export const go = (_input: unknown, { reply }): void => reply.redirect("/old", 303);
export const topics = (): readonly string[] => [];
export const nothing = (): void => undefined;
export const away = (): void => {
  throw fail("core.unavailable");
};
export const held = async (): Promise<{ readonly text: string }> => {
  await sleep(400);
  return { text };
};
`,
};

interface Documented {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly headers?: object; readonly $ref?: string }>
  >;
}

interface Raw {
  readonly status: number;
  /** In lower case. */
  readonly names: readonly string[];
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** Of the connection and its framing, or the type of the content, which OpenAPI has elsewhere. */
const ofMessage = ["connection", "keep-alive", "date", "transfer-encoding", "content-type"];

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    // oxlint-disable-next-line typescript/no-explicit-any -- a document is looked into everywhere
    let document: any;
    let bearer = "";
    beforeAll(async () => {
      service = await project.start(engine, { environment: { COMPRESS_BYTES: "1024" } });
      document = (await service.call("GET", "/openapi.json")).body;
      bearer = `Bearer ${service.tester.token}`;
    });
    afterAll(() => service.stop());

    /** What was sent and not named, and all that was sent, by operation and status. */
    const unnamed = new Set<string>();
    const sent = new Map<string, Set<string>>();

    const raw = (
      method: string,
      target: string,
      headers: OutgoingHttpHeaders,
      body?: string | Buffer,
    ): Promise<Raw> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(service.url);
        const req = request({ hostname, port, method, path: target, headers }, (res) => {
          const chunks: Buffer[] = [];
          res.on("data", (chunk: Buffer) => chunks.push(chunk));
          res.on("end", () =>
            resolve({
              status: res.statusCode ?? 0,
              names: Object.keys(res.headers),
              headers: res.headers,
              text: Buffer.concat(chunks).toString("utf8"),
            }),
          );
        });
        req.on("error", reject);
        req.end(body);
      });

    /** The names of the headers of a response of the document, in lower case. */
    const namedIn = ({ responses }: Documented, status: number): readonly string[] => {
      const response = responses[String(status)];
      const name = response?.$ref?.split("/").pop();
      const { headers } =
        (name === undefined ? response : document.components.responses[name]) ?? {};
      return Object.keys(headers ?? {}).map((header) => header.toLowerCase());
    };

    /** Those of any answer, which the document names once. */
    const ofEvery = (): readonly string[] =>
      Object.keys(document["x-headers-of-every-answer"]).map((header) => header.toLowerCase());

    /** Calls an operation, and notes the headers of its answer. */
    const drive = async (
      method: string,
      path: string,
      {
        target = path,
        headers = {},
        body,
      }: {
        readonly target?: string;
        readonly headers?: OutgoingHttpHeaders;
        readonly body?: string | Buffer;
      } = {},
    ): Promise<Raw> => {
      const operation: Documented = document.paths[path][method.toLowerCase()];
      const answer = await raw(method, target, headers, body);
      const at = `${operation.operationId} ${answer.status}`;
      expect([at, Object.keys(operation.responses)]).toEqual([
        at,
        expect.arrayContaining([String(answer.status)]),
      ]);
      const named = [...namedIn(operation, answer.status), ...ofEvery()];
      const seen = sent.get(at) ?? new Set<string>();
      sent.set(at, seen);
      for (const name of answer.names) {
        seen.add(name);
        if (!ofMessage.includes(name) && !named.includes(name)) unnamed.add(`${at}: ${name}`);
      }
      return answer;
    };

    const json = { "content-type": "application/json" };
    const zipped = { "accept-encoding": "gzip" };

    test("of documents", async () => {
      const long = "a".repeat(2_000);
      const create = async (headers: OutgoingHttpHeaders): Promise<Raw> =>
        drive("POST", "/notes", {
          headers: { ...json, ...headers },
          body: JSON.stringify({ text: long }),
        });
      const first = await create({ "idempotency-key": "one", ...zipped });
      expect([first.status, first.headers["content-encoding"]]).toEqual([201, "gzip"]);
      expect((await create({ "idempotency-key": "one" })).headers["idempotency-replayed"]).toBe(
        "true",
      );
      const made = JSON.parse((await create({})).text) as { readonly id: string };
      const path = "/notes/{id}";
      const target = `/notes/${made.id}`;
      // Last-Modified is only sent once its second is over.
      await expect
        .poll(async () => (await drive("GET", path, { target })).headers["last-modified"])
        .toBeDefined();
      await drive("GET", path, { target, headers: zipped });
      const unchanged = await drive("GET", path, { target, headers: { "if-none-match": '"1"' } });
      expect(unchanged.status).toBe(304);
      const patch = { headers: { ...json, ...zipped }, body: JSON.stringify({ text: long }) };
      await drive("PATCH", path, { target: `${target}?rev=1`, ...patch });
      const html = { headers: { "content-type": "text/html" }, body: "<p>" };
      expect((await drive("PATCH", path, { target: `${target}?rev=1`, ...html })).status).toBe(415);
      expect((await drive("POST", "/notes", html)).status).toBe(415);
      await drive("PATCH", path, { target: `${target}?rev=7`, headers: json, body: "{}" });
      await drive("PATCH", path, { target, headers: json, body: "{}" });
      await drive("GET", path, { target, headers: { "if-match": '"7"' } });
      await drive("GET", path, { target: "/notes/no" });
      expect((await drive("DELETE", path, { target })).status).toBe(204);
      expect((await drive("GET", path, { target })).status).toBe(404);
    });

    test("of downloads", async () => {
      const form = new FormData();
      form.set("file", new Blob(["0123456789"]), "x.txt");
      const { key } = (await service.post("/files/files", form, { authorization: "" })).body;
      const path = "/files/files/{key}";
      const target = `/files/files/${key}`;
      const whole = await drive("GET", path, { target });
      expect([whole.status, whole.headers["accept-ranges"]]).toEqual([200, "bytes"]);
      await drive("HEAD", path, { target });
      const part = await drive("GET", path, { target, headers: { range: "bytes=2-4" } });
      expect([part.status, part.text]).toEqual([206, "234"]);
      const beyond = await drive("GET", path, { target, headers: { range: "bytes=20-" } });
      expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, "bytes */10"]);
      const headers = { "if-none-match": whole.headers["etag"] as string };
      expect((await drive("GET", path, { target, headers })).status).toBe(304);
      expect((await drive("HEAD", path, { target, headers })).status).toBe(304);
      const stale = { target, headers: { "if-match": '"x"' } };
      expect((await drive("DELETE", path, stale)).status).toBe(412);
      expect((await drive("DELETE", path, { target })).status).toBe(204);
    });

    test("of errors that say what to do", async () => {
      expect((await drive("GET", "/mine")).status).toBe(401);
      expect((await drive("GET", "/slow")).status).toBe(204);
      expect((await drive("GET", "/slow")).status).toBe(429);
      expect((await drive("GET", "/away")).status).toBe(503);
      const once = { headers: { authorization: bearer, "idempotency-key": "held" } };
      const answers = await Promise.all([
        drive("POST", "/held", once),
        drive("POST", "/held", once),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      await drive("POST", "/held", { headers: { ...once.headers, ...zipped } });
    });

    test("of what is deprecated, of handlers that set their own, of redirects", async () => {
      expect((await drive("GET", "/old", { headers: zipped })).status).toBe(200);
      expect((await drive("GET", "/old", { target: "/old?fails=true" })).status).toBe(409);
      expect((await drive("GET", "/said", { headers: zipped })).status).toBe(200);
      expect((await drive("GET", "/go")).status).toBe(303);
    });

    test("of realtime over HTTP", async () => {
      const authorization = { authorization: bearer };
      expect((await drive("GET", "/realtime/history", { headers: authorization })).status).toBe(
        200,
      );
      expect((await drive("GET", "/realtime/history")).status).toBe(401);
      const acknowledged = await drive("POST", "/realtime/sse/ack", {
        headers: { ...json, ...authorization },
        body: `{"up_to":"x"}`,
      });
      expect(acknowledged.status).toBe(200);
      const unknown = { target: "/realtime/presence?topic=t", headers: authorization };
      expect((await drive("GET", "/realtime/presence", unknown)).status).toBe(403);
    });

    test("each that was sent is named", () => {
      expect([...unnamed]).toEqual([]);
    });

    test("each that is named was sent", () => {
      const operations = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods as Readonly<Record<string, Documented>>),
      );
      const unsent = [...sent].flatMap(([at, seen]) => {
        const [id, status] = at.split(" ");
        const operation = operations.find(({ operationId }) => operationId === id);
        if (operation === undefined) throw new Error(`${id} is not in the document`);
        return namedIn(operation, Number(status))
          .filter((name) => !seen.has(name))
          .map((name) => `${at}: ${name}`);
      });
      expect(unsent).toEqual([]);
      const seen = new Set([...sent.values()].flatMap((one) => [...one]));
      expect(ofEvery().filter((name) => !seen.has(name))).toEqual([]);
      expect(sent.size).toBeGreaterThan(25);
    });
  });
}
