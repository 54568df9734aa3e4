// One order per connection: answers, refusals and other protocols come in the order of what asked for them (attack 134).
import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { raw, upgrade } from "../../support/raw-sockets.js";
import { startTestService, type TestService } from "../../support/service.js";

const project = "01890000-0000-7000-8000-000000000004";
/** What a client sends that takes it for granted that a service speaks HTTP/2 (RFC 9113 §3.4), with empty SETTINGS. */
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const h2c = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
/** Whether a program isn't installed, which the setup of all tests says loudly. */
const isMissing = (program: string): boolean =>
  (process.env["OPWRIGHT_TEST_WITHOUT"] ?? "").split(",").includes(program);
const plain = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

describe.each(engines.filter((engine) => engine.isAvailable))("$name", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(engine);
  });
  afterAll(() => service.stop());

  /** A request that stores a task. */
  const create = (title: string, further = "", beyond = ""): string => {
    const body = JSON.stringify({ title, project, estimate: 1, due: null });
    return (
      `POST /tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.tester.token}\r\n${further}` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${beyond}`
    );
  };
  /** The statuses of all answers until the service ends the connection, or as many as are asked for. */
  async function statusesOf(bytes: string, most = Number.POSITIVE_INFINITY): Promise<number[]> {
    const connection = await raw(service.url, bytes);
    const statuses = (): number[] =>
      [
        ...connection
          .received()
          .toString("latin1")
          .matchAll(/HTTP\/1\.1 (\d{3}) /g),
      ].map(([, status]) => Number(status));
    await expect
      .poll(() => connection.hasEnded() || statuses().length >= most, { timeout: 20_000 })
      .toBe(true);
    connection.socket.destroy();
    return statuses();
  }

  async function stored(title: string): Promise<number> {
    const filters = { $values: { title } };
    return (await service.post("/tasks/query", { filters, size: 10 })).body.hits.length;
  }

  test.each([
    ["garbage", "garbage\r\n\r\n", 400],
    ["one byte too many", "}", 400],
    ["the preface of HTTP/2", preface, 400],
    ["HTTP/2.0 in a request line", plain.replace("1.1", "2.0"), 400],
    ["HTTP/3.0 in a request line", plain.replace("1.1", "3.0"), 400],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405],
    ["a WebSocket that is refused", upgrade("x").replace("Version: 13", "Version: 7"), 426],
    ["a WebSocket of an older version", upgrade("x").replace("Version: 13", "Version: 8"), 426],
  ])("%s behind a request is refused behind its answer", async (what, rest, status) => {
    const behind = what === "one byte too many" ? `${rest}${plain}` : rest;
    expect(await statusesOf(create(`before ${what}`) + behind)).toEqual([201, status]);
    expect(await stored(`before ${what}`)).toBe(1);
  });

  test("the preface of HTTP/2 is refused, and nothing behind it runs", async () => {
    const connection = await raw(service.url, preface.slice(0, 20));
    connection.socket.write(`${preface.slice(20)}${create("behind the preface")}`);
    await expect.poll(() => connection.hasEnded()).toBe(true);
    const answers = connection
      .received()
      .toString("latin1")
      .match(/HTTP\/1\.1 \d+/g);
    expect(answers).toEqual(["HTTP/1.1 400"]);
    expect(await stored("behind the preface")).toBe(0);
  });

  test("nothing behind a refusal runs", async () => {
    const bytes = `${create("first")}garbage\r\n\r\n${create("never")}`;
    expect(await statusesOf(bytes)).toEqual([201, 400]);
    expect([await stored("first"), await stored("never")]).toEqual([1, 0]);
  });

  test("a WebSocket behind a request is accepted behind its answer", async () => {
    const { token } = service.tester;
    expect(await statusesOf(create("before a line") + upgrade(token), 2)).toEqual([201, 101]);
  });

  test("a request whose chunks are malformed is answered itself, and stores nothing", async () => {
    const chunked = create("chunked", "Transfer-Encoding: chunked\r\n")
      .replace(/Content-Length: \d+\r\n/, "")
      .replace(/\r\n\r\n.*$/s, '\r\n\r\n2\r\n{"\r\nzz\r\n');
    expect(await statusesOf(create("before chunks") + chunked)).toEqual([201, 400]);
    expect(await statusesOf(chunked)).toEqual([400]);
  });

  test("h2c is ignored, and the connection goes on, with bodies of every kind", async () => {
    const chunked = create("in chunks", `${h2c}Transfer-Encoding: chunked\r\n`)
      .replace(/Content-Length: \d+\r\n/, "")
      .replace(/\r\n\r\n(.*)$/s, (_all, body: string) => {
        return `\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      });
    const one = create("whole", h2c);
    expect(await statusesOf(one + chunked + plain + one, 4)).toEqual([201, 201, 200, 201]);
    expect([await stored("whole"), await stored("in chunks")]).toEqual([2, 1]);
    const held = await raw(
      service.url,
      create("held", `${h2c}Expect: 100-continue\r\n`).split("\r\n\r\n")[0] + "\r\n\r\n",
    );
    await expect.poll(() => held.received().toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    held.socket.write(create("held").split("\r\n\r\n")[1] ?? "");
    await expect.poll(() => held.received().toString()).toContain("HTTP/1.1 201 ");
    held.socket.destroy();
    const older = `GET /livez HTTP/1.0\r\n${h2c}\r\n`;
    expect(await statusesOf(older)).toEqual([200]);
  });

  test("many h2c requests on one connection leave nothing behind", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    const one = plain.replace("\r\n\r\n", `\r\n${h2c}\r\n`);
    expect(await statusesOf(one.repeat(50), 50)).toEqual(Array.from({ length: 50 }, () => 200));
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  test.skipIf(isMissing("javac"))(
    "Java's HTTP client can send a body, and again",
    async () => {
      const run = promisify(execFile)("java", [
        new URL("../../tools/HttpClientPost.java", import.meta.url).pathname,
        `${service.url}/tasks`,
        service.tester.token,
        JSON.stringify({ title: "by Java", project, estimate: 1, due: null }),
      ]);
      expect((await run).stdout).toBe("201 HTTP_1_1\n201 HTTP_1_1\n");
      expect(await stored("by Java")).toBe(2);
    },
    60_000,
  );

  test("curl --http2 can send a body", async () => {
    const run = promisify(execFile)("curl", [
      "-sS",
      "--http2",
      "--write-out",
      "%{http_code}",
      "-o",
      "/dev/null",
      "-H",
      `Authorization: Bearer ${service.tester.token}`,
      "--json",
      JSON.stringify({ title: "by curl", project, estimate: 1, due: null }),
      `${service.url}/tasks`,
    ]);
    expect((await run).stdout).toBe("201");
  });

  test("a client that closes its side in the middle of a request gets 400", async () => {
    const connection = await raw(service.url, create("cut").slice(0, -5));
    connection.socket.end();
    await once(connection.socket, "close");
    expect(connection.received().toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(await stored("cut")).toBe(0);
  });

  /** What may come on a connection, its answer, and whether it is the last. */
  const pieces = [
    { bytes: () => plain, status: 200, isLast: false },
    { bytes: () => plain.replace("livez", "nothing"), status: 404, isLast: false },
    { bytes: () => create("any"), status: 201, isLast: false },
    { bytes: () => create("any", h2c), status: 201, isLast: false },
    { bytes: () => plain.replace("\r\n\r\n", `\r\n${h2c}\r\n`), status: 200, isLast: false },
    { bytes: () => create("any", "Connection: close\r\n"), status: 201, isLast: true },
    { bytes: () => "garbage\r\n\r\n", status: 400, isLast: true },
    { bytes: () => "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", status: 405, isLast: true },
    { bytes: () => upgrade("x").replace("Version: 13", "Version: 7"), status: 426, isLast: true },
    { bytes: () => upgrade(service.tester.token), status: 101, isLast: true },
  ];

  test("whatever comes on a connection is answered in its order, up to what ends it", async () => {
    const some = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(some, async (sent) => {
        const end = sent.findIndex(({ isLast }) => isLast);
        const owed = (end < 0 ? sent : sent.slice(0, end + 1)).map(({ status }) => status);
        const got = await statusesOf(sent.map(({ bytes }) => bytes()).join(""), owed.length);
        expect(got).toEqual(owed);
      }),
      { numRuns: 25 },
    );
  });
});
