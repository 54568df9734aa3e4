// Reading within the scope of an invocation: rows outside it are not there (service.md
// "Authorization per operation").
import { fail } from "../../contract/errors.js";
import { isUuid } from "../../contract/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import { allOf, everything, type Filter } from "../../query/ast.js";
import { idField } from "../../query/fields.js";
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";

const byId = { field: idField, direction: "asc", nulls: "first" } as const;

/** The query, with the scope as one more condition. */
export function narrowQuery<Query extends DocumentQuery>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  query: Query,
): Query {
  const scope = context.scopeOf(spec.name);
  return scope === everything ? query : { ...query, filter: allOf(query.filter, scope) };
}

/** The document, deleted or not, or null if there is none within the scope. */
export async function findDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  documentId: string,
): Promise<StoredDocument | null> {
  // A hook around an operation may pass on what no engine takes for an id.
  if (!isUuid(documentId)) return null;
  const scope = context.scopeOf(spec.name);
  const documents = context.transaction.of(documentStore);
  if (scope === everything) return documents.get(spec, context.tenant, documentId);
  const filter = allOf(
    { kind: "compare", field: idField, operator: "$eq", value: documentId },
    scope,
  );
  const query = { filter, sorts: [byId], withDeleted: true };
  const window = { limit: 1, offset: 0, after: undefined };
  const [found] = await documents.select(spec, context.tenant, query, window);
  return found ?? null;
}

/** The live document within the scope. Throws `core.not_found`. */
export async function readDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  documentId: string,
): Promise<StoredDocument> {
  const stored = await findDocument(spec, context, documentId);
  if (stored === null || stored.isDeleted) throw fail("core.not_found");
  return stored;
}

/** Requires a written row to be within the scope. Throws `core.authorization`, which undoes it. */
export async function checkWithinScope(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  documentId: string,
): Promise<void> {
  if (context.scopeOf(spec.name) === everything) return;
  if ((await findDocument(spec, context, documentId)) === null) throw fail("core.authorization");
}

/** Throws `core.authorization` if one of them is outside the scope, which undoes all. */
export async function checkAllWithinScope(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  documents: readonly StoredDocument[],
): Promise<void> {
  const scope = context.scopeOf(spec.name);
  if (scope === everything || documents.length === 0) return;
  const values = documents.map(({ id }) => id);
  const these: Filter = { kind: "in", field: idField, isNegated: false, values };
  const filter = allOf(these, scope);
  const count = await context.transaction
    .of(documentStore)
    .count(spec, context.tenant, { filter, sorts: [], withDeleted: true });
  if (count !== documents.length) throw fail("core.authorization");
}
