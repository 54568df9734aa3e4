// References between documents: what each names, and who names it.
import { referenceOf } from "../../../load/document-references.js";
import { documentMemberAt } from "../../../load/member-places.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { JsonSchema, SchemaObject } from "../../../model/json-schema.js";
import type { DocumentModel, ReferenceModel } from "../../../model/document-model.js";
import type { RegistryModel } from "../../../model/registry.js";
import type { Resolve } from "../../../kernel/resolve.js";
import { nestedMembers } from "./fields.js";

/** The references among the members of a document. */
export function referencesOf(
  properties: Readonly<Record<string, JsonSchema>>,
): readonly ReferenceModel[] {
  return Object.entries(properties).flatMap(([field, schema]) => {
    const reference = referenceOf(schema);
    return reference === null ? [] : [{ field, ...reference }];
  });
}

/** Who names documents of a name. */
export function referrersOf(
  { documents }: Pick<RegistryModel, "documents">,
  name: string,
): readonly (ReferenceModel & { readonly by: DocumentModel })[] {
  return Object.values(documents).flatMap((by) =>
    by.references
      .filter(({ document }) => document === name)
      .map((reference) => ({ ...reference, by })),
  );
}

/** Whether deleting a document of a model may change others, which its restore undoes. */
export function isUndoable(
  model: Pick<RegistryModel, "documents">,
  { name, softDelete }: DocumentModel,
): boolean {
  return softDelete && referrersOf(model, name).length > 0;
}

/** References that stand within objects and lists are not kept. */
export function refuseNestedReferences(
  { tree, report }: FamilyContext,
  document: string,
  body: SchemaObject,
  resolve: Resolve,
): void {
  for (const { path, schema } of nestedMembers(body, resolve))
    if (referenceOf(schema) !== null)
      report({
        code: "OPW029",
        message: `${document}.${path} cannot name a document: only members of the document itself can`,
        at: documentMemberAt(tree, document, path),
      });
}

/**
 * Reports references that could not be kept: across tenants, and deletions that the other document
 * does not know.
 */
export function checkReferences(
  { tree, report }: FamilyContext,
  documents: Readonly<Record<string, DocumentModel>>,
): void {
  for (const { name, tenant, softDelete, references } of Object.values(documents))
    for (const { field, document, view, onDelete } of references) {
      const target = documents[document];
      if (target === undefined) continue;
      const faults = [
        ...(view === undefined || target.views.some((one) => one.name === view)
          ? []
          : [`${document} have no view ${view}`]),
        ...(target.tenant === tenant
          ? []
          : [`${name}.${field} names one of the ${document}: both are of tenants, or neither`]),
        ...(onDelete === "cascade" && target.softDelete && !softDelete
          ? [
              `${document} are marked as deleted, which ${name} cannot be: give them soft_delete, or another on_delete`,
            ]
          : []),
      ];
      for (const message of faults)
        report({ code: "OPW029", message, at: documentMemberAt(tree, name, field) });
    }
}
