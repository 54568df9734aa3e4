// References between documents: what they name is there, and stays so.
import { fail } from "../../contract/errors.js";
import { pointer } from "../../contract/json-pointer.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { DocumentDeclaration, DocumentSpec, Referrer } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { everything } from "../../query/ast.js";
import { emitSignals } from "./emit.js";
import { diffOf } from "./changes.js";
import { withSet } from "./set.js";
import { writerOf } from "./writer.js";
import { nextRevision, timeOf } from "./revision.js";
import { findDocument } from "./scoped.js";

type Body = Readonly<Record<string, unknown>>;

/** Documents that the deletion of one may take along or change. */
export const maxReferrers = 1_000;

/**
 * Holds what these members of a body name, so that nobody deletes it before the transaction has ended. Throws
 * `core.validation` with the pointers of what leads nowhere, as far as the caller sees.
 */
export async function holdReferences(
  { references }: DocumentDeclaration,
  context: ExecutionContext,
  body: Body,
  members: readonly string[],
  own?: string,
): Promise<void> {
  if (references === undefined) return;
  const faults = [];
  for (const member of members) {
    const target = Object.hasOwn(references, member) ? references[member]?.() : undefined;
    const id = body[member] ?? null;
    // What is restored may name itself.
    if (target === undefined || typeof id !== "string" || id === own) continue;
    if (!(await isHeld(target, context, id)))
      faults.push({
        path: pointer("", member),
        keyword: "ref",
        message: `names none of the ${target.name}`,
      });
  }
  if (faults.length > 0) throw fail("core.validation", { errors: faults });
}

async function isHeld(
  target: DocumentDeclaration,
  context: ExecutionContext,
  id: string,
): Promise<boolean> {
  const held = await context.transaction.of(documentStore).hold(target, context.tenant, id);
  if (!held || context.scopeOf(target.name) === everything) return held;
  return (await findDocument(target, context, id)) !== null;
}

/** How a document goes: marked, so that it can be restored, or for good. */
export type Departure = "delete" | "kill";

/**
 * Does what the referrers of a document that goes ask for. Throws `reference_in_use` where one of them restricts it, or
 * where there are more than `maxReferrers`.
 */
export async function releaseReferrers(
  spec: DocumentDeclaration,
  context: ExecutionContext,
  id: string,
  how: Departure,
  budget: { left: number } = { left: maxReferrers },
): Promise<void> {
  // What goes along no longer holds anything back.
  const all = spec.referredBy ?? [];
  const isLast = ({ onDelete }: Referrer): boolean => onDelete === "restrict";
  for (const referrer of [...all.filter((one) => !isLast(one)), ...all.filter(isLast)]) {
    const by = referrer.by();
    const rows = await namedBy(by, referrer, context, id, how, budget.left);
    if (rows.length === 0) continue;
    budget.left -= rows.length;
    if (referrer.onDelete === "restrict" || budget.left < 0)
      throw fail("reference_in_use", {
        document: by.name,
        member: referrer.member,
        ...(referrer.onDelete === "restrict" ? {} : { limit: maxReferrers }),
      });
    for (const { id: rowId } of rows) {
      // One that is named on two ways has gone, or changed, on the first.
      const row = await context.transaction.of(documentStore).get(by, context.tenant, rowId);
      if (row === null || (how === "delete" && row.isDeleted)) continue;
      if (referrer.onDelete === "set_null") await cleared(by, context, row, referrer.member);
      else await takenAlong(by, context, row, how, budget);
    }
  }
}

/** Documents that name another one, one more than are left at most. What is marked as deleted goes along for good only. */
function namedBy(
  by: DocumentSpec<unknown>,
  { member, onDelete }: Referrer,
  context: ExecutionContext,
  id: string,
  how: Departure,
  left: number,
): Promise<readonly StoredDocument[]> {
  const field = by.fieldSet.find(member);
  if (field === undefined) throw new TypeError(`${by.name} has no field ${member}`);
  const query = {
    filter: { kind: "compare", field, operator: "$eq", value: id } as const,
    sorts: [{ field: by.fieldSet.id, direction: "asc", nulls: "first" } as const],
    withDeleted: how === "kill" && onDelete !== "restrict",
  };
  const window = { limit: onDelete === "restrict" ? 1 : left + 1, offset: 0, after: undefined };
  return context.transaction.of(documentStore).select(by, context.tenant, query, window);
}

async function cleared(
  spec: DocumentDeclaration,
  context: ExecutionContext,
  current: StoredDocument,
  member: string,
): Promise<void> {
  const before = JSON.parse(current.body) as Body;
  const writer = await writerOf(spec, context, "write");
  const body = withSet(spec, writer, { ...before, [member]: null }, "write");
  const diff = diffOf(before, body);
  const stored = await next(spec, context, current, { body: JSON.stringify(body) });
  await emitSignals(spec, context, "update", stored, diff);
}

async function takenAlong(
  spec: DocumentDeclaration,
  context: ExecutionContext,
  current: StoredDocument,
  how: Departure,
  budget: { left: number },
): Promise<void> {
  if (spec.referredBy !== undefined)
    await context.transaction.of(documentStore).seize(spec, context.tenant, current.id);
  if (how === "kill") {
    const documents = context.transaction.of(documentStore);
    if (!(await documents.remove(spec, context.tenant, current.id, current.rev)))
      throw fail("core.concurrency");
    await emitSignals(spec, context, "kill", current);
  } else {
    const stored = await next(spec, context, current, { isDeleted: true });
    await emitSignals(spec, context, "delete", stored);
  }
  await releaseReferrers(spec, context, current.id, how, budget);
}

/** The next revision; whoever was faster has it tried again. */
async function next(
  spec: DocumentDeclaration,
  context: ExecutionContext,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
): Promise<StoredDocument> {
  const stored = nextRevision(context, current, change, timeOf(context));
  const documents = context.transaction.of(documentStore);
  if (!(await documents.replace(spec, context.tenant, current.rev, stored)))
    throw fail("core.concurrency");
  return stored;
}
