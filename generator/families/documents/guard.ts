// The policies of a document's verbs: each verb has that of what it does (decisions.md "A twin takes the rule of its original").
import type { GuardUse } from "../../kernel/guards.js";
import type { SourceTree } from "../../load/source-tree.js";
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
 * The verbs about one document that do what a verb does: nobody does by it what these refuse. Empty for verbs that are
 * nobody's twin.
 */
export function originalsOf(verb: DocumentVerb, hasSoftDelete: boolean): readonly DocumentVerb[] {
  switch (verb) {
    case "create_many":
      return ["create"];
    case "upsert":
      return ["create", "update"];
    case "update_many":
      return ["update"];
    // It answers with what a revision says.
    case "revert":
      return ["get", "revision", "update"];
    case "delete_many":
      return [hasSoftDelete ? "delete" : "kill"];
    // What a filter finds tells what there is.
    case "update_where":
      return ["get", "update"];
    case "delete_where":
      return ["get", hasSoftDelete ? "delete" : "kill"];
    case "list":
    case "raw_list":
    case "list_cursor":
    case "raw_list_cursor":
    case "agg_list":
    case "revisions":
    case "revision":
    case "revision_diff":
      return ["get"];
    case "list_deleted":
      return ["get_deleted"];
    default:
      return [];
  }
}

interface Place {
  readonly policy: string;
  readonly path: readonly string[];
  /** What the guard names it for. */
  readonly verb?: string;
}

/**
 * The policies of a verb, or of a view, and where they stand: those of its originals, and its own where it has one. The
 * policy of an original is its own, else the view's, else that of read or write, else the one for all.
 */
export function guardsOf(
  tree: SourceTree,
  document: string,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
  view: ToldMembers | null,
): readonly GuardUse[] {
  const { soft_delete: softDelete } = declaration;
  const hasSoftDelete = softDelete !== undefined && softDelete !== false;
  const originals = originalsOf(verb, hasSoftDelete);
  const own = ownPolicy(declaration, verb, view);
  const places = [
    ...originals.flatMap((one) => {
      const place = ownPolicy(declaration, one, view);
      if (place !== null) return [place];
      // A twin among the originals has the policies of those that it is the twin of, which are here as well.
      return originalsOf(one, hasSoftDelete).length > 0 ? [] : [usual(declaration, one, view)];
    }),
    ...(own === null ? [] : [own]),
    ...(originals.length === 0 && own === null ? [usual(declaration, verb, view)] : []),
  ];
  return places
    .filter(({ policy }, index) => places.findIndex((one) => one.policy === policy) === index)
    .map(({ path, ...place }) => ({ ...place, at: tree.at("documents", document, ...path) }));
}

/** The policy that names the operation. */
function ownPolicy(
  { guard }: DocumentDeclaration,
  verb: DocumentVerb,
  view: ToldMembers | null,
): Place | null {
  const operation = operationName(verb, view);
  if (typeof guard !== "object" || !Object.hasOwn(guard, operation)) return null;
  return { policy: guard[operation] ?? "", path: ["guard", operation], verb: operation };
}

/** The policy of the group that the operation is in. */
function usual(
  { guard, views, soft_delete: softDelete }: DocumentDeclaration,
  verb: DocumentVerb,
  view: ToldMembers | null,
): Place {
  const declared = view === null ? undefined : own(views ?? {}, view.name);
  if (isMap(declared) && declared.guard !== undefined)
    return { policy: declared.guard, path: ["views", view?.name ?? "", "guard"] };
  if (isMap(softDelete) && verb === "get_deleted")
    return { policy: softDelete.read ?? "", path: ["soft_delete", "read"], verb };
  if (typeof guard === "string") return { policy: guard, path: ["guard"] };
  // A view that names no policy is read by those who read the whole document.
  if (view !== null && Object.hasOwn(guard, verb))
    return { policy: guard[verb] ?? "", path: ["guard", verb], verb };
  const key = reading.includes(verb) ? "read" : "write";
  const path = Object.hasOwn(guard, key) ? ["guard", key] : ["guard"];
  return { policy: guard[key] ?? "", path, verb: key };
}
