// The policies of a document's verbs: each verb has that of what it does (decisions.md "A twin takes the rule of its original").
import type { GuardUse } from "../../kernel/guards.js";
import type { SourceTree } from "../../load/source-tree.js";
import type { DocumentDeclaration } from "./format.js";
import type { ToldMembers } from "../../model/document-model.js";
import { own } from "../../model/records.js";
import { isMap } from "../../load/shape.js";
import { getDeleted } from "./verbs/deleted.js";
import { isReading, originalsOf } from "./verbs/index.js";
import type { Verb } from "./verbs/verb.js";

/** The operation of a verb, or of a view: `get_public`. */
export function operationName(verb: Verb, view: ToldMembers | null): string {
  return view === null ? verb.name : `${verb.name}_${view.name}`;
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
  verb: Verb,
  view: ToldMembers | null,
): readonly GuardUse[] {
  const { soft_delete: softDelete } = declaration;
  const hasSoftDelete = softDelete !== undefined && softDelete !== false;
  const originals = originalsOf(verb, { softDelete: hasSoftDelete });
  const own = ownPolicy(declaration, verb, view);
  const places = [
    ...originals.flatMap((one) => {
      const place = ownPolicy(declaration, one, view);
      if (place !== null) return [place];
      // A twin among the originals has the policies of those that it is the twin of, which are here as well.
      return one.twinOf !== undefined ? [] : [usual(declaration, one, view)];
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
  verb: Verb,
  view: ToldMembers | null,
): Place | null {
  const operation = operationName(verb, view);
  if (typeof guard !== "object" || !Object.hasOwn(guard, operation)) return null;
  return { policy: guard[operation] ?? "", path: ["guard", operation], verb: operation };
}

/** The policy of the group that the operation is in. */
function usual(
  { guard, views, soft_delete: softDelete }: DocumentDeclaration,
  verb: Verb,
  view: ToldMembers | null,
): Place {
  const declared = view === null ? undefined : own(views ?? {}, view.name);
  if (isMap(declared) && declared.guard !== undefined)
    return { policy: declared.guard, path: ["views", view?.name ?? "", "guard"] };
  if (isMap(softDelete) && verb === getDeleted)
    return { policy: softDelete.read ?? "", path: ["soft_delete", "read"], verb: verb.name };
  if (typeof guard === "string") return { policy: guard, path: ["guard"] };
  // A view that names no policy is read by those who read the whole document.
  const { name } = verb;
  if (view !== null && Object.hasOwn(guard, name))
    return { policy: guard[name] ?? "", path: ["guard", name], verb: name };
  const key = isReading(verb) ? "read" : "write";
  const path = Object.hasOwn(guard, key) ? ["guard", key] : ["guard"];
  return { policy: guard[key] ?? "", path, verb: key };
}
