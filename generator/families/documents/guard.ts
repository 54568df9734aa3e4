// The policies of a document's verbs: each verb has that of its effect (decisions.md "A twin
// takes the rule of its original").
import {
  distinctPolicies,
  policyNamed,
  policyOfGroup,
  type PlacedGuard,
} from "../../kernel/guard-by-operation.js";
import type { GuardUse } from "../../kernel/guards.js";
import type { SourceTree } from "../../load/source-tree.js";
import type { DocumentDeclaration } from "./format.js";
import type { ToldMembers } from "../../model/document-model.js";
import { own } from "../../model/records.js";
import { isMap } from "../../load/shape.js";
import { getDeleted } from "./verbs/deleted.js";
import { isReading, originalsOf } from "./verbs/index.js";
import type { DocumentVerb } from "./verbs/verb.js";

/** The operation of a verb, or of a view: `get_public`. */
export function operationName(verb: DocumentVerb, view: ToldMembers | null): string {
  return view === null ? verb.name : `${verb.name}_${view.name}`;
}

/**
 * The policies of a verb, or of a view, and where they stand: those of its originals, and its own
 * if it has one. The policy of an original is its own, else the view's, else that of read or
 * write, else the one for all.
 */
export function guardsOf(
  tree: SourceTree,
  document: string,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
  view: ToldMembers | null,
): readonly GuardUse[] {
  const { guard, soft_delete: softDelete } = declaration;
  const hasSoftDelete = softDelete !== undefined && softDelete !== false;
  const originals = originalsOf(verb, { softDelete: hasSoftDelete });
  const placed = { tree, path: ["documents", document, "guard"], guard } as const;
  const named = (one: DocumentVerb): GuardUse | undefined =>
    policyNamed(placed, operationName(one, view));
  const ofGroup = (one: DocumentVerb): GuardUse =>
    groupPolicy(placed, document, declaration, one, view);
  // A twin among the originals has the policies of those that it is the twin of, which are here as
  // well.
  const ofOriginals = originals.flatMap(
    (one) => named(one) ?? (one.twinOf === undefined ? ofGroup(one) : []),
  );
  const ofItself = named(verb) ?? (originals.length === 0 ? ofGroup(verb) : []);
  return distinctPolicies([...ofOriginals, ofItself].flat());
}

/** The policy of the group that the operation is in. */
function groupPolicy(
  placed: PlacedGuard,
  document: string,
  { views, soft_delete: softDelete }: DocumentDeclaration,
  verb: DocumentVerb,
  view: ToldMembers | null,
): GuardUse {
  const { tree } = placed;
  const declared = view === null ? undefined : own(views ?? {}, view.name);
  if (isMap(declared) && declared.guard !== undefined) {
    const at = tree.at("documents", document, "views", view?.name ?? "", "guard");
    return { policy: declared.guard, at };
  }
  if (isMap(softDelete) && verb === getDeleted) {
    const at = tree.at("documents", document, "soft_delete", "read");
    return { policy: softDelete.read ?? "", at, verb: verb.name };
  }
  // A view that names no policy is read by those who read the whole document.
  const ofWhole = view === null ? undefined : policyNamed(placed, verb.name);
  return ofWhole ?? policyOfGroup(placed, isReading(verb) ? "read" : "write");
}
