// Retention of documents: how long revisions and deleted documents are kept.
import { serviceFields } from "../../../../runtime/contract/fields.js";
import type { DocumentDeclaration } from "../format.js";
import { durationSeconds } from "../../../load/quantities.js";
import { isMap } from "../../../load/shape.js";
import { listLayout, literal } from "../../../print/layout.js";
import { propertiesOf } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { RegistryModel } from "../../../model/registry.js";
import type { DocumentModel } from "../../../model/document-model.js";
import type { FamilyContext } from "../../../kernel/family.js";

/** Seconds after which a deleted document goes for good; null if it stays. */
export function deletedForSeconds({ retention }: DocumentDeclaration): number | null {
  return retention?.deleted === undefined ? null : durationSeconds(retention.deleted);
}

/**
 * Reports what is kept for no time or said twice, and what is asked of documents that don't have
 * it.
 */
export function checkHistory(
  { tree, report }: FamilyContext,
  name: string,
  { history, retention = {} }: DocumentDeclaration,
  { softDelete }: Pick<DocumentModel, "softDelete">,
): void {
  const at = (...path: readonly string[]) => ({
    ...tree.at("documents", name, ...path),
    isKey: true,
  });
  const keeps = history !== undefined && history !== false;
  if (retention.deleted !== undefined && !softDelete)
    report({
      code: "OPW009",
      message: `${name} are not marked as deleted, but removed at once: there is no soft_delete`,
      at: at("retention", "deleted"),
      hint: `Add \`soft_delete: true\`, or remove the line from \`retention\`.`,
    });
  if (retention.history !== undefined && !keeps)
    report({
      code: "OPW009",
      message: `${name} have no history`,
      at: at("retention", "history"),
    });
  if (retention.history !== undefined && isMap(history) && history.keep !== undefined)
    report({
      code: "OPW019",
      message: `how many revisions of ${name} are kept is said twice`,
      at: at("retention", "history"),
      related: [{ message: "here too", at: at("history", "keep") }],
    });
}

/**
 * What a spec says of it: of going back, the members that no patch may have, which stay as they
 * are.
 */
export function retentionMembers(
  { typeName, patchTypeName, history, deletedForSeconds: seconds }: DocumentModel,
  { types }: Pick<RegistryModel, "types">,
): readonly string[] {
  // Of documents that only handlers write, all goes back.
  const goesBack = history !== 0 && Object.hasOwn(types, patchTypeName);
  const membersOf = (type: string): readonly string[] =>
    Object.keys(propertiesOf(own(types, type) ?? true));
  const patchable = membersOf(patchTypeName);
  const fixed = membersOf(typeName).filter(
    (member) => !serviceFields.includes(member) && !patchable.includes(member),
  );
  return [
    ...(goesBack && fixed.length > 0
      ? [listLayout("  ", "unpatchable: ", fixed.map(literal), ["[", "]"], ",")]
      : []),
    ...(seconds === null ? [] : [`  deletedForSeconds: ${seconds},`]),
  ];
}
