// A body that an operation doesn't take is refused, since what it says would be dropped silently (decisions.md §1 "Operations, keys, routes", attack 155).
import { request, type OutgoingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import openapi from "../../../generated/openapi.json" with { type: "json" };
import { peopleOf } from "../../support/people.js";

const nobody = "01890000-0000-7000-8000-000000000001";

/** Every operation of the document without a body. */
const bodiless = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Readonly<Record<string, { readonly operationId: string }>>).flatMap(
    ([method, operation]) =>
      // A stream has no end.
      "requestBody" in operation || path === "/realtime/sse"
        ? []
        : [{ method: method.toUpperCase(), path, id: operation.operationId }],
  ),
);

interface Raw {
  readonly status: number;
  readonly text: string;
}

onEachEngine(reference, ({ service }) => {
  /** A request with exactly these bytes as its body, in chunks where no length is declared. */
  const raw = (
    method: string,
    path: string,
    body: string,
    headers: OutgoingHttpHeaders = {},
  ): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const authorization = `Bearer ${service.tester.token}`;
      const given = { authorization, "transfer-encoding": "chunked", ...headers };
      const all = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ) as OutgoingHttpHeaders;
      const req = request({ hostname, port, method, path, headers: all }, (res) => {
        let text = "";
        res.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
        res.on("end", () => resolve({ status: res.statusCode ?? 0, text }));
      });
      req.on("error", reject);
      req.end(body);
    });
  const json = { "content-type": "application/json" };
  const refusal = (text: string): unknown => JSON.parse(text).context?.errors?.[0]?.message;

  test("keep in the body of a switch of tenants is refused, and its session goes on", async () => {
    const people = peopleOf(service);
    const { token, tenantId } = await people.member("");
    const path = `/tenants/${tenantId}/activate`;
    const refused = await people.as(token, "POST", path, { keep: true });
    expect([refused.status, refused.body.code, refused.body.context.errors]).toEqual([
      422,
      "core.validation",
      [{ path: "", keyword: "additionalProperties", message: "this operation takes no body" }],
    ]);
    expect((await people.as(token, "GET", "/auth/me")).status).toBe(200);
    const switched = await people.as(token, "POST", `${path}?keep=true`, {});
    expect(switched.status).toBe(200);
    expect((await people.as(token, "GET", "/auth/me")).status).toBe(200);
  });

  test.each(bodiless)(
    "$method of $id takes no body that says anything",
    async ({ method, path }) => {
      const target = path
        .replaceAll("{revision}", "1")
        .replaceAll(/\{\w+\}/g, nobody)
        .concat(
          "?",
          (
            {
              "/admin/principals": "login=x",
              "/admin/grants": `principal_id=${nobody}`,
              "/notes/get": `id=${nobody}`,
              "/notes/kill": `id=${nobody}`,
              "/projects/{id}/revert": "rev=1&to=1",
            } as Readonly<Record<string, string>>
          )[path] ?? (/\/(?:delete|restore)$/.test(path) ? "rev=1" : ""),
        );
      const html = await raw(method, target, "<p>nonsense</p>", { "content-type": "text/html" });
      expect(html.status).toBe(422);
      if (method === "HEAD") return;
      expect(refusal(html.text)).toBe("this operation takes no body");
      expect(refusal((await raw(method, target, `{"x":1}`, json)).text)).toBe(refusal(html.text));
      for (const nothing of ["", "{}", " { }\n"]) {
        const { text } = await raw(method, target, nothing, json);
        const isRefused = text.startsWith("{") && refusal(text) === refusal(html.text);
        expect([nothing, isRefused]).toEqual([nothing, false]);
      }
    },
  );

  test("a long body is refused before it is read, and an announced one is not asked for", async () => {
    const path = `/tasks/${nobody}/restore?rev=1`;
    const long = "x".repeat(5_000_000);
    const declared = { "transfer-encoding": undefined, "content-length": String(long.length) };
    for (const headers of [{}, declared]) {
      const answer = await raw("POST", path, long, headers);
      expect([answer.status, refusal(answer.text)]).toEqual([422, "this operation takes no body"]);
    }
    let isAsked = false;
    const { hostname, port } = new URL(service.url);
    const status = await new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${service.tester.token}`,
        expect: "100-continue",
        "content-length": "1000",
      };
      const req = request({ hostname, port, method: "POST", path, headers }, (res) => {
        res.resume();
        resolve(res.statusCode);
        req.destroy();
      });
      req.on("continue", () => (isAsked = true));
      req.on("error", reject);
      req.flushHeaders();
    });
    expect([status, isAsked]).toEqual([422, false]);
  });

  test("a body that does not come ends at the deadline", async () => {
    const { hostname, port } = new URL(service.url);
    const status = await new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${service.tester.token}`,
        "transfer-encoding": "chunked",
        "x-deadline-budget": "1",
      };
      const path = `/tasks/${nobody}/restore?rev=1`;
      const req = request({ hostname, port, method: "POST", path, headers }, (res) => {
        res.resume();
        resolve(res.statusCode);
        req.destroy();
      });
      req.on("error", reject);
      req.write("{");
    });
    expect(status).toBe(504);
  });
});
