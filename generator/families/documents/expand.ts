// From a document's model to its operations.
import { didYouMean } from "../../did-you-mean.js";
import type { DocumentDeclaration } from "../../load/declarations.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { DocumentVerb } from "../../model/registry.js";
import { reading } from "./guard.js";
import { addQueryTypes } from "./query-types.js";
import type { Documents } from "./related.js";
import { verbsOf } from "./verb-table.js";
import { expandVerb } from "./verbs.js";
import type { FamilyContext, UnmountedOperation } from "../../kernel/family.js";

/** The operations of a document. Puts the types of its queries, which reach into others, into the table. */
export function documentOperations(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  documents: Documents,
): readonly UnmountedOperation[] {
  addQueryTypes(context, model, documents);
  const registered = verbsOf(model, declaration);
  checkVerbs(context, model, declaration, registered);
  return registered.map((verb) => expandVerb(context, model, declaration, verb));
}

/** Reports verbs that the document does not register, wherever the declaration names verbs. */
function checkVerbs(
  { tree, report }: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  registered: readonly DocumentVerb[],
): void {
  const check = (verb: string, isKey: boolean, ...path: readonly (string | number)[]): void => {
    if ((registered as readonly string[]).includes(verb)) return;
    report({
      code: "OPW062",
      message: `${model.name} registers no operation ${verb}`,
      at: { ...tree.at("documents", model.name, ...path), isKey },
      suggestion: didYouMean(verb, registered),
    });
  };
  if (declaration.upsert === true && (model.unique.length === 0 || declaration.read_only === true))
    report({
      code: "OPW013",
      message: "upsert needs fields that are `unique`, and callers who write",
      at: tree.at("documents", model.name, "upsert"),
    });
  const guards = typeof declaration.guard === "string" ? [] : Object.keys(declaration.guard);
  for (const verb of guards)
    if (verb !== "read" && verb !== "write") check(verb, true, "guard", verb);
  for (const verb of Object.keys(declaration.hooks ?? {})) check(verb, true, "hooks", verb);
  for (const verb of Object.keys(declaration.deprecated ?? {}))
    check(verb, true, "deprecated", verb);
  for (const verb of Object.keys(declaration.emits ?? {})) {
    check(verb, true, "emits", verb);
    if (!(reading as readonly string[]).includes(verb)) continue;
    const at = { ...tree.at("documents", model.name, "emits", verb), isKey: true };
    report({ code: "OPW074", message: `${verb} does not write`, at });
  }
  for (const [index, verb] of (declaration.idempotency ?? []).entries()) {
    check(verb, false, "idempotency", index);
    if (!(reading as readonly string[]).includes(verb)) continue;
    const at = tree.at("documents", model.name, "idempotency", index);
    report({ code: "OPW047", message: `${verb} does not write`, at });
  }
}
