// The documents that somebody owns, as they are answered.
import type { ExecutionContext } from "../../operations/context.js";
import type { ExportedLine, ExportedPerson } from "../../operations/exported.js";
import { readPiece } from "../../operations/read-piece.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type DocumentStore } from "../../ports/documents.js";
import { documentText } from "./render.js";
import { showWhole } from "./visible.js";
import { walkOwned } from "./walk-owned.js";

/** Everything that somebody owns, in all tenants, deleted documents included. */
export async function* exportOwned(
  documents: readonly AnyDocumentSpec[],
  context: ExecutionContext,
  { principalId }: ExportedPerson,
): AsyncGenerator<ExportedLine> {
  const store = (): DocumentStore => readPiece(context).of(documentStore);
  for (const spec of documents)
    for await (const { tenant, id } of walkOwned(spec, principalId, store)) {
      const stored = await store().get(spec, tenant, id);
      if (stored === null) continue;
      const of = tenant === "" ? {} : { tenant_id: tenant };
      yield {
        kind: spec.name,
        ...of,
        data: JSON.parse(documentText(spec, showWhole(stored))) as unknown,
      };
    }
}
