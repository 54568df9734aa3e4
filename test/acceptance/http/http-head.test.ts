// What the head of a request decides: targets, hosts, expectations, preflights, methods (RFC 9110, RFC 9112, attack 108).
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { defineService } from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

const app = "https://app.example";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine, { environment: { CORS_ORIGINS: app } });
    });
    afterAll(() => service.stop());

    /** Sends bytes, then `later` once something has come; gives back all that comes until the server closes. */
    const raw = (head: string, later?: string, url = service.url): Promise<string> => {
      const { hostname, port } = new URL(url);
      return new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(head));
        let answer = "";
        socket.on("data", (chunk) => {
          if (answer === "" && later !== undefined) socket.write(later);
          answer += chunk.toString("latin1");
        });
        socket.on("close", () => resolve(answer));
        socket.on("error", reject);
      });
    };
    const bearer = (): string => `Authorization: Bearer ${service.tester.token}\r\n`;
    const get = (target: string, host = "a"): Promise<string> =>
      raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${bearer()}Connection: close\r\n\r\n`);
    const statusOf = (answer: string): number =>
      Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
    const headerOf = (answer: string, name: string): string | undefined =>
      new RegExp(`^${name}: (.*)\r$`, "im").exec(answer)?.[1];

    test.each(["/livez", "/openapi.json", "/realtime/history", "/tenants"])(
      "%s is found by its absolute and its percent-encoded form",
      async (path) => {
        const encoded = `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`;
        for (const target of [path, `http://a${path}`, `HTTP://other.test:81${path}?`, encoded])
          expect([target, statusOf(await get(target))]).toEqual([target, 200]);
        expect(statusOf(await get(path.replace("/", "/%2f")))).toBe(404);
      },
    );

    test("the authority of an absolute target stands for Host", async () => {
      const cookie = `Cookie: session=${service.tester.token}\r\nOrigin: http://a.test\r\n`;
      const post = (target: string, host: string): Promise<string> =>
        raw(
          `POST ${target} HTTP/1.1\r\nHost: ${host}\r\n${cookie}Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
        );
      expect(statusOf(await post("http://a.test/tasks/query", "evil.test"))).toBe(200);
      expect(statusOf(await post("http://evil.test/tasks/query", "a.test"))).toBe(403);
    });

    test("an absolute target without a host is malformed", async () => {
      for (const target of ["http:///livez", "http://:80/livez", "http://?x"]) {
        const answer = await get(target);
        expect([target, statusOf(answer), headerOf(answer, "x-error-code")]).toEqual([
          target,
          400,
          "http_malformed",
        ]);
      }
    });

    test.each(["a b", "a/b", "a:b", "a:99999", "[::1", "user@a", "a,b.test/", "ä", "a?b", "%zz"])(
      "the Host %j is malformed",
      async (host) => {
        const answer = await get("/livez", host);
        expect([statusOf(answer), headerOf(answer, "x-error-code")]).toEqual([
          400,
          "http_malformed",
        ]);
      },
    );
    test.each([
      "a",
      "a:80",
      "a.test:",
      "[::1]:8080",
      "127.0.0.1",
      "a_b.test",
      "xn--bcher-kva.test",
    ])("the Host %j is sound", async (host) =>
      expect(statusOf(await get("/livez", host))).toBe(200),
    );

    describe("Expect: 100-continue", () => {
      const post = (path: string, headers: string): string =>
        `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}Expect: 100-continue\r\nConnection: close\r\n\r\n`;
      const type = "Content-Type: application/json\r\n";

      test.each([
        ["no route", "/nothing", `${type}Content-Length: 9\r\n`, 404],
        ["nobody", "/tasks", `Authorization: Bearer x\r\n${type}Content-Length: 9\r\n`, 401],
        ["another type", "/places/list", `Content-Type: text/plain\r\nContent-Length: 9\r\n`, 415],
        ["too much", "/places/list", `${type}Content-Length: 99999999\r\n`, 413],
        ["a bad query", "/places/list?x=1", `${type}Content-Length: 9\r\n`, 422],
      ])("a head with %s has its final status at once", async (_what, path, headers, status) => {
        const began = performance.now();
        const answer = await raw(post(path, headers));
        expect(statusOf(answer)).toBe(status);
        expect(answer).not.toContain("100 Continue");
        expect(performance.now() - began).toBeLessThan(900);
      });

      test("a body that is wanted is asked for, once", async () => {
        const body = `{"size":1}`;
        const length = `${type}Content-Length: ${body.length}\r\n`;
        const answer = await raw(post("/places/list", length), body);
        expect(answer.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(["HTTP/1.1 100", "HTTP/1.1 200"]);
      });

      test("a form is asked for too", async () => {
        const form = `--b\r\nContent-Disposition: form-data; name="file"; filename="x.txt"\r\n\r\nhello\r\n--b--\r\n`;
        const headers = `${bearer()}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\n`;
        const answer = await raw(post("/files", headers), form);
        expect(answer.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(["HTTP/1.1 100", "HTTP/1.1 201"]);
      });

      test("any other expectation is 417 with the envelope", async () => {
        const answer = await raw(
          `GET /livez HTTP/1.1\r\nHost: a\r\nExpect: a-pony\r\nConnection: close\r\n\r\n`,
        );
        expect([statusOf(answer), headerOf(answer, "x-error-code")]).toEqual([
          417,
          "expectation_failed",
        ]);
        expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
          code: "expectation_failed",
        });
      });
    });

    test.each([
      ["/tasks/query", 204],
      ["/tasks/01890000-0000-7000-8000-000000000001", 204],
      ["/openapi.json", 204],
      ["/realtime/history", 204],
      ["/realtime/sse/ack", 204],
      ["/nothing", 404],
      ["/tasks/query/extra", 404],
      ["/realtime/nothing", 404],
    ])("the preflight of %s is %i", async (path, status) => {
      const headers = { origin: app, "access-control-request-method": "POST" };
      const answer = await service.call("OPTIONS", path, { headers });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
        status,
        app,
      ]);
    });

    test("HEAD answers as GET does on the history and on a stream", async () => {
      const [head, whole] = [
        await service.call("HEAD", "/realtime/history"),
        await service.call("GET", "/realtime/history"),
      ];
      expect([head.status, head.body]).toEqual([200, undefined]);
      expect(head.headers.get("content-length")).toBe(whole.headers.get("content-length"));
      const stream = await service.call("HEAD", "/realtime/sse");
      expect([stream.status, stream.headers.get("content-type"), stream.body]).toEqual([
        200,
        "text/event-stream; charset=utf-8",
        undefined,
      ]);
      const nobody = { headers: { authorization: "" } };
      expect((await service.call("HEAD", "/realtime/sse", nobody)).status).toBe(401);
      const posted = await service.post("/realtime/history", {});
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    });

    const version = "Sec-WebSocket-Version: 13";
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    const engineIo = "/realtime/socket.io/?EIO=4&transport=websocket";
    test.each([
      ["GET", "/realtime/ws", "Host: a", key, "Sec-WebSocket-Version: 7", 426, "upgrade_required"],
      ["GET", "/realtime/ws", "Host: a", key, "X-No: version", 426, "upgrade_required"],
      ["GET", "/realtime/ws", "Host: a", "X-No: key", version, 400, "http_malformed"],
      [
        "GET",
        "/realtime/ws",
        "Host: a",
        "Sec-WebSocket-Key: short",
        version,
        400,
        "http_malformed",
      ],
      [
        "GET",
        "/realtime/ws",
        "Host: a\r\nSec-WebSocket-Protocol: a b",
        key,
        version,
        400,
        "http_malformed",
      ],
      ["POST", "/realtime/ws", "Host: a", key, version, 405, "method_not_allowed"],
      ["GET", "/realtime/ws", "Host: a b", key, version, 400, "http_malformed"],
      ["GET", "/realtime/ws", "X-No: host", key, version, 400, "http_malformed"],
      ["GET", engineIo, "Host: a", "X-No: key", version, 400, "http_malformed"],
      ["GET", engineIo, "Host: a", key, "Sec-WebSocket-Version: 7", 426, "upgrade_required"],
      ["GET", engineIo.replace("4", "3"), "Host: a", key, version, 400, "core.malformed"],
      ["GET", engineIo.replace("websocket", "x"), "Host: a", key, version, 400, "core.malformed"],
      ["POST", engineIo, "Host: a", key, version, 405, "method_not_allowed"],
      ["GET", "/nothing", "Host: a", key, version, 404, "route_not_found"],
    ])(
      "%s %s that asks for a WebSocket by %j, %j and %j is refused with the envelope: %i",
      async (method, path, host, keyed, versioned, status, code) => {
        const head = [host, "Connection: Upgrade, close", "Upgrade: websocket", keyed, versioned];
        const answer = await raw(`${method} ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`);
        expect([statusOf(answer), headerOf(answer, "x-error-code")]).toEqual([status, code]);
        expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code });
        expect(headerOf(answer, "x-content-type-options")).toBe("nosniff");
        if (status === 426)
          expect([headerOf(answer, "sec-websocket-version"), headerOf(answer, "upgrade")]).toEqual([
            "13",
            "websocket",
          ]);
      },
    );

    test("a plain GET of the WebSocket path is told to upgrade", async () => {
      const answer = await get("/realtime/ws");
      expect([
        statusOf(answer),
        headerOf(answer, "x-error-code"),
        headerOf(answer, "upgrade"),
        headerOf(answer, "connection"),
      ]).toEqual([426, "upgrade_required", "websocket", "Upgrade, close"]);
      const posted = await service.post("/realtime/ws", {});
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    });
  });
}

test("the app of the author's own sees preflights of its own paths", async () => {
  const [engine] = engines;
  if (engine === undefined) throw new Error("no engine");
  const definition = defineService({
    ...reference,
    app: (req, res, next) => {
      if (req.url !== "/mine") return next();
      res.writeHead(204).end();
    },
  });
  const service = await startTestService(engine, {
    definition,
    environment: { CORS_ORIGINS: app },
  });
  try {
    const headers = { origin: app, "access-control-request-method": "POST" };
    for (const [path, status] of [
      ["/mine", 204],
      ["/theirs", 404],
    ] as const) {
      const answer = await service.call("OPTIONS", path, { headers });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
        status,
        app,
      ]);
    }
  } finally {
    await service.stop();
  }
});
