// What somebody has created, in all tenants.
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { DocumentStore } from "../../ports/documents.js";

/** Documents that are looked up at once, because that may scan the table of all tenants. */
const pageSize = 5_000;

/**
 * The documents of a type that a principal owns, deleted or not, in the order of their ids. Each
 * page is read from a store of its own.
 */
export async function* walkOwned(
  spec: AnyDocumentSpec,
  principalId: string,
  storeOf: () => DocumentStore,
): AsyncGenerator<{ readonly tenant: string; readonly id: string }> {
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<DocumentStore["owned"]>> = await storeOf().owned(
      spec,
      principalId,
      after,
      pageSize,
    );
    yield* page;
    after = page.at(-1)?.id ?? null;
    if (page.length < pageSize) return;
  }
}
