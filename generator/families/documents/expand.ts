// From a document's model to its operations.
import { checkGuardNames, checkOperationName } from "../../kernel/guard-by-operation.js";
import type { DocumentDeclaration } from "./format.js";
import { isMap } from "../../load/shape.js";
import type { DocumentModel } from "../../model/document-model.js";
import { applyView } from "../../model/views.js";
import { operationName } from "./guard.js";
import { addAggregateTypes, addQueryTypes } from "./queries/query-types.js";
import type { Documents } from "./queries/related.js";
import { expandVerb } from "./expand-verb.js";
import { isReading, verbsOf, viewVerbs } from "./verbs/index.js";
import { knownUniques } from "./verbs/upsert.js";
import type { DocumentVerb } from "./verbs/verb.js";
import type { FamilyContext, UnmountedOperation } from "../../kernel/family.js";

/**
 * The operations of a document. Puts the types of its queries, which reach into others, into the
 * table.
 */
export function documentOperations(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  documents: Documents,
): readonly UnmountedOperation[] {
  addQueryTypes(context, model, documents);
  addAggregateTypes(context, model);
  const views = model.views.map((view) => applyView(model, view));
  for (const view of views) addQueryTypes(context, view, documents);
  const registered = [
    ...verbsOf(model, declaration).map((verb) => ({ of: model, verb })),
    ...views.flatMap((of) => viewVerbs.map((verb) => ({ of, verb }))),
  ];
  checkVerbs(
    context,
    model,
    declaration,
    registered.map(({ of, verb }) => ({ name: operationName(verb, of.view), verb })),
  );
  return registered.map(({ of, verb }) => expandVerb(context, of, declaration, verb, documents));
}

/** An operation and its verb. */
interface Registered {
  readonly name: string;
  readonly verb: DocumentVerb;
}

/** Reports verbs that the document does not register, wherever the declaration names verbs. */
function checkVerbs(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  registered: readonly Registered[],
): void {
  const { tree, report } = context;
  const names = registered.map(({ name }) => name);
  const reads = registered.filter(({ verb }) => isReading(verb)).map(({ name }) => name);
  const check = (verb: string, isKey: boolean, ...path: readonly (string | number)[]): void => {
    const at = { ...tree.at("documents", model.name, ...path), isKey };
    checkOperationName(context, model.name, verb, { names, groups: [], at });
  };
  if (
    declaration.upsert === true &&
    (knownUniques(model).length === 0 || declaration.read_only === true)
  )
    report({
      code: "OPW013",
      message: "upsert needs fields that are `unique`, and callers who write",
      at: tree.at("documents", model.name, "upsert"),
    });
  const { soft_delete: softDelete } = declaration;
  if (isMap(softDelete) && softDelete.list_deleted === true && softDelete.read !== undefined)
    report({
      code: "OPW013",
      message:
        "list_deleted shows deleted documents to all who list, which `read` leaves to others",
      at: tree.at("documents", model.name, "soft_delete", "list_deleted"),
    });
  const placed = {
    tree,
    path: ["documents", model.name, "guard"],
    guard: declaration.guard,
  } as const;
  checkGuardNames(context, model.name, placed, { names, groups: ["read", "write"] });
  for (const verb of Object.keys(declaration.hooks ?? {})) check(verb, true, "hooks", verb);
  for (const verb of Object.keys(declaration.deprecated ?? {}))
    check(verb, true, "deprecated", verb);
  for (const verb of Object.keys(declaration.emits ?? {})) {
    check(verb, true, "emits", verb);
    if (!reads.includes(verb)) continue;
    const at = { ...tree.at("documents", model.name, "emits", verb), isKey: true };
    report({ code: "OPW074", message: `${verb} does not write`, at });
  }
  for (const [index, verb] of (declaration.idempotency ?? []).entries()) {
    check(verb, false, "idempotency", index);
    if (!reads.includes(verb)) continue;
    const at = tree.at("documents", model.name, "idempotency", index);
    report({ code: "OPW047", message: `${verb} does not write`, at });
  }
}
