// The defaults of documents, declared ones and those of their types' schemas.
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import { inside } from "../../../diagnostics/diagnostics.js";
import { documentMemberAt } from "../../../load/member-places.js";
import { writtenSchema } from "../../../kernel/written-later.js";
import { propertiesOf } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";

export function documentDefaults({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  const { tree, declarations } = loaded;
  return Object.values(expanded.model.documents).flatMap((document) => {
    const declared = declarations.documents[document.name]?.defaults ?? {};
    const fields = propertiesOf(document.bodySchema);
    return Object.entries(document.defaults).flatMap(([member, value]) => {
      const schema = own(fields, member);
      if (schema === undefined) return [];
      const at = Object.hasOwn(declared, member)
        ? tree.at("documents", document.name, "defaults", member)
        : inside(documentMemberAt(tree, document.name, member), "default");
      const written = writtenSchema(schema, (name) => expanded.types.table.schemas.get(name));
      return [{ member, schema: written, value, at }];
    });
  });
}
