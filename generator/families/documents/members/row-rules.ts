// What the rows of a document are held to beside each other, who may see what of them, what is
// personal, and the indexes that they have.
import type { FamilyContext } from "../../../kernel/family.js";
import type { DocumentModel } from "../../../model/document-model.js";
import type { DocumentDeclaration } from "../format.js";
import { declaredIndexes, uniqueOf, withNeeded } from "./indexes.js";
import { keyOf, withKeyRule } from "./keys.js";
import { personalFields } from "./personal.js";
import { statesOf } from "./states.js";
import { overlapsOf } from "./overlaps.js";
import { visibleRules } from "./visible.js";

/** Its unique rules, ranges, hidden and personal fields, and indexes, with those that they need. */
export function rulesOfRows(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  {
    fields,
    canonical,
    references,
    softDelete,
    bodySchema,
    ...values
  }: Pick<
    DocumentModel,
    | "fields"
    | "canonical"
    | "references"
    | "softDelete"
    | "bodySchema"
    | "enums"
    | "defaults"
    | "nullable"
    | "former"
  >,
): Pick<
  DocumentModel,
  "indexes" | "key" | "unique" | "overlaps" | "visible" | "personal" | "states"
> {
  const key = keyOf(context, name, declaration, { ...values, fields, bodySchema });
  const unique = uniqueOf(context, name, declaration, {
    fields,
    canonical,
    softDelete,
  });
  const overlaps = overlapsOf(context, name, declaration, fields, canonical);
  const indexes = declaredIndexes(context, name, declaration, fields);
  return {
    indexes: withNeeded(name, indexes, [
      ...references.flatMap(({ field, many }) => (many === true ? [] : [[field]])),
      ...overlaps.map(({ per, to }) => [...per, to]),
    ]),
    key,
    unique: withKeyRule(context, name, declaration, key, unique),
    overlaps,
    states: statesOf(context, name, declaration, { ...values, bodySchema }),
    visible: visibleRules(context, name, declaration, bodySchema),
    personal: personalFields(context, name, declaration, bodySchema),
  };
}
