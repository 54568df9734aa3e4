// The writer and the time: facts of a write that the service knows by itself.
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import type { SetRule, Writer } from "../../ports/set-rules.js";
import { timeOf } from "./revision.js";
import { idField, ownerField } from "../../query/fields.js";

/** What is done to a document, as far as its members are set then. */
export type Occasioned = "create" | "write";

/** Members that may be set when a document is created, or whenever it is written. */
export function rulesOn({ set = [] }: AnyDocumentSpec, on: Occasioned): readonly SetRule[] {
  return set.filter((rule) => on === "create" || rule.on === "write");
}

/** The present writer. Finding its profile costs a statement, if the document has one. */
export async function writerOf(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Occasioned,
): Promise<Writer> {
  const caller = context.identity?.principalId ?? null;
  const rule = rulesOn(spec, on).find(({ madeOf }) => madeOf === "profile");
  const profiles = rule === undefined ? undefined : spec.references?.[rule.member]?.();
  const profile =
    profiles === undefined || caller === null ? null : await ownedBy(caller, profiles, context);
  return { caller, profile, now: timeOf(context) };
}

/**
 * The id of the live document that a principal owns, or null; no scope hides from callers who they
 * are.
 */
async function ownedBy(
  principalId: string,
  profiles: AnyDocumentSpec,
  context: ExecutionContext,
): Promise<string | null> {
  const filter = {
    kind: "compare",
    field: ownerField,
    operator: "$eq",
    value: principalId,
  } as const;
  const sorts = [{ field: idField, direction: "asc", nulls: "first" } as const];
  const query = { filter, sorts, withDeleted: false };
  const window = { limit: 1, offset: 0, after: undefined };
  const store = context.transaction.of(documentStore);
  const [found] = await store.select(profiles, context.tenant, query, window);
  return found?.id ?? null;
}
