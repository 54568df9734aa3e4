// The past of a document: revisions, and the readers of deleted documents.
import type { DocumentDeclaration } from "./format.js";
import { isMap } from "../../load/shape.js";
import type { DocumentModel } from "../../model/document-model.js";

/**
 * The policy of those who read what is deleted, and whether operations over revisions are declared.
 */
export function historyOf({
  history,
  soft_delete: softDelete,
  retention,
}: DocumentDeclaration): Pick<DocumentModel, "history" | "revisions" | "readsDeleted"> {
  const keep = isMap(history) ? history.keep : undefined;
  return {
    history: history === undefined || history === false ? 0 : (keep ?? retention?.history ?? null),
    revisions: isMap(history) && history.revisions === true,
    readsDeleted: isMap(softDelete) ? (softDelete.read ?? null) : null,
  };
}
