// The names that tables of documents, their histories and their indexes need in SQL.
import { historyTableName } from "../../../runtime/contract/sql-names.js";
import type { SqlClaim } from "../../kernel/family.js";
import type { SourceTree } from "../../load/source-tree.js";
import type { DocumentModel } from "../../model/document-model.js";
import { conditionText } from "./members/some-values.js";
import { deletedIndexName } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";

export function sqlClaims({ documents }: RegistryModel, tree: SourceTree): readonly SqlClaim[] {
  return Object.values(documents).flatMap((document) => claimsOf(document, tree));
}

function claimsOf(
  { name, table, history, indexes, unique, deletedForSeconds }: DocumentModel,
  tree: SourceTree,
): readonly SqlClaim[] {
  const at = tree.keyAt("documents", name);
  const over =
    (kind: "indexes" | "unique", what: string) =>
    (
      index: {
        readonly name: string;
        readonly fields: readonly string[];
        readonly where?: Readonly<Record<string, readonly unknown[]>>;
      },
      place: number,
    ): SqlClaim => ({
      name: index.name,
      what: `${what} of ${name} over ${index.fields.join(", ")}${conditionText(index.where ?? {})}`,
      at: tree.at("documents", name, kind, place),
      isTable: false,
    });
  const past = { name: historyTableName(table), what: `the history of ${name}`, at, isTable: true };
  const deleted = {
    name: deletedIndexName(table),
    what: `the index of deleted ${name}`,
    at,
    isTable: false,
  };
  return [
    { name: table, what: name, at, isTable: true },
    ...(history === 0 ? [] : [past]),
    ...(deletedForSeconds === null ? [] : [deleted]),
    ...indexes.map(over("indexes", "the index")),
    ...unique.map(over("unique", "the unique rule")),
  ];
}
