// The scopes of documents: those of the guards of single verbs, which handlers keep to as well
// (decisions.md "Scopes").
import type { FamilyContext } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { HookUse } from "../../model/registry.js";
import { sortedRecord } from "../../model/records.js";
import { documentOf, applyView } from "../../model/views.js";
import type { ModuleScope } from "../../print/module-scope.js";
import { listLayout } from "../../print/layout.js";
import type { DocumentDeclaration } from "./format.js";
import { guardsOf } from "./guard.js";
import { get } from "./verbs/get.js";
import { writesOfOne } from "./verbs/index.js";
import type { DocumentVerb } from "./verbs/verb.js";

/** The verbs by which handlers read and write one document. */
function accessesOf(
  model: DocumentModel,
  declaration: DocumentDeclaration,
): readonly DocumentVerb[] {
  return [get, ...writesOfOne.filter((verb) => verb.when.holds(model, declaration))];
}

/** Whether a hook narrows which documents there are. */
export function isScope({ provides }: HookUse): boolean {
  return provides.includes("authz.scope");
}

/** The model with the scopes of its guards, and of those of its views. */
export function withScopes(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
): DocumentModel {
  return {
    ...model,
    scopes: scopesOf(context, model, declaration, accessesOf(model, declaration)),
    views: model.views.map((view) => ({
      ...view,
      scopes: scopesOf(context, applyView(model, view), declaration, [get]),
    })),
  };
}

function scopesOf(
  context: FamilyContext,
  { name, view }: DocumentModel,
  declaration: DocumentDeclaration,
  accesses: readonly DocumentVerb[],
): DocumentModel["scopes"] {
  // The operation itself reports a faulty policy.
  const quiet = { ...context, report: () => undefined };
  const document = documentOf(name);
  const entries = accesses.map((access) => {
    // Where callers write nothing, handlers write what the caller may see.
    const verb = declaration.read_only === true ? get : access;
    const guards = guardsOf(context.tree, document, declaration, verb, view);
    const hooks = hookChain(quiet, guards, document).filter(isScope);
    return [access.name, hooks.map(({ run }) => run)] as const;
  });
  return sortedRecord(entries.filter(([, steps]) => steps.length > 0));
}

/**
 * The scopes as the module of a document prints them. Asked for when they are needed: they know the
 * document.
 */
export function scopesMember(
  { scopes }: Pick<DocumentModel, "scopes">,
  scope: ModuleScope,
): readonly string[] {
  const lines = Object.entries(scopes).map(([verb, steps]) =>
    listLayout(
      "    ",
      `${verb}: () => `,
      steps.map((step) => scope.code(step)),
      ["[", "]"],
      ",",
    ),
  );
  return lines.length === 0 ? [] : ["  scopes: {", ...lines, "  },"];
}
