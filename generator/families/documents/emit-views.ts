// How documents are read, as their modules print it: readers that come by way of others, and
// views.
import type { DocumentModel, ReadModel, ViewModel } from "../../model/document-model.js";
import { specName } from "../../model/names.js";
import { readName, applyView } from "../../model/views.js";
import { listLayout, literal } from "../../print/layout.js";
import type { ModuleScope } from "../../print/module-scope.js";
import { scopesMember } from "./scopes.js";
import { readTypes, typesLayout } from "./carried-types.js";

/**
 * Readers that come by way of other documents. Computed when it is needed: guards may know
 * documents.
 */
export function readingMember({ reading }: ReadModel, scope: ModuleScope): readonly string[] {
  if (reading === null) return [];
  const steps = reading.map((step) => scope.code(step));
  return [listLayout("  ", "reading: () => ", steps, ["[", "]"], ",")];
}

/**
 * The spec of a view, made of that of the documents; `annotation` is the type of a spec whose types
 * can't be inferred, null where they can.
 */
export function viewLines(
  document: DocumentModel,
  view: ViewModel,
  scope: ModuleScope,
  annotation: string | null,
): readonly string[] {
  const { name, members } = view;
  const of = specName(document.name);
  const spec = specName(readName(document.name, name));
  const types = readTypes(applyView(document, view));
  const maker = scope.runtime("view");
  const open =
    annotation === null
      ? typesLayout(`export const ${spec} = ${maker}`, types, `(${of}, {`)
      : typesLayout(
          `export const ${spec}: ${annotation}`,
          { ...types, create: "never", patch: "never" },
          ` = ${maker}(${of}, {`,
        );
  return [
    open,
    `  name: ${literal(name)},`,
    listLayout("  ", "members: ", members.map(literal), ["[", "]"], ","),
    ...readingMember(view, scope),
    ...scopesMember(view, scope),
    "});",
  ];
}
