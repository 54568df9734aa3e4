// What is personal in the documents that somebody owns: replaced in the rows, and gone from their
// revisions (decisions.md "Erasure").
import type { ExecutionContext } from "../../operations/context.js";
import type { Erased, ErasedCounts } from "../../operations/erased.js";
import { clearableReferences } from "../../ports/deletions.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { historyStore } from "../../ports/document-history.js";
import { documentStore, type DocumentStore, type StoredDocument } from "../../ports/documents.js";
import { canonicalBody } from "../../contract/canonical-values.js";
import { followChange, followDeleted, forgetCleared } from "./follow-change.js";
import { diffOf } from "./changes.js";
import { findDocument } from "./scoped.js";
import { retryWrite } from "./retry-write.js";
import { changedBody, replacedBody } from "./write.js";
import { walkOwned } from "./walk-owned.js";
import { writerOf } from "./writer.js";

type Body = Readonly<Record<string, unknown>>;

/** Replaces the personal fields of everything that somebody owns, in all tenants. */
export async function eraseOwned(
  documents: readonly AnyDocumentSpec[],
  context: ExecutionContext,
  who: Erased,
): Promise<ErasedCounts> {
  const counts: Record<string, number> = {};
  for (const spec of documents) {
    if (spec.personal === undefined) continue;
    const store = (): DocumentStore => context.transaction.of(documentStore);
    for await (const { tenant, id } of walkOwned(spec, who.principalId, store)) {
      who.documents.add(id);
      if (tenant !== "") who.tenants.add(tenant);
      const stored = await store().get(spec, tenant, id);
      if (stored === null || isErased(spec, stored)) continue;
      const done = await context.transact(() =>
        // What the service sets of who writes stays that of the person.
        eraseOne(spec, context.onBehalfOf(who.principalId).inTenant(tenant), id),
      );
      counts[spec.name] = (counts[spec.name] ?? 0) + (done.isChanged ? 1 : 0);
      counts["revisions"] = (counts["revisions"] ?? 0) + done.revisions;
    }
  }
  return counts;
}

/**
 * Whether there is nothing to do: nothing personal in it, no revision before it, and no reference
 * that a restore may bring back. One that was erased by an earlier try is looked at again only if
 * it has a history or such references.
 */
function isErased(spec: AnyDocumentSpec, { body, rev }: StoredDocument): boolean {
  if (spec.history !== 0 && rev > 1) return false;
  if (clearableReferences(spec).some((member) => Object.hasOwn(spec.personal ?? {}, member)))
    return false;
  const before = JSON.parse(body) as Body;
  return Object.keys(diffOf(before, withoutPersonal(spec, before))).length === 0;
}

function withoutPersonal({ personal, canonical }: AnyDocumentSpec, body: Body): Body {
  return canonicalBody({ ...body, ...personal }, canonical);
}

/** Replaces what is personal in one document, deleted or not, and removes what it was before. */
async function eraseOne(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<{ readonly isChanged: boolean; readonly revisions: number }> {
  const current = await retryWrite(context, () => eraseFields(spec, context.beyondScopes, id));
  if (current.stored === null) return { isChanged: false, revisions: 0 };
  // Also what a deletion has taken out before: no restore brings it back.
  await forgetCleared(spec, context, id, Object.keys(spec.personal ?? {}));
  const revisions =
    spec.history === 0
      ? 0
      : await context.transaction
          .of(historyStore)
          .purge(spec, context.tenant, id, current.stored.rev);
  return { isChanged: current.isChanged, revisions };
}

/**
 * The document without what is personal; its place is empty if it is gone. Null where somebody else
 * has written it meanwhile.
 */
async function eraseFields(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<{ readonly stored: StoredDocument | null; readonly isChanged: boolean } | null> {
  const current = await findDocument(spec, context, id);
  if (current === null) return { stored: null, isChanged: false };
  const before = JSON.parse(current.body) as Body;
  const after = withoutPersonal(spec, before);
  // What the service computes of these fields is computed anew.
  const writer = await writerOf(spec, context, "write");
  // A condition of the type is no reason to keep what is personal.
  const { checksBody: _checks, ...unbound } = spec;
  const { body, diff } = changedBody(unbound, writer, before, after);
  const changed = Object.keys(diff);
  if (changed.length === 0) return { stored: current, isChanged: false };
  const stored = await replacedBody(spec, context, current, body, changed);
  if (stored === null) return null;
  if (stored.isDeleted) await followDeleted(spec, context, stored, diff);
  else await followChange(spec, context, "update", stored, { diff, before: current });
  return { stored, isChanged: true };
}
