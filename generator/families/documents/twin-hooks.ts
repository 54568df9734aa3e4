// The author's hooks of single verbs that other verbs of the document run for each document they write.
import type { FamilyContext } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { DocumentVerb, HookUse } from "../../model/registry.js";
import { listLayout } from "../../print/layout.js";
import type { ModuleScope } from "../../print/module-scope.js";
import type { DocumentDeclaration } from "./format.js";
import { originalsOf, reading } from "./guard.js";
import { verbsOf } from "./verb-table.js";

/** The author's own hooks of a verb. */
export function hooksOfVerb(
  context: FamilyContext,
  document: string,
  { hooks }: DocumentDeclaration,
  verb: DocumentVerb,
): readonly HookUse[] {
  const declared = hooks?.[verb];
  if (declared === undefined) return [];
  // What is wrong with them is told of the verb itself.
  const quiet = { ...context, report: () => undefined };
  const at = context.tree.at("documents", document, "hooks", verb);
  return hookChain(quiet, [], document, { hooks: declared, at });
}

/** The model with the hooks that its other verbs run. */
export function withTwinHooks(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
): DocumentModel {
  const writing = verbsOf(model, declaration).filter((verb) => !reading.includes(verb));
  const originals = new Set(writing.flatMap((verb) => originalsOf(verb, model.softDelete)));
  const entries = [...originals].sort().map((verb) => {
    const hooks = hooksOfVerb(context, model.name, declaration, verb);
    return [verb, hooks.map(({ run }) => run)] as const;
  });
  return { ...model, hooks: Object.fromEntries(entries.filter(([, hooks]) => hooks.length > 0)) };
}

/** The hooks as the module of a document prints them: files of the author's may import the module. */
export function hooksMember({ hooks }: DocumentModel, scope: ModuleScope): readonly string[] {
  const lines = Object.entries(hooks).map(([verb, steps]) =>
    listLayout(
      "    ",
      `${verb}: () => `,
      steps.map((step) => scope.code(step)),
      ["[", "]"],
      ",",
    ),
  );
  return lines.length === 0 ? [] : ["  hooks: {", ...lines, "  },"];
}
