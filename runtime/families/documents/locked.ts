// Documents that nobody else changes while a transaction works with them.
import { decimalSum } from "../../contract/exact-number.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { checkedPayload } from "./payloads.js";
import { retryWrite } from "./retry-write.js";
import { findExisting, patchCurrent } from "./write.js";

/** Locks a document until the transaction ends. Throws where there is none. */
export async function lockDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<void> {
  if (!context.holdsTransaction)
    throw new TypeError("a lock lasts as long as its transaction, and there is none");
  await context.transaction.of(documentStore).lock(spec, context.tenant, [id]);
}

/**
 * Adds amounts to numbers of a document, whoever else does so at the same time; a number that is
 * absent or null counts as 0. Throws `core.not_found`, `document_deleted`, `core.validation`.
 */
export async function incrementDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  amounts: Readonly<Record<string, number | undefined>>,
): Promise<StoredDocument> {
  await lockDocument(spec, context, id);
  const { stored } = await retryWrite(context, async () => {
    const current = await findExisting(spec, context, id);
    if (current.isDeleted) throw fail("document_deleted");
    const patch = checkedPayload(sumsOf(spec, current, amounts), spec.validatePatch);
    return patchCurrent(spec, context, current, "any", patch);
  });
  return stored;
}

function sumsOf(
  { name }: AnyDocumentSpec,
  current: StoredDocument,
  amounts: Readonly<Record<string, number | undefined>>,
): Readonly<Record<string, number>> {
  const body = JSON.parse(current.body) as Readonly<Record<string, unknown>>;
  const sums = Object.entries(amounts).flatMap(([member, amount]) => {
    if (amount === undefined) return [];
    const value = body[member] ?? 0;
    if (typeof value !== "number" || !Number.isFinite(amount))
      throw new TypeError(`${name}.${member} cannot be incremented by ${String(amount)}`);
    const sum = decimalSum([value, amount]);
    if (Math.abs(sum) <= Number.MAX_SAFE_INTEGER) return [[member, sum] as const];
    // A double would lose what is added next.
    const fault = { path: `/${member}`, keyword: "maximum", message: "has no room for the sum" };
    throw fail("core.validation", { errors: [fault] });
  });
  return Object.fromEntries(sums);
}
