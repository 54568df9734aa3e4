// Rules over tables, indexes and what migrations can follow.
import type { FieldType } from "../../runtime/contract/fields.js";
import type { Origin } from "../diagnostics.js";
import { conversionsIn } from "../../runtime/contract/shapes.js";
import { storedMembers } from "../emit/shape-history.js";
import { storageOf, type TableSchema } from "../emit/storage-schema.js";
import { indexName } from "../model/names.js";
import { own } from "../model/records.js";
import type { RuleContext } from "./rule-context.js";

/** PostgreSQL truncates longer names, so that two could become one. */
const maxNameBytes = 63;

/** Tables, history tables and indexes share one name space; some names belong to the engines. */
export function sqlNamesDiffer({ loaded, expanded, report }: RuleContext): void {
  const owners = new Map<string, string>();
  const claim = (owner: string, names: readonly string[], at: Origin): void => {
    for (const name of names) {
      const fault = nameFault(name, owners.get(name));
      if (fault !== undefined)
        report({ code: "OPW036", message: `${owner} needs the name ${name} in SQL, ${fault}`, at });
      owners.set(name, owner);
    }
  };
  for (const { name, table, history, indexes, unique } of Object.values(expanded.model.documents)) {
    const further = history === 0 ? [] : [`${table}_history`];
    const names = [table, ...further, ...[...indexes, ...unique].map((index) => index.name)];
    claim(name, names, loaded.tree.keyAt("documents", name));
  }
  for (const { name } of Object.values(expanded.model.searches)) {
    const names = searchSuffixes.map((suffix) => `${indexName(name)}${suffix}`);
    claim(name, names, loaded.tree.keyAt("search", name));
  }
}

/** The tables of a search's index, including those that FTS5 creates itself. */
const searchSuffixes = [
  "",
  "_by_texts",
  "_words",
  "_words_by_word",
  "_words_by_trigrams",
  "_data",
  "_idx",
  "_content",
  "_docsize",
  "_config",
];

function nameFault(name: string, owner: string | undefined): string | undefined {
  if (owner !== undefined) return `which ${owner} has`;
  if (/^(?:sqlite_|opwright_|pg_)/.test(name)) return "which is reserved";
  return Buffer.byteLength(name) > maxNameBytes
    ? `which is longer than ${maxNameBytes} bytes`
    : undefined;
}

/** What a table was created with must still be so, or a migration would fail on stored rows. */
export function storageCanFollow(context: RuleContext): void {
  const { loaded, expanded, storage, report } = context;
  const { tables } = storageOf(expanded.model, storage);
  for (const { name, table } of Object.values(expanded.model.documents)) {
    const [before, after] = [own(storage.tables, table), own(tables, table)];
    if (before === undefined || after === undefined) continue;
    for (const message of storageFaults(name, before, after)) {
      report({ code: "OPW035", message, at: loaded.tree.keyAt("documents", name) });
    }
  }
}

function storageFaults(
  document: string,
  before: TableSchema,
  after: TableSchema,
): readonly string[] {
  const tenant =
    before.tenant === after.tenant
      ? []
      : [
          `${document} was ${before.tenant ? "partitioned by tenant" : "global"} when its table was made`,
        ];
  const indexed = Object.entries(indexedTypes(after)).flatMap(([field, type]) => {
    const old = own(indexedTypes(before), field);
    const isSame = old === undefined || comparesAs(old) === comparesAs(type);
    return isSame
      ? []
      : [`${document} has an index over ${field}, which was ${old} and is now ${type}`];
  });
  const stored = new Set([
    ...storedMembers(before),
    ...Object.keys(after.shape === undefined ? {} : conversionsIn(after.shape)),
  ]);
  const required = after.required
    .filter((field) => !stored.has(field) && !Object.hasOwn(after.members, field))
    .map(
      (field) =>
        `documents of ${document} that are stored already have no ${field}; give it a default or make it nullable`,
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
