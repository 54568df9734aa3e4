// `views:`: members that are shown without the others. Each view has a type of its own.
import { inside } from "../../../diagnostics/diagnostics.js";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { DocumentDeclaration } from "../format.js";
import { isMap } from "../../../load/shape.js";
import type { ToldMembers } from "../../../model/document-model.js";
import { objectSchema, propertiesOf, requiredOf } from "../../../model/json-schema.js";
import { sayVisible } from "./visible.js";
import { viewTypeName } from "../../../model/views.js";

/** The views that a document declares. */
export function viewsOf({ views = {} }: DocumentDeclaration): readonly ToldMembers[] {
  return Object.entries(views).map(([name, view]) => ({
    name,
    members: isMap(view) ? view.fields : view,
  }));
}

/** Puts the types of a document's views into the table. Reports fields that are not there. */
export function addViewTypes(
  { tree, types: { table }, report }: FamilyContext,
  document: string,
  declaration: DocumentDeclaration,
  typeName: string,
): void {
  const whole = table.schemas.get(typeName);
  if (typeof whole !== "object") return;
  const properties = propertiesOf(whole);
  for (const { name, members } of viewsOf(declaration)) {
    const at = tree.at("documents", document, "views", name);
    const list = isMap(declaration.views?.[name]) ? inside(at, "fields") : at;
    for (const [index, member] of members.entries())
      if (!Object.hasOwn(properties, member))
        report({
          code: "OPW030",
          message: `${typeName} has no field ${member}`,
          at: inside(list, index),
          suggestion: didYouMean(member, Object.keys(properties)),
        });
    const told = members.map((member) => [member, properties[member] ?? true] as const);
    const required = requiredOf(whole).filter((member) => members.includes(member));
    const schema = objectSchema(Object.fromEntries(told), required);
    table.addTo(document, viewTypeName(document, name), sayVisible(declaration, schema), at);
  }
}
