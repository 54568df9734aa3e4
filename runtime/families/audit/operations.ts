// The operations by which the audit trail of the caller's tenant is read.
import type { ExecutionContext } from "../../operations/context.js";
import type { ByteReply } from "../../operations/byte-reply.js";
import { linesReply } from "../../operations/lines-reply.js";
import type { Handler } from "../../operations/operation.js";
import { entriesOf, entryOf, type AuditTrailEntry } from "./entries.js";
import { auditStore, type AuditFilter } from "../../ports/audit.js";

/** Entries of one answer. */
const pageSize = 100;

/** What is asked of the trail; times are RFC 3339. */
export interface AuditQuestion {
  readonly operation?: string;
  readonly principal_id?: string;
  readonly resource?: string;
  readonly resource_id?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Handlers of the audit trail: callers see that of their tenant. */
export const auditTrail = {
  /** The newest first; `before` is the last entry of the page before. */
  list:
    (): Handler<
      AuditQuestion & { readonly before?: string },
      { readonly entries: readonly AuditTrailEntry[]; readonly has_more: boolean }
    > =>
    async ({ before, ...question }, context) => {
      const store = context.transaction.of(auditStore);
      const after = before === undefined ? null : await store.positionOf(context.tenant, before);
      // One that is no longer there was the oldest.
      if (before !== undefined && after === null) return { entries: [], has_more: false };
      const filter = filterOf(question, context);
      const found = await store.list(filter, { order: "newest", after, limit: pageSize + 1 });
      return { entries: found.slice(0, pageSize).map(entryOf), has_more: found.length > pageSize };
    },

  /**
   * All entries that there are when it begins, oldest first: a line of JSON each, sent as they are
   * read.
   */
  download: (): Handler<AuditQuestion, ByteReply> => (question, context) => {
    const now = context.clock.now() + 1;
    const asked = filterOf(question, context);
    const filter = { ...asked, until: Math.min(asked.until ?? now, now) };
    return linesReply("audit.jsonl", toldOf(filter, context));
  },
};

async function* toldOf(
  filter: AuditFilter,
  context: ExecutionContext,
): AsyncGenerator<AuditTrailEntry> {
  for await (const entry of entriesOf(filter, context)) yield entryOf(entry);
}

function filterOf(
  {
    operation,
    principal_id: principalId,
    resource,
    resource_id: resourceId,
    since,
    until,
  }: AuditQuestion,
  { tenant }: ExecutionContext,
): AuditFilter {
  return {
    tenant,
    operation,
    principalId,
    resource,
    resourceId,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  };
}
