// An operation as the client sends it, as the generated functions of the client have it.
import type { Operation as ClientOperation } from "../../client/options.js";
import type { Catalog } from "./catalog.js";
import { mediaTypeOf } from "./first-call.js";
import type { Operation } from "./operations.js";

/** Which members of its input travel in the query, which are the body, and what it answers. */
export function clientOperationOf(operation: Operation, catalog: Catalog): ClientOperation {
  const { key, method, parameters, body, responses } = operation;
  const entry = catalog.operations.find((one) => one.key === key);
  const query = parameters.filter((one) => one.in === "query").map(({ name }) => name);
  const member = entry?.body_member;
  const isForm = mediaTypeOf(operation) === "multipart/form-data";
  const isBytes = responses.some(({ response }) => response.content?.["*/*"] !== undefined);
  return {
    method,
    // The catalog says which placeholder may have slashes; OpenAPI has no word for it.
    path: entry?.path ?? operation.path,
    query,
    ...(body === null
      ? {}
      : { body: isForm ? "form" : member === undefined ? "rest" : { member } }),
    ...(isBytes ? { isBytes: true } : {}),
  };
}
