// The author's hooks of single verbs that other verbs of the document run for each document they write.
import type { FamilyContext } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import { callOf, ofRuntime, type Code } from "../../model/code.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { DocumentVerb, HookUse } from "../../model/registry.js";
import { own } from "../../model/records.js";
import type { DocumentDeclaration } from "./format.js";
import { guardsOf, originalsOf, reading } from "./guard.js";
import { verbsOf } from "./verb-table.js";

/** The author's own hooks of a verb: those of its policy judge its input, so they are asked of each document as well. */
export function hooksOfVerb(
  context: FamilyContext,
  document: string,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): readonly HookUse[] {
  // What is wrong with them is told of the verb itself.
  const quiet = { ...context, report: () => undefined };
  const guards = guardsOf(context.tree, document, declaration, verb, null);
  const hooks = declaration.hooks?.[verb] ?? {};
  const at = context.tree.at("documents", document, "hooks", verb);
  return hookChain(quiet, guards, document, { hooks, at }).filter(({ isAuthored }) => isAuthored);
}

/** The verbs by which a verb writes each document: what it only reads has no hooks of its own there. */
export function writtenBy(verb: DocumentVerb, hasSoftDelete: boolean): readonly DocumentVerb[] {
  return originalsOf(verb, hasSoftDelete).filter((original) => !reading.includes(original));
}

/** The model with the hooks that its other verbs run. */
export function withTwinHooks(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
): DocumentModel {
  const verbs = verbsOf(model, declaration);
  const originals = new Set(verbs.flatMap((verb) => writtenBy(verb, model.softDelete)));
  const entries = [...originals].sort().map((verb) => {
    const hooks = hooksOfVerb(context, model.name, declaration, verb);
    return [verb, hooks.map(({ run }) => run)] as const;
  });
  return { ...model, hooks: Object.fromEntries(entries.filter(([, hooks]) => hooks.length > 0)) };
}

/** What a verb runs besides itself: the hooks of what it does, for each document. */
export function twinArguments(
  { hooks, softDelete }: DocumentModel,
  verb: DocumentVerb,
): readonly Code[] {
  return writtenBy(verb, softDelete).flatMap((original) => {
    const steps = own(hooks, original);
    return steps === undefined ? [] : [callOf(ofRuntime("each"), { literal: original }, ...steps)];
  });
}
