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
    for (const [name, declaration] of Object.entries(declarations.search)) {
      if (isJoint(declaration) || lacksMembers(context, name, declaration)) continue;
      const expanded = expandSearch(context, name, declaration, searched);
      if (expanded === undefined) continue;
      models.set(name, expanded.model);
      namespaces.push({
        name,
        what: "a search",
        isBuiltIn: false,
        description: declaration.description ?? `Search over ${expanded.model.document}.`,
        at: tree.keyAt("search", name),
        operations: expanded.operations,
        mount: {
          path: ["search", name, "mount"],
          declared: declaration.mount,
          usual: `/search/${name}`,
        },
        isSensitive: searched.get(expanded.model.document)?.sensitive === true,
      });
    }
    const known = { searches: models, documents: searched };
    for (const [name, declaration] of Object.entries(declarations.search)) {
      if (!isJoint(declaration)) continue;
      const expanded = expandJointSearch(context, name, declaration, known);
      joint.set(name, expanded.model);
      const over = expanded.model.over.map(({ document }) => document);
      namespaces.push({
        name,
        what: "a search",
        isBuiltIn: false,
        description: declaration.description ?? `Search over ${over.join(", ")}.`,
        at: tree.keyAt("search", name),
        operations: [expanded.operation],
        mount: {
          path: ["search", name, "mount"],
          declared: declaration.mount,
          usual: `/search/${name}`,
        },
        isSensitive: over.some((document) => searched.get(document)?.sensitive === true),
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
