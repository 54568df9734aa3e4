// What handlers read of requests and say of answers besides input and body: headers, cookies, statuses, redirects.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
operations:
  shop.list:
    get: /list
    in: {say: string?}
    out: {language: string?}
    headers: [Accept-Language, X-Many]
    reply:
      status: [202]
      headers: [X-Total, Cache-Control]
      cookies: {seen: {max_age: 1d, same_site: strict}, theme: {http_only: false, path: /shop}}
    run: registry/shop.ts#list
    guard: open
  shop.go:
    get: /go
    in: {to: string}
    reply: {redirect: [302, 303]}
    run: registry/shop.ts#go
    guard: open
  shop.plain: {get: /plain, out: {language: string?}, run: registry/shop.ts#plain, guard: open}
`,
  "registry/shop.ts": `import type { ShopListHandler, ShopGoHandler } from "../generated/types/shop.js";
import { fail } from "opwright/runtime";
export const list: ShopListHandler = ({ say }, { headers, reply }) => {
  reply.header("x-total", say ?? "12");
  if (say === "later") reply.status(202);
  if (say === "kept") reply.header("cache-control", "max-age=60");
  if (say === "cookie") {
    reply.cookie("seen", "yes; Domain=evil.test\\r\\nX-Evil: 1");
    reply.cookie("theme", null);
  }
  if (say === "fails") throw fail("core.conflict");
  if (say === "undeclared") reply.header("x-other" as "x-total", "1");
  return { language: headers["accept-language"] ?? null };
};
export const go: ShopGoHandler = ({ to }, { reply }) => reply.redirect(to, 303);
export const plain = (_input, context) => ({ language: context.headers?.["accept-language"] ?? null });
`,
};

const project = onEachEngine(files, ({ service }) => {
  const list = (say?: string) =>
    service.call("GET", `/list${say === undefined ? "" : `?say=${encodeURIComponent(say)}`}`, {
      headers: { "accept-language": "de" },
    });

  test("a handler reads declared headers, and sets headers and statuses", async () => {
    const usual = await list();
    expect([usual.status, usual.body, usual.headers.get("x-total")]).toEqual([
      200,
      { language: "de" },
      "12",
    ]);
    expect(usual.headers.get("cache-control")).toBe("no-store");
    expect((await list("later")).status).toBe(202);
    expect((await list("kept")).headers.get("cache-control")).toBe("max-age=60");
  });

  test("a handler that declares no headers gets none", async () => {
    const { body } = await service.call("GET", "/plain", {
      headers: { "accept-language": "de" },
    });
    expect(body).toEqual({ language: null });
  });

  test("cookies have the attributes that are declared, whatever their value", async () => {
    const { headers } = await list("cookie");
    expect(headers.getSetCookie()).toEqual([
      "seen=yes%3B%20Domain%3Devil.test%0D%0AX-Evil%3A%201; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Strict",
      "theme=; Max-Age=0; Path=/shop; Secure; SameSite=Lax",
    ]);
    expect(headers.get("x-evil")).toBeNull();
  });

  test("a line break in a header, or one that is not declared, is a masked 500 without it", async () => {
    for (const say of [
      "1\r\nX-Evil: 1",
      "1\nX-Evil: 1",
      "\u0001",
      "x".repeat(5_000),
      "undeclared",
    ]) {
      const { status, headers } = await list(say);
      expect([status, headers.get("x-evil"), headers.get("x-total")]).toEqual([500, null, null]);
    }
  });

  test("an error goes out without what was said before it", async () => {
    const { status, headers } = await list("fails");
    expect([status, headers.get("x-total")]).toEqual([409, null]);
  });

  const go = async (to: string): Promise<readonly [number, string | null]> => {
    const url = `${service.url}/go?to=${encodeURIComponent(to)}`;
    const { status, headers } = await fetch(url, { redirect: "manual" });
    return [status, headers.get("location")];
  };

  test("a redirect goes to a path of the service, or to an address of the web", async () => {
    expect(await go("/home?a=1#b")).toEqual([303, "/home?a=1#b"]);
    expect(await go("/a b\r\nX-Evil: 1")).toEqual([303, "/a%20bX-Evil:%201"]);
    expect(await go("https://example.test/x")).toEqual([303, "https://example.test/x"]);
    for (const hostile of [
      "//evil.test",
      "/\\evil.test",
      "/\t/evil.test",
      "javascript:alert(1)",
      "home",
      "",
    ])
      expect((await go(hostile))[0]).toBe(500);
  });

  test("the client sends and is told headers", async () => {
    const { createClient, shop } = await project.load("generated/client/index.ts");
    const client = createClient({ baseUrl: service.url });
    const told: unknown[] = [];
    const onAnswer = ({ status, headers }: Response): void =>
      void told.push([status, headers.get("x-total")]);
    const headers = { "accept-language": "fr" };
    expect(await shop.list(client, { say: "later" }, { headers, onAnswer })).toEqual({
      language: "fr",
    });
    expect(told).toEqual([[202, "later"]]);
  });
});

test("the OpenAPI document has headers, statuses and redirects", () => {
  const { paths } = project.openapi as {
    readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  };
  const list = paths["/list"]?.get;
  expect(list?.parameters?.filter((one) => one.in === "header").map(({ name }) => name)).toEqual([
    "accept-language",
    "x-many",
  ]);
  for (const status of ["200", "202"])
    expect(Object.keys(list?.responses[status]?.headers ?? {})).toEqual([
      "x-total",
      "cache-control",
      "Set-Cookie",
    ]);
  expect(Object.keys(paths["/go"]?.get.responses ?? {})).toEqual(
    expect.arrayContaining(["204", "302", "303"]),
  );
});

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly headers?: object } | undefined>>;
}
