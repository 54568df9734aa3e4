// The family of the audit trail: who has changed what in a tenant (decisions.md "Audit trail").
import { familyOf, hourly } from "../../operations/family.js";
import { credentialOf } from "../../operations/identity.js";
import { countInBatches } from "../../operations/in-batches.js";
import { entriesOf, entryOf } from "./entries.js";
import { auditStore, type AuditEntry } from "../../ports/audit.js";
import { uuidv7 } from "../../ports/uuid.js";

/** How a service keeps its audit trail. */
export interface AuditSpec {
  /** How long entries are kept; null is for ever. */
  readonly keepSeconds: number | null;
  /** Documents and storages whose changes have no entries. */
  readonly except: ReadonlySet<string>;
}

/**
 * The spec of a service that keeps entries for so many seconds, 0 for ever, and none of changes of
 * these documents and storages.
 */
export function defineAudit(keepSeconds = 0, ...except: readonly string[]): AuditSpec {
  return { keepSeconds: keepSeconds === 0 ? null : keepSeconds, except: new Set(except) };
}

/** Rows that one transaction changes. */
const batchSize = 1_000;

export const auditFamily = familyOf<AuditSpec>()({
  member: "audit",
  tables: () => ["opwright_audit"],
  jobs: ({ keepSeconds }, { clock }) =>
    keepSeconds === null
      ? []
      : [
          hourly("audit.old", (transaction) =>
            transaction.of(auditStore).prune(clock.now() - keepSeconds * 1000, batchSize),
          ),
        ],
  async recorded({ except }, context, all) {
    const changes = all.filter(({ resource }) => resource === null || !except.has(resource));
    if (changes.length === 0) return;
    const at = context.clock.now();
    const { operationId: operation, metadata } = context;
    // Jobs act for somebody who has shown nothing.
    const isRequest = context.clientAddress() !== "";
    const entries = changes.map(
      ({ tenant, by, change, resource, resourceId, rev, fields, details }): AuditEntry => ({
        id: uuidv7(),
        tenant,
        at,
        operation,
        requestId: metadata.requestId,
        principalId: by?.principalId ?? null,
        actorId: by?.actorId ?? null,
        credential: isRequest ? credentialOf(by) : null,
        change,
        resource,
        resourceId,
        rev,
        fields,
        details: JSON.stringify(details),
      }),
    );
    await context.transaction.of(auditStore).add(entries);
  },
  async *exported(_spec, context, { principalId }) {
    const until = context.clock.now() + 1;
    for await (const entry of entriesOf({ tenant: null, by: principalId, until }, context))
      yield { kind: "audit_entry", tenant_id: entry.tenant, data: entryOf(entry) };
  },
  // Who it was is an id that nobody has any more; what they have done stays done.
  erased: async (_spec, context, { principalId }) => ({
    audit_details: await countInBatches(batchSize, (size) =>
      context.transact((transaction) => transaction.of(auditStore).eraseDetails(principalId, size)),
    ),
  }),
});
