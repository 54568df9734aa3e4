// What is personal in the documents that somebody owns: replaced in the rows, and gone from their
// revisions (decisions.md "Erasure").
import type { ExecutionContext } from "../../operations/context.js";
import type { Erased, ErasedCounts } from "../../operations/erased.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { historyStore } from "../../ports/document-history.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { canonicalBody } from "../../contract/canonical-values.js";
import { followChange } from "./follow-change.js";
import { diffOf } from "./changes.js";
import { findExisting, replacedBody, retryWrite } from "./write.js";

type Body = Readonly<Record<string, unknown>>;

/** Documents that are looked up at once; each is written in a transaction of its own. */
const pageSize = 500;

/** Replaces the personal fields of everything that somebody owns, in all tenants. */
export async function eraseOwned(
  documents: readonly AnyDocumentSpec[],
  context: ExecutionContext,
  who: Erased,
): Promise<ErasedCounts> {
  const counts: Record<string, number> = {};
  for (const spec of documents) {
    if (spec.personal === undefined) continue;
    let after: string | null = null;
    for (;;) {
      const page = await context.transaction
        .of(documentStore)
        .owned(spec, who.principalId, after, pageSize);
      for (const { tenant, id } of page) {
        who.documents.add(id);
        const done = await context.transact(() => eraseOne(spec, context.inTenant(tenant), id));
        counts[spec.name] = (counts[spec.name] ?? 0) + (done.isChanged ? 1 : 0);
        counts["revisions"] = (counts["revisions"] ?? 0) + done.revisions;
      }
      after = page.at(-1)?.id ?? null;
      if (page.length < pageSize) break;
    }
  }
  return counts;
}

/** Replaces what is personal in one document, deleted or not, and removes what it was before. */
async function eraseOne(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<{ readonly isChanged: boolean; readonly revisions: number }> {
  const current = await retryWrite(context, () => eraseFields(spec, context.beyondScopes, id));
  const revisions =
    spec.history === 0
      ? 0
      : await context.transaction
          .of(historyStore)
          .purge(spec, context.tenant, id, current.stored.rev);
  return { isChanged: current.isChanged, revisions };
}

/** Null where somebody else has written the document meanwhile. */
async function eraseFields(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<{ readonly stored: StoredDocument; readonly isChanged: boolean } | null> {
  const current = await findExisting(spec, context, id);
  const before = JSON.parse(current.body) as Body;
  const body = canonicalBody({ ...before, ...spec.personal }, spec.canonical);
  const diff = diffOf(before, body);
  const changed = Object.keys(diff);
  if (changed.length === 0) return { stored: current, isChanged: false };
  const stored = await replacedBody(spec, context, current, body, changed);
  if (stored === null) return null;
  // Who hears of deleted documents has no use for this.
  if (!stored.isDeleted)
    await followChange(spec, context, "update", stored, { diff, before: current });
  return { stored, isChanged: true };
}
