// The policies of a document's verbs.
import type { DocumentDeclaration } from "./format.js";
import type { ToldMembers } from "../../model/document-model.js";
import { own } from "../../model/records.js";
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

/** The operation of a verb, or of a view: `get_public`. */
export function operationName(verb: DocumentVerb, view: ToldMembers | null): string {
  return view === null ? verb : `${verb}_${view.name}`;
}

/**
 * The policy of a verb, or of a view, and where it stands: the operation's own, else the view's, else that of read or
 * write, else the one for all.
 */
export function guardOf(
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
  view: ToldMembers | null,
): { readonly policy: string; readonly path: readonly string[] } {
  const { guard, soft_delete: softDelete } = declaration;
  const operation = operationName(verb, view);
  const isOwn = typeof guard === "object" && Object.hasOwn(guard, operation);
  if (isOwn) return { policy: guard[operation] ?? "", path: ["guard", operation] };
  const declared = view === null ? undefined : own(declaration.views ?? {}, view.name);
  if (isMap(declared) && declared.guard !== undefined)
    return { policy: declared.guard, path: ["views", view?.name ?? "", "guard"] };
  if (isMap(softDelete) && ["get_deleted", "list_deleted"].includes(verb))
    return { policy: softDelete.read ?? "", path: ["soft_delete", "read"] };
  if (typeof guard === "string") return { policy: guard, path: ["guard"] };
  const key = Object.hasOwn(guard, verb) ? verb : reading.includes(verb) ? "read" : "write";
  return { policy: guard[key] ?? "", path: Object.hasOwn(guard, key) ? ["guard", key] : ["guard"] };
}
