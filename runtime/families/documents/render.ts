// Documents as they are answered: base fields first, then the stored JSON text, spliced and not
// parsed.
import { JsonText } from "../../operations/json-text.js";
import type { Validators } from "../../operations/preconditions.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { AnyDocumentSpec, View } from "../../ports/document-spec.js";

/** The JSON text of a document, or of a view of it. */
export function documentText(spec: AnyDocumentSpec, stored: StoredDocument): string {
  return spec.view === undefined ? wholeText(spec, stored) : viewText(spec, stored, spec.view);
}

function wholeText(spec: AnyDocumentSpec, stored: StoredDocument): string {
  const deleted = spec.softDelete ? `,"is_deleted":${stored.isDeleted}` : "";
  const members = stored.body.length > 2 ? `,${stored.body.slice(1)}` : "}";
  return `{"id":"${stored.id}","rev":${stored.rev},"created_at":"${stored.createdAt}","last_update_at":"${stored.lastUpdateAt}"${deleted}${members}`;
}

function viewText(spec: AnyDocumentSpec, stored: StoredDocument, { members }: View): string {
  const whole = JSON.parse(wholeText(spec, stored)) as Readonly<Record<string, unknown>>;
  const told = members.filter((member) => Object.hasOwn(whole, member));
  return JSON.stringify(Object.fromEntries(told.map((member) => [member, whole[member]])));
}

/**
 * The answer of operations on one document; its entity tag is the revision, which a view says
 * nothing of.
 */
export function renderDocument<Document>(
  spec: AnyDocumentSpec,
  stored: StoredDocument,
): JsonText<Document> {
  if (spec.view !== undefined) return new JsonText(documentText(spec, stored));
  return withValidators(spec, stored, documentText(spec, stored));
}

/**
 * What of a document's version can be compared. The tag of another form of answers is another one.
 */
export function validatorsOf(
  { form = 1 }: AnyDocumentSpec,
  { rev, lastUpdateAt }: StoredDocument,
): Validators {
  const revision = String(rev);
  const etag = form === 1 ? revision : `${revision}-${form}`;
  return { etag, revision, modifiedAt: Date.parse(lastUpdateAt) };
}

/**
 * An answer about one document with its validators. A date would say nothing of the form: only the
 * first form has one.
 */
export function withValidators<T>(
  spec: AnyDocumentSpec,
  stored: StoredDocument,
  text: string,
): JsonText<T> {
  const { etag, modifiedAt } = validatorsOf(spec, stored);
  return new JsonText(text, `"${etag}"`, spec.form === undefined ? modifiedAt : undefined);
}

/** The answer of an update: the document, and the new values of what changed. */
export interface Updated<Document, Patch> {
  readonly data: Document;
  readonly diff: Patch;
}

/** A patched document as an update answers it. */
export function renderUpdated<Document, Patch>(
  spec: AnyDocumentSpec,
  stored: StoredDocument,
  diff: Readonly<Record<string, unknown>>,
): JsonText<Updated<Document, Patch>> {
  const text = `{"data":${documentText(spec, stored)},"diff":${JSON.stringify(diff)}}`;
  return withValidators(spec, stored, text);
}
