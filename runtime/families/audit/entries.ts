// Entries of the audit trail as they are told.
import type { ExecutionContext } from "../../operations/context.js";
import { readPiece } from "../../operations/read-piece.js";
import {
  auditStore,
  type AuditEntry,
  type AuditFilter,
  type AuditPosition,
} from "../../ports/audit.js";

/** An entry of the trail as operations answer with it. */
export interface AuditTrailEntry {
  readonly id: string;
  readonly at: string;
  readonly operation: string;
  readonly request_id: string;
  readonly principal_id: string | null;
  readonly actor_id: string | null;
  readonly credential: string | null;
  readonly change: string;
  readonly resource: string | null;
  readonly resource_id: string | null;
  readonly rev: number | null;
  readonly fields: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

/** An entry in the words of the wire. */
export function entryOf(entry: AuditEntry): AuditTrailEntry {
  return {
    id: entry.id,
    at: new Date(entry.at).toISOString(),
    operation: entry.operation,
    request_id: entry.requestId,
    principal_id: entry.principalId,
    actor_id: entry.actorId,
    credential: entry.credential,
    change: entry.change,
    resource: entry.resource,
    resource_id: entry.resourceId,
    rev: entry.rev,
    fields: entry.fields,
    details: JSON.parse(entry.details) as AuditTrailEntry["details"],
  };
}

/** Entries that are read at once. */
const readAtOnce = 1_000;

/** All entries that pass a filter, oldest first, read as they are asked for. */
export async function* entriesOf(
  filter: AuditFilter,
  context: ExecutionContext,
): AsyncGenerator<AuditEntry> {
  for (let after: AuditPosition | null = null; ;) {
    const found: readonly AuditEntry[] = await readPiece(context)
      .of(auditStore)
      .list(filter, { order: "oldest", after, limit: readAtOnce });
    yield* found;
    after = found.at(-1) ?? null;
    if (found.length < readAtOnce) return;
  }
}
