// Bad HTTP and bad JSON: the outcome that we owe each of them (attacks 35–50).
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errors } from "../../../runtime/contract/errors.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

const [engine] = engines;
if (engine === undefined) throw new Error("no engine");
const project = "01890000-0000-7000-8000-000000000004";
let service: TestService;
beforeAll(async () => {
  service = await startTestService(engine);
});
afterAll(() => service.stop());

/** Sends bytes as they are and gives back what comes until the server closes, or after `patience` ms. */
function raw(bytes: string | Buffer, patience = 1_500): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, patience);
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("close", finish);
    socket.on("error", finish);
    socket.write(bytes);
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
const codeOf = (answer: string): string | undefined => /^x-error-code: (\S+)/im.exec(answer)?.[1];

/** Whether the answer is a JSON envelope whose code is that of its header. */
function isEnvelope(answer: string): boolean {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  const envelope = JSON.parse(body) as Record<string, unknown>;
  expect(Object.keys(envelope).sort()).toEqual(["code", "context", "detail", "kind"]);
  return envelope["code"] === codeOf(answer);
}

describe("malformed HTTP", () => {
  const post = "POST /tasks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const cases: readonly (readonly [string, string | Buffer, number])[] = [
    [
      "Transfer-Encoding with Content-Length",
      `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      "Transfer-Encoding: chunked, identity",
      `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["two Content-Lengths", `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ["a signed Content-Length", `${post}Content-Length: +3\r\n\r\n{}`, 400],
    ["bare line feeds", "GET /livez HTTP/1.1\nHost: a\n\n", 400],
    ["a space before the colon", "GET /livez HTTP/1.1\r\nHost : a\r\n\r\n", 400],
    ["obsolete folding", "GET /tasks/query HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400],
    ["no Host", "GET /livez HTTP/1.1\r\n\r\n", 400],
    ["two Hosts", "GET /tasks/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400],
    ["a 20 KB header", `GET /livez HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["a 20 KB path", `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ["HTTP/2.0 in a request line", "GET /livez HTTP/2.0\r\nHost: a\r\n\r\n", 400],
    ["HTTP/0.9 in a request line", "GET /livez HTTP/0.9\r\nHost: a\r\n\r\n", 400],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", 400],
    ["no HTTP at all", "\u0016\u0003\u0001 hello\r\n\r\n", 400],
    [
      "a vertical tab in Transfer-Encoding",
      `${post}Transfer-Encoding:\u000bchunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
  ];
  test.each(cases)(
    "%s is refused with the envelope, and the connection ends",
    async (_what, bytes, status) => {
      const answer = await raw(bytes);
      expect([statusOf(answer), isEnvelope(answer)]).toEqual([status, true]);
      expect(answer.toLowerCase()).toContain("connection: close");
    },
  );

  test("CONNECT is refused with the envelope", async () => {
    const answer = await raw("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n");
    expect([statusOf(answer), codeOf(answer), isEnvelope(answer)]).toEqual([
      405,
      "method_not_allowed",
      true,
    ]);
  });

  test("callers who reset a CONNECT do not end the process, and keep no socket", async () => {
    const { hostname, port } = new URL(service.url);
    for (let round = 0; round < 200; round += 1) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
      socket.resetAndDestroy();
    }
    expect((await service.call("GET", "/livez")).status).toBe(200);
  });

  test("a body that never comes does not hold the deadline of others", async () => {
    const answer = await raw(`${post}Content-Length: 100\r\n\r\n{"title`, 300);
    expect(answer).toBe("");
    expect((await service.call("GET", "/livez")).status).toBe(200);
  });
});

describe("methods and paths", () => {
  test.each([
    ["PUT", "/tasks", "POST"],
    ["TRACE", "/tasks", "POST"],
    ["GET", "/notes/create", "POST"],
    ["DELETE", "/tasks/x/delete", "POST"],
    ["POST", "/livez", "GET, HEAD"],
    ["OPTIONS", "/projects/01890000-0000-7000-8000-000000000004", "DELETE, GET, HEAD, PATCH"],
  ])("%s %s is 405 with Allow", async (method, path, allow) => {
    const answer = await raw(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect([statusOf(answer), codeOf(answer), isEnvelope(answer)]).toEqual([
      405,
      "method_not_allowed",
      true,
    ]);
    expect(/^allow: (.*)\r$/im.exec(answer)?.[1]).toBe(allow);
  });

  test.each(["/nothing", "/tasks/query/extra", "/TASKS", "/..", "//tasks"])(
    "%s is 404 with the envelope",
    async (path) => {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect([statusOf(answer), isEnvelope(answer)]).toEqual([404, true]);
    },
  );

  test("method override headers mean nothing", async () => {
    const refused = await service.call("POST", "/tasks/query", {
      body: {},
      headers: { "x-http-method-override": "DELETE" },
    });
    expect(refused.status).toBe(200);
  });

  test.each(["/tasks/%zz", "/tasks/%c0%ae", "/tasks/%"])("the path %s is refused", async (path) => {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect([statusOf(answer), codeOf(answer), isEnvelope(answer)]).toEqual([
      400,
      "path_malformed",
      true,
    ]);
  });

  test.each([
    ["x", 422],
    ["01890000-0000-7000-8000-00000000000", 422],
    ["' OR 1=1", 422],
    ["01890000-0000-7000-8000-0000000000049", 422],
  ])("the id %j is refused before the operation runs", async (id, status) => {
    const refused = await service.call("GET", `/tasks/${encodeURIComponent(id)}`);
    expect([refused.status, refused.body.code]).toEqual([status, "core.validation"]);
  });
});

describe("query parameters", () => {
  const id = "01890000-0000-7000-8000-000000000004";
  test.each([
    ["rev=1&rev=2", 400, "parameter_malformed"],
    ["rev[]=1", 400, "parameter_malformed"],
    ["rev[$ne]=1", 400, "parameter_malformed"],
    ["rev=%zz", 400, "parameter_malformed"],
    ["=1", 400, "parameter_malformed"],
    ["rev=1e3", 422, "core.validation"],
    ["rev=%201", 422, "core.validation"],
    ["rev=0x1", 422, "core.validation"],
    ["rev=0", 422, "core.validation"],
    ["rev=-1", 422, "core.validation"],
    ["rev=1.0", 422, "core.validation"],
    ["rev=99999999999999999999", 422, "core.validation"],
    ["rev=", 422, "core.validation"],
    ["rev=1&extra=1", 422, "core.validation"],
    ["rev=1&__proto__=1", 422, "core.validation"],
    ["rev=1&constructor=1", 422, "core.validation"],
    ["rev=1&id=x", 422, "core.validation"],
  ])("%s is %i %s", async (query, status, code) => {
    const refused = await service.call("POST", `/tasks/${id}/delete?${query}`);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
  });
});

describe("bodies", () => {
  const send = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${service.url}/tasks`, {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${service.tester.token}`,
        "content-type": "application/json",
        ...headers,
      },
    }).then(async (response) => ({
      status: response.status,
      body: (await response.json()) as { readonly code: string; readonly rev?: number },
    }));
  const task = (rest: string): string => `{"title":"t","project":"${project}"${rest}}`;

  const nested = (depth: number, open: string, close: string): string =>
    open.repeat(depth) + "1" + close.repeat(depth);
  const cases: readonly (readonly [string, string | Buffer, number, string])[] = [
    ["nothing", "", 400, "json_malformed"],
    ["a byte order mark", `\ufeff${task("")}`, 400, "json_malformed"],
    [
      "invalid UTF-8",
      Buffer.concat([Buffer.from('{"title":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
      400,
      "json_malformed",
    ],
    [
      "an overlong encoding",
      Buffer.concat([Buffer.from('{"title":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
      400,
      "json_malformed",
    ],
    ["a lone surrogate", task(`,"labels":["\\ud800"]`), 400, "json_malformed"],
    ["a low surrogate first", task(`,"labels":["\\udc00\\ud800"]`), 400, "json_malformed"],
    ["U+0000", task(`,"labels":["\\u0000"]`), 422, "core.validation"],
    ["a raw control character", task(`,"labels":["\u0001"]`), 400, "json_malformed"],
    ["a trailing comma", `{"title":"t",}`, 400, "json_malformed"],
    ["a comment", `{/* */"title":"t"}`, 400, "json_malformed"],
    ["single quotes", `{'title':'t'}`, 400, "json_malformed"],
    ["NaN", task(`,"estimate":NaN`), 400, "json_malformed"],
    ["a leading zero", task(`,"estimate":01`), 400, "json_malformed"],
    ["text after the value", `${task("")} x`, 400, "json_malformed"],
    ["a key twice", task(`,"title":"u"`), 400, "json_duplicate_key"],
    ["a key twice, once escaped", task(`,"\\u0074itle":"u"`), 400, "json_duplicate_key"],
    ["a key twice inside", task(`,"x":{"a":1,"a":2}`), 400, "json_duplicate_key"],
    ["10 000 nested arrays", nested(10_000, "[", "]"), 400, "json_too_deep"],
    ["10 000 nested objects", nested(10_000, '{"a":', "}"), 400, "json_too_deep"],
    ["200 000 values", `[${"1,".repeat(200_000)}1]`, 422, "json_too_complex"],
    ["a number that overflows", task(`,"estimate":1e400`), 422, "number_not_exact"],
    ["a number that underflows", task(`,"estimate":0.1e-400`), 422, "number_not_exact"],
    ["an integer beyond 2^53", task(`,"estimate":9007199254740993`), 422, "number_not_exact"],
    [
      "a number of 100 000 digits",
      task(`,"estimate":${"1".repeat(100_000)}`),
      422,
      "number_not_exact",
    ],
    ["a list", "[]", 422, "core.validation"],
    ["null", "null", 422, "core.validation"],
    ["a text", '"x"', 422, "core.validation"],
    [
      "a date that leaves the calendar in UTC",
      task(`,"due":"9999-12-31T23:59:59-23:59"`),
      422,
      "core.validation",
    ],
    ["the year 0", task(`,"due":"0000-01-01T00:00:00Z"`), 422, "core.validation"],
    [
      "an integer beyond 2^53 with an exponent",
      task(`,"estimate":9007199254740993e0`),
      422,
      "number_not_exact",
    ],
    ["2 MB", task(`,"labels":["${"x".repeat(2_000_000)}"]`), 413, "body_too_large"],
  ];
  test.each(cases)("%s is refused", async (_what, body, status, code) => {
    const refused = await send(body);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
  });

  test("the time in which a body arrives counts against the deadline", async () => {
    const head =
      "POST /tasks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Deadline-Budget: 0.1\r\n";
    const answer = await raw(`${head}Content-Length: 10\r\nConnection: close\r\n\r\n{`);
    expect([statusOf(answer), codeOf(answer)]).toEqual([504, "deadline_exceeded"]);
  });

  test("-0 and exponents are numbers like others", async () => {
    expect((await send(task(`,"estimate":-0`))).status).toBe(201);
    expect((await send(task(`,"estimate":1.5e2`))).status).toBe(201);
  });

  test("a body that grows past the limit while it is read is cut off", async () => {
    const chunk = "x".repeat(64 * 1024);
    const parts = Array.from(
      { length: 40 },
      () => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    ).join("");
    const answer = await raw(
      `POST /tasks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${parts}0\r\n\r\n`,
    );
    expect([statusOf(answer), codeOf(answer)]).toEqual([413, "body_too_large"]);
  });

  test.each([
    ["text/plain"],
    ["text/json"],
    ["application/json; charset=utf-16"],
    ["application/json; version=1; charset=utf-16"],
    ["application/json-patch+json"],
    ["application/json; charset=latin1"],
    ["application/xml"],
    ["application/x-www-form-urlencoded"],
    ["multipart/form-data; boundary=x"],
  ])("the media type %s is 415", async (type) => {
    const refused = await send(task(""), { "content-type": type });
    expect([refused.status, refused.body.code]).toEqual([415, "media_type_unsupported"]);
  });

  test.each([
    "application/json; charset=UTF-8",
    "application/json; version=1",
    'application/json;charset="utf-8"',
    "application/merge-patch+json",
  ])("the media type %s is read", async (type) =>
    expect((await send(task(""), { "content-type": type })).status).toBe(201),
  );

  test("a compressed body is refused before it is inflated", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    for (const encoding of ["gzip", "br", "deflate"]) {
      const refused = await send(bomb, { "content-encoding": encoding });
      expect([refused.status, refused.body.code]).toEqual([415, "media_type_unsupported"]);
    }
  });

  test("hostile bodies do not grow the process without bound", async () => {
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 20; round += 1) {
      await send(`[${"1,".repeat(400_000)}1]`);
      await send(nested(200_000, "[", "]"));
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });
});

describe("the error channel", () => {
  test("every answer names its code in the header, and the table knows it", async () => {
    for (const [method, path] of [
      ["GET", "/nothing"],
      ["PUT", "/tasks"],
      ["GET", "/tasks/x"],
    ] as const) {
      const refused = await service.call(method, path);
      expect(refused.headers.get("x-error-code")).toBe(refused.body.code);
      const row = errors[refused.body.code as keyof typeof errors];
      expect([row.status, row.kind, row.detail]).toEqual([
        refused.status,
        refused.body.kind,
        refused.body.detail,
      ]);
    }
  });

  test("no answer can be sniffed, framed, or read by a script of another origin", async () => {
    const from = "Origin: https://evil.test\r\nConnection: close\r\n";
    const requests = [
      `GET /places/list HTTP/1.1\r\nHost: a\r\n${from}\r\n`,
      `GET /nothing HTTP/1.1\r\nHost: a\r\n${from}\r\n`,
      `GET /livez HTTP/1.1\r\nHost: a\r\n${from}\r\n`,
      `GET /openapi.json HTTP/1.1\r\nHost: a\r\n${from}\r\n`,
      `OPTIONS /tasks HTTP/1.1\r\nHost: a\r\n${from}Access-Control-Request-Method: POST\r\n\r\n`,
      `POST /places/list HTTP/1.1\r\nHost: a\r\n${from}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
      `GET / HTTP/9.9\r\n\r\n`,
    ];
    for (const answer of await Promise.all(requests.map((request) => raw(request)))) {
      const [head = ""] = answer.split("\r\n\r\n");
      expect(statusOf(answer)).toBeGreaterThanOrEqual(200);
      expect(head).toMatch(/^X-Content-Type-Options: nosniff$/m);
      expect(head).toMatch(
        /^Content-Security-Policy: default-src 'none'; frame-ancestors 'none'$/m,
      );
      expect(head).toMatch(/^Content-Type: application\/json; charset=utf-8$/m);
      expect(head.toLowerCase()).not.toContain("access-control-");
    }
  });

  test("ids are ours, and those of the caller only where they are well formed", async () => {
    const given = "01890000-0000-7000-8000-00000000000A";
    const kept = await service.call("GET", "/nothing", {
      headers: { "x-correlation-id": given, "x-request-id": "mine" },
    });
    expect(kept.headers.get("x-correlation-id")).toBe(given.toLowerCase());
    expect(kept.headers.get("x-request-id")).not.toBe("mine");
    const replaced = await service.call("GET", "/nothing", {
      headers: { "x-correlation-id": "bad id <script>" },
    });
    expect(replaced.headers.get("x-correlation-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});
