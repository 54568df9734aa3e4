// Bodies that aren't JSON: bytes as they were sent, for signatures, and forms without files.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { Answer } from "../../support/service.js";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types: {Size: [small, large]}
operations:
  hooks.take:
    post: "/hooks/{source}"
    body: raw
    in: {source: string, dry: boolean?, times: {type: integer, maximum: 9, default: 1}}
    out: {source: string, dry: boolean, times: integer, bytes: integer, hex: string, signature: string?}
    headers: [X-Signature]
    run: registry/code.ts#take
    guard: open
  hooks.count:
    put: /count
    body: raw
    out: {bytes: integer}
    run: registry/code.ts#count
    guard: open
    idempotency: true
    hooks: {before: [registry/code.ts#look], wrap: [registry/code.ts#swap]}
  hooks.counted:
    post: /counted
    body: raw
    in: {times: {type: integer, default: 1}}
    out: {bytes: integer}
    run: registry/code.ts#count
    guard: open
    idempotency: true
  forms.send:
    post: "/forms/{id}"
    body: form
    in: {id: uuid, title: {type: string, minLength: 2}, size: Size?, count: integer?, price: number?, agreed: boolean}
    out: {id: uuid, title: string, size: string?, count: integer?, price: number?, agreed: boolean}
    run: registry/code.ts#send
    guard: open
  forms.plain:
    post: /forms
    body: form
    in: {q: string}
    out: {q: string}
    run: registry/code.ts#plain
    guard: open
`,
  "registry/code.ts": `export const take = ({ source, dry = false, times, body }, { headers }) => ({
  source, dry, times, bytes: body.length, hex: body.toString("hex"), signature: headers["x-signature"] ?? null,
});
export const count = ({ body }) => ({ bytes: body.length });
export const look = ({ body }) => {
  if (!Buffer.isBuffer(body)) throw new TypeError("no bytes");
};
export const swap = async (input, context, next) =>
  next(input.body.length === 3 ? { body: "text" } : input.body.length === 4 ? { body: Buffer.from("longer") } : input);
export const send = ({ id, title, size = null, count = null, price = null, agreed }) => ({ id, title, size, count, price, agreed });
export const plain = ({ q }) => ({ q });
`,
};

const id = "01890000-0000-7000-8000-000000000001";

const project = onEachEngine(files, ({ service }) => {
  const send = async (
    path: string,
    body: RequestInit["body"],
    headers: Readonly<Record<string, string>> = {},
    method = "POST",
  ): Promise<Pick<Answer, "status" | "body">> => {
    const request = { method, headers, ...(body === null ? {} : { body }) };
    const answer = await fetch(`${service.url}${path}`, request as RequestInit);
    return { status: answer.status, body: await answer.json() };
  };
  const form = (path: string, text: string, type = "application/x-www-form-urlencoded") =>
    send(path, text, { "content-type": type });

  test("bytes arrive as they were sent, whatever their type says", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const secret = createHmac("sha256", "key").update(bytes).digest("hex");
    for (const type of ["application/json", "application/octet-stream", "text/plain; charset=x"]) {
      const headers = { "content-type": type, "x-signature": secret };
      const { status, body } = await send("/hooks/acme?dry=true&times=2", bytes, headers);
      expect([status, body]).toEqual([
        200,
        {
          source: "acme",
          dry: true,
          times: 2,
          bytes: 256,
          hex: Buffer.from(bytes).toString("hex"),
          signature: secret,
        },
      ]);
    }
    const { body } = await send("/hooks/acme", null);
    expect(body).toMatchObject({ bytes: 0, dry: false, times: 1 });
  });

  test("what travels beside them is checked, and bodies are bounded", async () => {
    expect((await send("/hooks/acme?times=10", "x")).body.context.errors).toEqual([
      { path: "/times", keyword: "maximum", message: "must be <= 9" },
    ]);
    expect((await send("/hooks/acme?body=x", "x")).status).toBe(422);
    const large = await send("/hooks/acme", new Uint8Array(3 * 1024 * 1024));
    expect([large.status, large.body.code]).toEqual([413, "body_too_large"]);
  });

  test("a key is for these bytes, and hooks get and pass on bytes", async () => {
    const key = { "idempotency-key": crypto.randomUUID() };
    expect(await send("/count", "12345", key, "PUT")).toMatchObject({ body: { bytes: 5 } });
    expect(await send("/count", "12345", key, "PUT")).toMatchObject({ body: { bytes: 5 } });
    expect((await send("/count", "54321", key, "PUT")).body.code).toBe("idempotency_key_reused");
    expect((await send("/count", "1234", {}, "PUT")).body).toEqual({ bytes: 6 });
    expect((await send("/count", "123", {}, "PUT")).status).toBe(500);
  });

  test("forms are read by the types of their fields", async () => {
    const { status, body } = await form(
      `/forms/${id.toUpperCase()}`,
      "title=a+b%26c&size=small&count=3&price=1.5&agreed=true",
    );
    expect([status, body]).toEqual([
      200,
      { id, title: "a b&c", size: "small", count: 3, price: 1.5, agreed: true },
    ]);
    const least = await form(`/forms/${id}`, "title=ab&agreed=false");
    expect(least.body).toMatchObject({ size: null, count: null, agreed: false });
    expect(
      (await form("/forms", "q=%C3%BC", "application/x-www-form-urlencoded;charset=UTF-8")).body,
    ).toEqual({ q: "ü" });
  });

  test("what browsers send for empty fields and ticked boxes is understood", async () => {
    const { status, body } = await form(
      `/forms/${id}`,
      "title=ab&size=&count=&price=&agreed=on",
      "Application/X-WWW-Form-URLEncoded; charset=utf-8; v=1;",
    );
    expect([status, body]).toEqual([
      200,
      { id, title: "ab", size: null, count: null, price: null, agreed: true },
    ]);
    expect((await form("/forms", "q=")).body).toEqual({ q: "" });
  });

  test("what doesn't fit is told as for JSON", async () => {
    const faultsOf = async (text: string) => {
      const { status, body } = await form(`/forms/${id}`, text);
      return [
        status,
        body.context.errors?.map(
          ({ path, keyword }: { readonly path: string; readonly keyword: string }) =>
            `${path} ${keyword}`,
        ),
      ];
    };
    expect(await faultsOf("title=a&agreed=true&size=huge")).toEqual([
      422,
      ["/title minLength", "/size enum"],
    ]);
    expect(await faultsOf("title=ab")).toEqual([422, ["/agreed required"]]);
    expect(await faultsOf("title=ab&agreed=yes")).toEqual([422, ["/agreed type"]]);
    expect(await faultsOf("title=ab&agreed=true&count=1e3")).toEqual([422, ["/count type"]]);
    expect(await faultsOf("title=ab&agreed=true&other=1&id=x")).toEqual([
      422,
      ["/other additionalProperties", "/id additionalProperties"],
    ]);
    expect(await faultsOf("other=1&agreed=1&count=x&price=")).toEqual([
      422,
      ["/other additionalProperties", "/title required", "/count type", "/agreed type"],
    ]);
    expect(await faultsOf("title=ab%00&agreed=true")).toEqual([422, ["/title pattern"]]);
    for (const text of ["q=1&q=2", "q[]=1", "q=%E0%A4"])
      expect((await form("/forms", text)).body.code).toBe("parameter_malformed");
    for (const type of [
      "application/json",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded; charset=latin1",
    ])
      expect((await form("/forms", "q=1", type)).body.code).toBe("media_type_unsupported");
    expect((await form("/forms", "")).body.context.errors[0].path).toBe("/q");
  });

  test("unknown fields and parameters are told as far as other faults", async () => {
    const many = (most: number) => Array.from({ length: most }, (_, at) => `x${at}=`).join("&");
    expect((await form("/forms", many(100_000))).body.context.errors).toHaveLength(32);
    expect((await send(`/hooks/acme?${many(1_000)}`, "x")).body.context.errors).toHaveLength(32);
  });

  test("a key is for what was sent, not for what stands in for the rest", async () => {
    const key = { "idempotency-key": crypto.randomUUID() };
    expect((await send("/counted", "1", key)).body).toEqual({ bytes: 1 });
    expect((await send("/counted?times=1", "1", key)).body.code).toBe("idempotency_key_reused");
  });

  test("the client sends both", async () => {
    const { hooks, forms, createClient } = await project.load("generated/client/index.ts");
    const client = createClient({ baseUrl: service.url });
    const taken = await hooks.take(client, { source: "acme", body: new Blob(["abc"]) });
    expect(taken).toMatchObject({ bytes: 3, dry: false });
    const sent = await forms.send(client, { id, title: "a&b", agreed: true, count: 4 });
    expect(sent).toMatchObject({ title: "a&b", count: 4, agreed: true });
  });
});

test("the documents say so", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { paths } = project.openapi as { readonly paths: any };
  const bodyOf = (path: string, method: string) => paths[path][method].requestBody;
  expect(Object.keys(bodyOf("/hooks/{source}", "post").content)).toEqual(["*/*"]);
  expect(Object.keys(bodyOf("/forms", "post").content)).toEqual([
    "application/x-www-form-urlencoded",
  ]);
  expect(
    paths["/hooks/{source}"].post.parameters.map(({ name }: { readonly name: string }) => name),
  ).toContain("dry");
});
