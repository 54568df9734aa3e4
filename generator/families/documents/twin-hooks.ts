// The author's hooks of single verbs that other verbs of the document run for each document they
// write.
import type { FamilyContext } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import { namedHooks } from "../../kernel/named-hooks.js";
import { callOf, ofRuntime, type Code } from "../../model/code.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { HookUse } from "../../model/registry.js";
import { own, sortedRecord } from "../../model/records.js";
import type { DocumentDeclaration } from "./format.js";
import { guardsOf } from "./guard.js";
import { isReading, originalsOf, verbsOf } from "./verbs/index.js";
import type { DocumentVerb } from "./verbs/verb.js";

/**
 * The author's own hooks of a verb: those of its policy judge its input, so they are asked of each
 * document as well.
 */
export function hooksOfVerb(
  context: FamilyContext,
  document: string,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): readonly HookUse[] {
  // The verb itself reports their faults.
  const quiet = { ...context, report: () => undefined };
  const guards = guardsOf(context.tree, document, declaration, verb, null);
  const hooked = { path: ["documents", document], hooks: declaration.hooks } as const;
  const own = namedHooks(context, hooked, verb.name);
  return hookChain(quiet, guards, document, own).filter(({ isAuthored }) => isAuthored);
}

/**
 * The verbs by which a verb writes each document: those that it only reads by have no hooks there.
 */
export function writtenBy(
  verb: DocumentVerb,
  model: Pick<DocumentModel, "softDelete">,
): readonly DocumentVerb[] {
  return originalsOf(verb, model).filter((original) => !isReading(original));
}

/** The model with the hooks that its other verbs run. */
export function withTwinHooks(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
): DocumentModel {
  const verbs = verbsOf(model, declaration);
  const originals = new Set(verbs.flatMap((verb) => writtenBy(verb, model)));
  const entries = [...originals].map((verb) => {
    const hooks = hooksOfVerb(context, model.name, declaration, verb);
    return [verb.name, hooks.map(({ run }) => run)] as const;
  });
  return { ...model, hooks: sortedRecord(entries.filter(([, hooks]) => hooks.length > 0)) };
}

/** The hooks of the verbs that a verb is the twin of, which it runs for each document. */
export function twinArguments(model: DocumentModel, verb: DocumentVerb): readonly Code[] {
  return writtenBy(verb, model).flatMap(({ name }) => {
    const steps = own(model.hooks, name);
    return steps === undefined ? [] : [callOf(ofRuntime("each"), { literal: name }, ...steps)];
  });
}
