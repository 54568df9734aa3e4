// Writes documents because of another one that they name, whoever may see them.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { diffOf } from "./changes.js";
import { followChange, recordDocument, type Occasion } from "./follow-change.js";
import { checkClaims, claimRanges } from "./ranges.js";
import { nextRevision, timeOf } from "./revision.js";
import { withSet } from "./set.js";
import { writerOf } from "./writer.js";

type Body = Readonly<Record<string, unknown>>;

/** Writes what a document refers to, deleted or not. Throws as `replaceNext` does. */
export async function writeReference(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  reference: Body,
  occasion: Occasion,
): Promise<void> {
  const before = JSON.parse(current.body) as Body;
  const writer = await writerOf(spec, context, "write");
  const body = withSet(spec, writer, { ...before, ...reference }, "write");
  const diff = diffOf(before, body);
  const stored = await replaceNext(spec, context, current, { body: JSON.stringify(body) });
  // Nobody hears of what is deleted.
  if (stored.isDeleted) recordDocument(spec, context, "update", stored, { diff }, occasion);
  else await followChange(spec, context, "update", stored, { diff, before: current }, occasion);
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
