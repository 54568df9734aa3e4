// The documents family: a declaration becomes a table with its types, and up to eleven operations.
import type { DocumentDeclaration } from "../../load/declarations.js";
import { ofGenerated } from "../../model/code.js";
import { specName } from "../../model/names.js";
import { sortedRecord } from "../../model/records.js";
import type { DocumentModel } from "../../model/document-model.js";
import {
  expansion,
  family,
  type FamilyContext,
  type NamespaceExpansion,
} from "../../kernel/family.js";
import { bodyPlans } from "./body-validators.js";
import { compare } from "./compare.js";
import { derivedTypes } from "./derived.js";
import { emitDocuments } from "./emit.js";
import { expandDocument, type ExpandedDocument } from "./expand.js";
import { format } from "./format.js";
import { checkReferences } from "./references.js";
import { readDocumentTypes } from "./types.js";

/** Documents by name, for families that are about documents. */
export const documents = family<ReadonlyMap<string, DocumentModel>>({
  name: "documents",
  format,
  expand(context) {
    const models = new Map<string, DocumentModel>();
    const namespaces: NamespaceExpansion[] = [];
    for (const [name, { declaration, type }] of readDocumentTypes(context)) {
      const expanded = expandDocument(context, name, declaration, type);
      models.set(name, expanded.model);
      namespaces.push(namespaceOf(context, declaration, expanded));
    }
    checkReferences(context, Object.fromEntries(models));
    const named = new Set(
      [...models.values()].flatMap(({ references }) => references.map(({ document }) => document)),
    );
    return expansion(models, {
      namespaces,
      boundaryErrors: ({ family: of, namespace, name }) =>
        of === "documents" && named.has(namespace) && ["delete", "kill"].includes(name)
          ? ["reference_in_use"]
          : [],
      frozen: () => ({ documents: sortedRecord(models) }),
    });
  },
  compare,
  derived: derivedTypes,
  emit: emitDocuments,
  validators: bodyPlans,
  service: (model) => ({
    documents: Object.keys(model.documents).map((name) =>
      ofGenerated(`documents/${name}`, specName(name)),
    ),
  }),
});

function namespaceOf(
  { tree }: FamilyContext,
  { mount, description }: DocumentDeclaration,
  { model: { name, sensitive }, operations }: ExpandedDocument,
): NamespaceExpansion {
  return {
    name,
    what: "a document",
    description: description ?? `Documents: ${name}.`,
    at: tree.keyAt("documents", name),
    operations,
    mount: { path: ["documents", name, "mount"], declared: mount, usual: `/${name}` },
    isSensitive: sensitive,
  };
}
