// Members of the documents that people own, for what shows people to each other.
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { idField, ownerField } from "../../query/fields.js";
import { documentText } from "./render.js";
import { project } from "./list.js";
import { readRows } from "./rows.js";
import { showDocuments } from "./visible.js";

const byId = { field: idField, direction: "asc", nulls: "first" } as const;

/**
 * These fields of the live documents that people own, by the ids of the people, whatever scopes let
 * the caller see. A document that doesn't have a field is shown without it.
 */
export async function showOwned(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  owners: readonly string[],
  fields: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  if (owners.length === 0) return new Map();
  const filter = { kind: "in", field: ownerField, isNegated: false, values: owners } as const;
  const query = { filter, sorts: [byId], withDeleted: false };
  const { rows } = await readRows(
    (window) => context.transaction.of(documentStore).select(spec, context.tenant, query, window),
    query.sorts,
    { offset: 0, after: undefined },
    owners.length,
    context.answer,
  );
  const seen = await showDocuments(spec, context, rows);
  return new Map(
    seen.map((one) => [
      one.row.ownerId ?? "",
      project(JSON.parse(documentText(spec, one)), fields),
    ]),
  );
}
