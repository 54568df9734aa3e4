// The storage family: files under one set of rules, with up to nineteen operations.
import { sortedRecord } from "../../model/records.js";
import { ofGenerated } from "../../model/code.js";
import { specName } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import type { StorageModel } from "./model.js";
import { clientParts, expansion, family, type NamespaceExpansion } from "../../kernel/family.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { emitStorages } from "./emit.js";
import { expandStorage } from "./expand.js";
import { format } from "./format.js";
import { models } from "./model.js";
import { formerStoragesExist } from "./renames.js";
import { quarantineTable, tables } from "./tables.js";

const scans = ({ storage: storages }: RegistryModel): boolean =>
  Object.values(storages).some(({ scan }) => scan !== null);

export const storage = family({
  name: "storage",
  format,
  models,
  expand(context) {
    const { declarations, tree } = context;
    const models = new Map<string, StorageModel>();
    const namespaces: NamespaceExpansion[] = [];
    for (const [name, declaration] of Object.entries(declarations.storage)) {
      const expanded = expandStorage(context, name, declaration);
      models.set(name, expanded.model);
      namespaces.push({
        name,
        what: "a storage",
        isBuiltIn: false,
        description: declaration.description ?? `The files in the storage ${name}.`,
        at: tree.keyAt("storage", name),
        operations: expanded.operations,
        mount: { path: ["storage", name, "mount"], declared: declaration.mount, usual: `/${name}` },
        isSensitive: declaration.sensitive ?? false,
      });
    }
    return expansion(models, {
      namespaces,
      frozen: () => ({ storage: sortedRecord(models) }),
    });
  },
  compare,
  rollout,
  rules: [formerStoragesExist],
  emit: emitStorages,
  client: ({ storage: storages, operations }) => {
    const isResumable = Object.keys(storages).some((name) =>
      Object.hasOwn(operations, `${name}.begin_upload`),
    );
    const parts = isResumable ? ["upload"] : [];
    return clientParts({ copied: parts, exported: parts });
  },
  tables: [
    { areNeeded: (model) => Object.keys(model.storage).length > 0, steps: tables },
    { areNeeded: scans, steps: quarantineTable },
  ],
  service: ({ storage: storages }) => ({
    storage: Object.keys(storages).map((name) => ofGenerated(`storage/${name}`, specName(name))),
  }),
});
