// Documents as they are answered: base fields first, then the stored JSON text, spliced and not
// parsed.
import { JsonText } from "../../operations/json-text.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Validators } from "../../operations/preconditions.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { AnyDocumentSpec, View } from "../../ports/document-spec.js";
import { showDocument, type SeenDocument } from "./visible.js";

/** The JSON text of a document, or of a view of it. */
export function documentText(spec: AnyDocumentSpec, { row, hidden }: SeenDocument): string {
  const shown = hidden.size === 0 ? row : { ...row, body: bodyWithout(row.body, hidden) };
  return spec.view === undefined ? wholeText(spec, shown) : viewText(spec, shown, spec.view);
}

function bodyWithout(body: string, hidden: ReadonlySet<string>): string {
  return JSON.stringify(withoutHidden(JSON.parse(body) as object, hidden));
}

/** The members that are not hidden. */
export function withoutHidden(
  body: object,
  hidden: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([member]) => !hidden.has(member)));
}

function wholeText(spec: AnyDocumentSpec, row: StoredDocument): string {
  const deleted = spec.softDelete ? `,"is_deleted":${row.isDeleted}` : "";
  const members = row.body.length > 2 ? `,${row.body.slice(1)}` : "}";
  return `{"id":"${row.id}","rev":${row.rev},"created_at":"${row.createdAt}","last_update_at":"${row.lastUpdateAt}"${deleted}${members}`;
}

function viewText(spec: AnyDocumentSpec, row: StoredDocument, { members }: View): string {
  const whole = JSON.parse(wholeText(spec, row)) as Readonly<Record<string, unknown>>;
  const told = members.filter((member) => Object.hasOwn(whole, member));
  return JSON.stringify(Object.fromEntries(told.map((member) => [member, whole[member]])));
}

/**
 * The answer of operations on one document, as the caller sees it; its entity tag is the revision,
 * which a view says nothing of.
 */
export async function renderDocument<Document>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  stored: StoredDocument,
): Promise<JsonText<Document>> {
  const seen = await showDocument(spec, context, stored);
  if (spec.view !== undefined) return new JsonText(documentText(spec, seen));
  return withValidators(spec, seen, documentText(spec, seen));
}

/**
 * What of a document's version can be compared. The tag of another form of answers is another one.
 */
export function validatorsOf(
  { form = 1, key }: AnyDocumentSpec,
  { id, rev, lastUpdateAt }: StoredDocument,
): Validators {
  const revision = String(rev);
  const modifiedAt = Date.parse(lastUpdateAt);
  const etag = form === 1 ? revision : `${revision}-${form}`;
  // A key may name another document later, which has revisions of its own.
  return key === undefined ? { etag, revision, modifiedAt } : { etag: `${etag}.${id}`, modifiedAt };
}

/**
 * An answer about one document with its validators. A date would say nothing of the form: only the
 * first form has one. What leaves members out has none: they would be those of the whole.
 */
export function withValidators<T>(
  spec: AnyDocumentSpec,
  { row, hidden }: SeenDocument,
  text: string,
): JsonText<T> {
  if (hidden.size > 0) return new JsonText(text);
  const { etag, modifiedAt } = validatorsOf(spec, row);
  // A date would say nothing of which document it is of.
  const isDated = spec.form === undefined && spec.key === undefined;
  return new JsonText(text, `"${etag}"`, isDated ? modifiedAt : undefined);
}

/** The answer of an update: the document, and the new values of what changed. */
export interface Updated<Document, Patch> {
  readonly data: Document;
  readonly diff: Patch;
}

/** A patched document as an update answers it to the caller. */
export async function renderUpdated<Document, Patch>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  stored: StoredDocument,
  diff: Readonly<Record<string, unknown>>,
): Promise<JsonText<Updated<Document, Patch>>> {
  const seen = await showDocument(spec, context, stored);
  const shown = JSON.stringify(withoutHidden(diff, seen.hidden));
  return withValidators(spec, seen, `{"data":${documentText(spec, seen)},"diff":${shown}}`);
}
