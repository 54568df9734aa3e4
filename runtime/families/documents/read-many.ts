// From where lists are read.
import type { ExecutionContext } from "../../operations/context.js";
import type { Transaction } from "../../ports/database.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { callerSight, type Sight } from "./reach.js";

/**
 * Committed state, of which a replica may answer: to callers alone, where a document says so. Code
 * of the author's may decide by what it reads what it writes, so it reads from the database itself,
 * as everything does that says who may see what.
 */
export function readMany(
  { takesReplica }: Pick<AnyDocumentSpec, "takesReplica">,
  context: ExecutionContext,
  sight: Sight,
): Transaction {
  if (takesReplica !== true || sight !== callerSight || context.holdsTransaction)
    return context.transaction;
  const { lifetime, payer, trace, resources } = context;
  return resources.database.read({ lifetime, payer, trace, takesReplica: true });
}
