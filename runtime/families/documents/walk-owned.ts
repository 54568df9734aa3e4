// What somebody has created, in all tenants.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { DocumentStore } from "../../ports/documents.js";
import { walkPages } from "../../ports/pages.js";

/** Documents that are looked up at once, because that may scan the table of all tenants. */
const pageSize = 5_000;

/**
 * The documents of a type that a principal owns, deleted or not, in the order of their ids. Each
 * page is read from a store of its own.
 */
export function walkOwned(
  spec: AnyDocumentSpec,
  principalId: string,
  storeOf: () => DocumentStore,
): AsyncGenerator<{ readonly tenant: string; readonly id: string }> {
  return walkPages(
    pageSize,
    (after: string | null) => storeOf().owned(spec, principalId, after, pageSize),
    ({ id }) => id,
  );
}
