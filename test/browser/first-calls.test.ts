// The call that the page of an operation begins with: valid by the schemas of the document, for every operation.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { Catalog } from "../../pages/openapi/catalog.js";
import { clientOperationOf } from "../../pages/openapi/client-operation.js";
import type { OpenApi } from "../../pages/openapi/document.js";
import { firstCall, mediaTypeOf } from "../../pages/openapi/first-call.js";
import { operationsOf } from "../../pages/openapi/operations.js";
import { formats } from "../../runtime/contract/validation.js";

const document: OpenApi = JSON.parse(
  readFileSync(new URL("../../generated/openapi.json", import.meta.url), "utf8"),
);
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema({ ...document, $id: "openapi" });

/** Whether a value fits a schema of the document. */
const isValid = (schema: object, value: unknown): boolean =>
  ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object, value);

const catalog: Catalog = JSON.parse(
  readFileSync(new URL("../../generated/catalog.json", import.meta.url), "utf8"),
);
const operations = [...operationsOf(document).values()];

test("there are as many operations as routes in the document", () => {
  expect(operations.length).toBeGreaterThan(100);
  const routes = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  expect(operations).toHaveLength(routes.length);
});

test("every first body fits its schema", () => {
  const faulty = operations.filter((operation) => {
    const type = mediaTypeOf(operation);
    const schema = operation.body?.content?.[type ?? ""]?.schema;
    if (type?.endsWith("json") !== true || schema === undefined) return false;
    return !isValid(schema, JSON.parse(firstCall(document, operation).body));
  });
  expect(faulty.map(({ key }) => key)).toEqual([]);
});

test("every required parameter has a first value that fits its schema", () => {
  const faulty = operations.flatMap((operation) => {
    const { parameters } = firstCall(document, operation);
    return operation.parameters.flatMap(({ in: place, name, required, schema = {} }) => {
      const text = parameters[`${place} ${name}`] ?? "";
      const isRevision = name === "rev" && operation.errorCodes.includes("revision_required");
      if (required !== true && !isRevision) return text === "" ? [] : [`${operation.key} ${name}`];
      const isText = JSON.stringify(schema).includes('"string"');
      return isValid(schema, isText ? text : JSON.parse(text)) ? [] : [`${operation.key} ${name}`];
    });
  });
  expect(faulty).toEqual([]);
});

test("the client sends an operation's body as its route takes it", () => {
  const sent = (key: string): unknown => {
    const operation = operationsOf(document).get(key);
    return operation === undefined ? null : clientOperationOf(operation, catalog);
  };
  expect(sent("tasks.update")).toEqual({
    method: "PATCH",
    path: "/tasks/{id}",
    query: ["rev"],
    body: { member: "patch" },
  });
  expect(sent("tasks.comment")).toMatchObject({ path: "/tasks/{task}/comments", body: "rest" });
});
