// Rules over tables, indexes and what migrations can follow.
import type { FieldType } from "../../runtime/contract/fields.js";
import { storageOf, type TableSchema } from "../emit/storage-schema.js";
import { indexName } from "../model/names.js";
import { own } from "../model/records.js";
import type { RuleContext } from "./rule-context.js";

/** PostgreSQL cuts longer names off, and then two can be one. */
const maxNameBytes = 63;

/** Tables, history tables and indexes share one name space; some names belong to the engines. */
export function sqlNamesDiffer({ loaded, expanded, report }: RuleContext): void {
  const owners = new Map<string, string>();
  for (const document of Object.values(expanded.model.documents)) {
    const history = document.history === 0 ? [] : [`${document.table}_history`];
    const names = [document.table, ...history, ...document.indexes.map(({ name }) => name)];
    for (const name of names) {
      const at = loaded.tree.keyAt("documents", document.name);
      const owner = owners.get(name);
      const fault =
        owner !== undefined
          ? `needs the name ${name} in SQL, which ${owner} has`
          : /^(?:sqlite_|opwright_|pg_)/.test(name)
            ? `needs the name ${name} in SQL, which is reserved`
            : Buffer.byteLength(name) > maxNameBytes
              ? `needs the name ${name} in SQL, which is longer than ${maxNameBytes} bytes`
              : undefined;
      if (fault !== undefined) report({ code: "OPW036", message: `${document.name} ${fault}`, at });
      owners.set(name, document.name);
    }
  }
  for (const search of Object.values(expanded.model.searches)) {
    const name = indexName(search.name);
    const owner = owners.get(name);
    const at = loaded.tree.keyAt("search", search.name);
    const message = `${search.name} needs the name ${name} in SQL, which ${owner ?? ""} has`;
    if (owner !== undefined) report({ code: "OPW036", message, at });
  }
}

/** What a table was made with must still hold, or a migration would fail on the rows that are there. */
export function storageCanFollow(context: RuleContext): void {
  const { loaded, expanded, storage, report } = context;
  for (const [table, after] of Object.entries(storageOf(expanded.model).tables)) {
    const before = own(storage.tables, table);
    if (before === undefined) continue;
    for (const message of storageFaults(table, before, after)) {
      report({ code: "OPW035", message, at: loaded.tree.keyAt("documents", table) });
    }
  }
}

function storageFaults(table: string, before: TableSchema, after: TableSchema): readonly string[] {
  const tenant =
    before.tenant === after.tenant
      ? []
      : [
          `${table} was ${before.tenant ? "partitioned by tenant" : "global"} when its table was made`,
        ];
  const indexed = Object.entries(indexedTypes(after)).flatMap(([field, type]) => {
    const old = own(indexedTypes(before), field);
    const isSame = old === undefined || comparesAs(old) === comparesAs(type);
    return isSame
      ? []
      : [`${table} has an index over ${field}, which was ${old} and is now ${type}`];
  });
  const required = after.required
    .filter((field) => !before.required.includes(field) && !Object.hasOwn(after.members, field))
    .filter((field) => !Object.hasOwn(before.members, field))
    .map(
      (field) =>
        `documents of ${table} that are stored already have no ${field}; give it a default or make it nullable`,
    );
  return [...tenant, ...indexed, ...required];
}

function indexedTypes({ indexes }: TableSchema): Readonly<Record<string, FieldType>> {
  const fields = Object.values(indexes).flatMap((index) => index.fields);
  return Object.fromEntries(fields.map(({ path, type }) => [path, type]));
}

function comparesAs(type: FieldType): string {
  return type === "integer" || type === "number"
    ? "number"
    : type === "boolean"
      ? "boolean"
      : "text";
}
