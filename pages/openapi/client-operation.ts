// An operation as the client sends it, which for commands is where a transport has none.
import type { Operation as ClientOperation } from "../../client/options.js";
import type { Catalog } from "./catalog.js";
import type { Operation } from "./operations.js";

/** Which members of its input travel in the query, and which are the body. */
export function clientOperationOf(
  { key, method, path, parameters }: Operation,
  catalog: Catalog,
): ClientOperation {
  const query = parameters.filter((one) => one.in === "query").map(({ name }) => name);
  const member = catalog.operations.find((entry) => entry.key === key)?.body_member;
  return { method, path, query, body: member === undefined ? "rest" : { member } };
}
