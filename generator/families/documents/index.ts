// The documents family: a declaration becomes a table with its types and operations.
import type { DocumentDeclaration } from "./format.js";
import { ofGenerated } from "../../model/code.js";
import { specName } from "../../model/names.js";
import type { OperationModel } from "../../model/registry.js";
import { sortedRecord } from "../../model/records.js";
import { documentOf } from "../../model/views.js";
import type { DocumentModel } from "../../model/document-model.js";
import {
  clientParts,
  expansion,
  family,
  type FamilyContext,
  type NamespaceExpansion,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { bodyPlans } from "./body-validators.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { conversions } from "./members/conversions.js";
import { personalValues } from "./members/personal.js";
import { documentDefaults } from "./members/defaults.js";
import { derivedTypes } from "./derived.js";
import { droppedValues, droppedWasThere } from "./members/dropped.js";
import { emitDocuments } from "./emit.js";
import { documentOperations } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model-parts.js";
import { formerDefaults, formerValuesAreTaken } from "./members/former.js";
import { formerNamesLeadSomewhere } from "./renames.js";
import { rowsCanFollow } from "./rows-follow.js";
import { sqlClaims } from "./sql-names.js";
import { documentModel } from "./model.js";
import { checkReferences, isUndoable } from "./members/references.js";
import { withScopes } from "./scopes.js";
import { declaredValues } from "./members/some-values.js";
import { firstNumbers, numberFields } from "./members/numbers.js";
import { profilesAsked } from "./members/set.js";
import { readingOf, refuseExpanded, withReading } from "./queries/related.js";
import { counterTable, deletionTable } from "./tables.js";
import { withTwinHooks } from "./twin-hooks.js";
import { readDocumentTypes } from "./types.js";

/** Documents by name, for families that are about documents. */
export const documents = family<ReadonlyMap<string, DocumentModel>>({
  name: "documents",
  format,
  diagnostics,
  models,
  expand(context) {
    const declared = readDocumentTypes(context);
    // All models first: what one may be asked reaches into others.
    const plain: Record<string, DocumentModel> = {};
    for (const [name, { declaration, type }] of declared)
      plain[name] = withTwinHooks(
        context,
        withScopes(context, documentModel(context, name, declaration, type), declaration),
        declaration,
      );
    checkReferences(context, plain);
    const documents = withReading(plain, (model) => {
      const declaration = declared.get(documentOf(model.name))?.declaration;
      return declaration === undefined ? null : readingOf(context, model, declaration);
    });
    refuseExpanded(context, documents);
    const models = new Map(Object.entries(documents));
    const namespaces = [...declared].flatMap(([name, { declaration }]) => {
      const model = models.get(name);
      if (model === undefined) return [];
      const operations = documentOperations(context, model, declaration, documents);
      return [namespaceOf(context, declaration, model, operations)];
    });
    return expansion(models, {
      namespaces,
      furtherErrors: furtherErrors(models),
      frozen: () => ({ documents: sortedRecord(models) }),
    });
  },
  rules: [rowsCanFollow, formerNamesLeadSomewhere, formerValuesAreTaken, droppedWasThere],
  defaults: (context) => [
    ...documentDefaults(context),
    ...formerDefaults(context),
    ...droppedValues(context),
    ...declaredValues(context),
    ...firstNumbers(context),
    ...personalValues(context),
  ],
  functions: conversions,
  compare,
  rollout,
  tables: [
    {
      areNeeded: ({ documents }) =>
        Object.values(documents).some(({ set }) => numberFields(set).length > 0),
      steps: counterTable,
    },
    {
      areNeeded: (model) => Object.values(model.documents).some((one) => isUndoable(model, one)),
      steps: deletionTable,
    },
  ],
  claims: sqlClaims,
  derived: derivedTypes,
  emit: emitDocuments,
  validators: bodyPlans,
  client: ({ documents }) => {
    const parts = Object.keys(documents).length === 0 ? [] : ["each", "edit"];
    return clientParts({ copied: parts, exported: parts });
  },
  service: (model) => ({
    documents: Object.keys(model.documents).map((name) =>
      ofGenerated(`documents/${name}`, specName(name)),
    ),
  }),
});

/** Codes that follow from other documents, or from one that a handler may write. */
function furtherErrors(models: ReadonlyMap<string, DocumentModel>) {
  const all = [...models.values()];
  const named = new Set(all.flatMap(({ references }) => references.map((one) => one.document)));
  const ofHandlers = [
    ...(all.some((model) => profilesAsked(model).length > 0) ? ["profile_required"] : []),
    ...(all.some(({ overlaps }) => overlaps.length > 0) ? ["overlap_violation"] : []),
    ...(all.some(({ states }) => states !== null) ? ["transition_not_allowed"] : []),
  ];
  const documents = Object.fromEntries(models);
  const undoable = new Set(
    all.filter((model) => isUndoable({ documents }, model)).map(({ name }) => name),
  );
  const ofDeletions = [
    "reference_in_use",
    // A range may count again once who was named is gone.
    ...(all.some(
      ({ overlaps, references }) =>
        overlaps.length > 0 && references.some(({ onDelete }) => onDelete === "set_null"),
    )
      ? ["overlap_violation"]
      : []),
  ];
  return ({ declares, transaction, namespace, name }: OperationModel): readonly string[] => {
    if (declares === "handler") return transaction === "write" ? ofHandlers : [];
    if (name === "restore") return undoable.has(namespace) ? ["restore_refused"] : [];
    return named.has(namespace) && ["delete", "kill"].includes(name) ? ofDeletions : [];
  };
}

function namespaceOf(
  { tree }: FamilyContext,
  { mount, description }: DocumentDeclaration,
  { name, sensitive }: DocumentModel,
  operations: readonly UnmountedOperation[],
): NamespaceExpansion {
  return {
    name,
    what: "a document",
    isBuiltIn: false,
    description: description ?? `Documents: ${name}.`,
    at: tree.keyAt("documents", name),
    operations,
    mount: { path: ["documents", name, "mount"], declared: mount, usual: `/${name}` },
    isSensitive: sensitive,
  };
}
