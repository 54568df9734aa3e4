// Writes documents because of another one that they name, whoever may see them.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { diffOf } from "./changes.js";
import { followChange, followDeleted, type Occasion } from "./follow-change.js";
import { checkClaims, claimRanges } from "./ranges.js";
import { nextRevision, timeOf } from "./revision.js";
import { withSet } from "./set.js";
import { writerOf } from "./writer.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * Writes what a document refers to, deleted or not, and whether it is deleted. Throws as
 * `replaceNext` does.
 */
export async function writeReferences(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  references: Body,
  occasion: Occasion,
): Promise<StoredDocument> {
  const { body, diff } = await bodyNaming(spec, context, current, references);
  if (breaksCondition(spec, current.body, body))
    throw fail("reference_in_use", { document: spec.name, member: Object.keys(references)[0] });
  const stored = await replaceNext(spec, context, current, { body });
  if (stored.isDeleted) await followDeleted(spec, context, stored, diff, occasion);
  else await followChange(spec, context, "update", stored, { diff, before: current }, occasion);
  return stored;
}

/** Whether a body that fits its type would no longer do so, because of a condition. */
function breaksCondition(spec: AnyDocumentSpec, before: string, after: string): boolean {
  if (spec.checksBody !== true || spec.validateBody(JSON.parse(after)) === null) return false;
  return spec.validateBody(JSON.parse(before)) === null;
}

/** The body of a document with other references, as text, and what of it is new. */
export async function bodyNaming(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  references: Body,
): Promise<{ readonly body: string; readonly diff: Body }> {
  const before = JSON.parse(current.body) as Body;
  const writer = await writerOf(spec, context, "write");
  const body = withSet(spec, writer, { ...before, ...references }, "write");
  return { body: JSON.stringify(body), diff: diffOf(before, body) };
}

/**
 * Stores the next revision of a document. Throws `core.concurrency` if somebody else was faster,
 * and what stands against it.
 */
export async function replaceNext(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
): Promise<StoredDocument> {
  const stored = nextRevision(context, current, change, timeOf(context));
  const documents = context.transaction.of(documentStore);
  const claims = await claimRanges(spec, context, [{ before: current, after: stored }]);
  if (!(await documents.replace(spec, context.tenant, current.rev, stored)))
    throw fail("core.concurrency");
  await checkClaims(spec, context, claims);
  return stored;
}
