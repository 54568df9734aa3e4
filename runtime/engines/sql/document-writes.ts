// Writes single documents over SQL: the row, its snapshot if history is kept, and the search
// indexes.
import { isDeepStrictEqual } from "node:util";
import { fail } from "../../contract/errors.js";
import type { DocumentStore, StoredDocument } from "../../ports/documents.js";
import { mayBeInvolved } from "../../ports/deletions.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { forgetDeletions } from "./deletion-store.js";
import { bodyAsStored, ownerOf } from "./document-rows.js";
import { statementsOf } from "./document-statements.js";
import { IndexViolation } from "./index-violation.js";
import { sqlSearchIndexes } from "./search-index.js";
import type { SqlValue } from "./dialect/values.js";
import type { SqlSession } from "./session.js";

/** The methods of the document store that write single documents, within one transaction. */
export function sqlDocumentWrites(
  session: SqlSession,
): Pick<DocumentStore, "insert" | "replace" | "remove"> {
  const texts = (spec: AnyDocumentSpec) => statementsOf(spec, session.dialect);
  const keepSnapshot = async (spec: AnyDocumentSpec, tenant: string, document: StoredDocument) => {
    if (spec.history === 0) return;
    const { id, rev, lastUpdateAt, changedBy = null, isDeleted } = document;
    await session.runPipelined(texts(spec).insertHistory, [
      ...ownerOf(spec, tenant),
      id,
      rev,
      ...bodyAsStored(spec, document),
      lastUpdateAt,
      changedBy,
      isDeleted,
    ]);
    if (spec.history !== null && rev > spec.history) {
      await session.runPipelined(texts(spec).trimHistory, [
        ...ownerOf(spec, tenant),
        id,
        rev - spec.history,
      ]);
    }
  };

  const indexes = sqlSearchIndexes(session);

  return {
    async insert(spec, tenant, document) {
      const { id, rev, createdAt, lastUpdateAt, isDeleted, ownerId } = document;
      const values = [
        ...ownerOf(spec, tenant),
        id,
        rev,
        createdAt,
        lastUpdateAt,
        isDeleted,
        ownerId,
        ...bodyAsStored(spec, document),
      ];
      await heldTo(spec, () => session.run(texts(spec).insert, values));
      await keepSnapshot(spec, tenant, document);
      await indexes.put(spec, tenant, document);
    },

    async replace(spec, tenant, expectedRev, document) {
      const { id, rev, lastUpdateAt, isDeleted } = document;
      const values = [
        ...ownerOf(spec, tenant),
        id,
        expectedRev,
        rev,
        lastUpdateAt,
        isDeleted,
        ...bodyAsStored(spec, document),
      ];
      const changed = await heldTo(spec, () => session.run(texts(spec).replace, values));
      if (changed === 0) return false;
      await keepSnapshot(spec, tenant, document);
      await indexes.put(spec, tenant, document);
      return true;
    },

    async remove(spec, tenant, id, expectedRev) {
      const [removed] = await session.all(texts(spec).remove, [
        ...ownerOf(spec, tenant),
        id,
        expectedRev,
      ]);
      if (removed === undefined) return false;
      if (spec.history !== 0)
        await session.runPipelined(texts(spec).removeHistory, [...ownerOf(spec, tenant), id]);
      // Documents come before indexes, as in every other write, so that two writes can't deadlock.
      await indexes.remove(spec, tenant, removed["row_key"] as SqlValue);
      if (mayBeInvolved(spec)) await forgetDeletions(session, spec, tenant, [id]);
      return true;
    },
  };
}

/**
 * Runs a write of rows. Throws `unique_violation` if another row has the values that a unique rule
 * reserves, and `core.conflict` if an index refuses the row that belongs to no rule of this
 * version.
 */
export async function heldTo<T>(spec: AnyDocumentSpec, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof IndexViolation)) throw error;
    const rule = ruleOf(spec, error.index);
    // During a rollout, the next version of the service may have added indexes that this one
    // doesn't know.
    throw rule === undefined
      ? fail("core.conflict", {}, { cause: error })
      : fail("unique_violation", { members: rule.members }, { cause: error });
  }
}

function ruleOf({ unique = [], tenant }: AnyDocumentSpec, violated: IndexViolation["index"]) {
  if (typeof violated === "string") return unique.find(({ index }) => index === violated);
  const columns = violated.filter((column) => !(tenant && column === "tenant_id"));
  return unique.find(({ members }) => isDeepStrictEqual(members, columns));
}
