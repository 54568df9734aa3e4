// The documents that somebody owns, as they are answered.
import type { ExecutionContext } from "../../operations/context.js";
import type { ExportedLine, ExportedPerson } from "../../operations/exported.js";
import { readPiece } from "../../operations/read-piece.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { documentText } from "./render.js";

/** Documents that are looked up at once, because that may scan the table of all tenants. */
const pageSize = 5_000;

/** Everything that somebody owns, in all tenants, deleted documents included. */
export async function* exportOwned(
  documents: readonly AnyDocumentSpec[],
  context: ExecutionContext,
  { principalId }: ExportedPerson,
): AsyncGenerator<ExportedLine> {
  for (const spec of documents) {
    let after: string | null = null;
    for (;;) {
      const page: readonly { readonly tenant: string; readonly id: string }[] = await readPiece(
        context,
      )
        .of(documentStore)
        .owned(spec, principalId, after, pageSize);
      for (const { tenant, id } of page) {
        const stored = await readPiece(context).of(documentStore).get(spec, tenant, id);
        if (stored === null) continue;
        const of = tenant === "" ? {} : { tenant_id: tenant };
        yield { kind: spec.name, ...of, data: JSON.parse(documentText(spec, stored)) as unknown };
      }
      after = page.at(-1)?.id ?? null;
      if (page.length < pageSize) break;
    }
  }
}
