// Documents as they are answered: base fields first, then the stored JSON text, spliced and not parsed.
import { JsonText } from "../../operations/json-text.js";
import type { Validators } from "../../operations/preconditions.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";

/** The JSON text of a document. */
export function documentText(spec: DocumentDeclaration, stored: StoredDocument): string {
  const deleted = spec.softDelete ? `,"is_deleted":${stored.isDeleted}` : "";
  const members = stored.body.length > 2 ? `,${stored.body.slice(1)}` : "}";
  return `{"id":"${stored.id}","rev":${stored.rev},"created_at":"${stored.createdAt}","last_update_at":"${stored.lastUpdateAt}"${deleted}${members}`;
}

/** The answer of operations on one document; its entity tag is the revision. */
export function renderDocument<Document>(
  spec: DocumentDeclaration,
  stored: StoredDocument,
): JsonText<Document> {
  const { etag, modifiedAt } = validatorsOf(stored);
  return new JsonText(documentText(spec, stored), `"${etag}"`, modifiedAt);
}

/** What of a document's version can be compared. */
export function validatorsOf({ rev, lastUpdateAt }: StoredDocument): Validators {
  return { etag: String(rev), modifiedAt: Date.parse(lastUpdateAt) };
}
