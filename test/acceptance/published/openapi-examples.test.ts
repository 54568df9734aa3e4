// The examples of the OpenAPI document are taken by the service: "try it out" begins with a body that works.
import { expect, test } from "vitest";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import openapi from "../../../generated/openapi.json" with { type: "json" };

interface Body {
  readonly example?: unknown;
}
interface Documented {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly $ref?: string;
    readonly name?: string;
    readonly in?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Body>> };
}

const id = "01890000-0000-7000-8000-000000000001";

/** The query that an operation needs. */
function queryOf(parameters: Documented["parameters"] = []): string {
  const needed = parameters.flatMap(({ $ref, name, in: place }) => {
    if ($ref?.endsWith("Rev") === true) return ["rev=1"];
    return name === "id" && place === "query" ? [`id=${id}`] : [];
  });
  return needed.length === 0 ? "" : `?${needed.join("&")}`;
}

/** Attached operations that take JSON, those that end sessions last. */
const operations = Object.entries(openapi.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods as unknown as Readonly<Record<string, Documented>>).map(
      ([method, { operationId, requestBody, parameters }]) => ({
        path: path + queryOf(parameters),
        method: method.toUpperCase(),
        key: operationId,
        body: requestBody?.content["application/json"],
      }),
    ),
  )
  .filter(({ body }) => body !== undefined)
  .toSorted((a, b) => Number(a.key.startsWith("authn.")) - Number(b.key.startsWith("authn.")));

test("every JSON body has an example", () => {
  expect(operations.length).toBeGreaterThan(60);
  expect(operations.filter(({ body }) => body?.example === undefined)).toEqual([]);
});

onEachEngine(reference, ({ service }) => {
  test("each is sound; what it names may not be there", async () => {
    const refused: unknown[] = [];
    for (const { path, method, key, body } of operations) {
      const target = path.replaceAll(/\{\w+\}/g, id);
      const answer = await service.call(method, target, { body: body?.example });
      const isUnsound = /^(?:core\.validation|core\.malformed|json_|query_|field_)/.test(
        String(answer.body?.code ?? ""),
      );
      if (isUnsound || answer.status >= 500) refused.push([key, answer.status, answer.body]);
    }
    expect(refused).toEqual([]);
  });
});
