// The policies of a document's verbs.
import type { DocumentDeclaration } from "../../load/declarations.js";
import { isMap } from "../../load/shape.js";
import type { DocumentVerb } from "../../model/registry.js";

/** Verbs that store nothing. */
export const reading: readonly DocumentVerb[] = [
  "get",
  "list",
  "raw_list",
  "list_cursor",
  "raw_list_cursor",
  "agg_list",
  "revisions",
  "revision",
  "revision_diff",
  "get_deleted",
  "list_deleted",
];

/** The policy of a verb and where it stands: the verb's own, else that of read or write, else the one for all. */
export function guardOf(
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): { readonly policy: string; readonly path: readonly string[] } {
  const { guard, soft_delete: softDelete } = declaration;
  const isOwn = typeof guard === "object" && Object.hasOwn(guard, verb);
  if (isMap(softDelete) && ["get_deleted", "list_deleted"].includes(verb) && !isOwn)
    return { policy: softDelete.read ?? "", path: ["soft_delete", "read"] };
  if (typeof guard === "string") return { policy: guard, path: ["guard"] };
  const key = Object.hasOwn(guard, verb) ? verb : reading.includes(verb) ? "read" : "write";
  return { policy: guard[key] ?? "", path: Object.hasOwn(guard, key) ? ["guard", key] : ["guard"] };
}
