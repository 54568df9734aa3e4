// The search family: a search over a document, with four operations.
import { sortedRecord } from "../../model/records.js";
import { ofGenerated } from "../../model/code.js";
import { specName } from "../../model/names.js";
import type { JointSearchModel, SearchModel } from "./model.js";
import { expansion, family, type NamespaceExpansion } from "../../kernel/family.js";
import { documents } from "../documents/index.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { emitSearches } from "./emit.js";
import { expandSearch, lacksMembers } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format, isJoint } from "./format.js";
import { expandJointSearch } from "./joint.js";
import { models } from "./model.js";
import { formerSearchesExist } from "./renames.js";
import { sqlClaims } from "./sql-names.js";

export const search = family({
  name: "search",
  format,
  diagnostics,
  models,
  after: [documents],
  expand(context) {
    const { declarations, tree } = context;
    const models = new Map<string, SearchModel>();
    const namespaces: NamespaceExpansion[] = [];
    const searched = context.of(documents);
    const joint = new Map<string, JointSearchModel>();
    const placeOf = (
      name: string,
      { description, mount: declared }: (typeof declarations.search)[string],
      over: string,
    ) => ({
      name,
      what: "a search",
      isBuiltIn: false,
      description: description ?? `Search over ${over}.`,
      at: tree.keyAt("search", name),
      mount: { path: ["search", name, "mount"], declared, usual: `/search/${name}` } as const,
    });
    for (const [name, declaration] of Object.entries(declarations.search)) {
      if (isJoint(declaration) || lacksMembers(context, name, declaration)) continue;
      const expanded = expandSearch(context, name, declaration, searched);
      if (expanded === undefined) continue;
      models.set(name, expanded.model);
      namespaces.push({
        ...placeOf(name, declaration, expanded.model.document),
        operations: expanded.operations,
        isSensitive: searched.get(expanded.model.document)?.sensitive === true,
      });
    }
    const known = { searches: models, documents: searched };
    for (const [name, declaration] of Object.entries(declarations.search)) {
      if (!isJoint(declaration)) continue;
      const expanded = expandJointSearch(context, name, declaration, known);
      joint.set(name, expanded.model);
      const over = expanded.model.over.map(({ document }) => document).join(", ");
      namespaces.push({
        ...placeOf(name, declaration, over),
        operations: [expanded.operation],
        // Sensitive documents can't be among them.
        isSensitive: false,
      });
    }
    return expansion(models, {
      namespaces,
      frozen: () => ({ search: sortedRecord(models), jointSearches: sortedRecord(joint) }),
    });
  },
  compare,
  rollout,
  rules: [formerSearchesExist],
  claims: sqlClaims,
  emit: emitSearches,
  service: ({ search: searches }) => ({
    search: Object.keys(searches).map((name) => ofGenerated(`search/${name}`, specName(name))),
  }),
});
