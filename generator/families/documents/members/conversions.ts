// Functions that compute fields of documents from their former values (`from`).
import type { Mention } from "../../../kernel/rule.js";
import { documentMemberAt } from "../../../load/member-places.js";
import type { SourceTree } from "../../../load/source-tree.js";
import { functionReference } from "../../../model/code.js";
import type { RegistryModel } from "../../../model/registry.js";

export function conversions({ documents }: RegistryModel, tree: SourceTree): readonly Mention[] {
  return Object.values(documents).flatMap(({ name, former }) =>
    Object.entries(former).flatMap(([field, { by }]) =>
      by === null
        ? []
        : [
            {
              reference: functionReference(by),
              at: documentMemberAt(tree, name, field),
              what: "value",
            },
          ],
    ),
  );
}
