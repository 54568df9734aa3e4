// What a service's migrations add up to, kept in migrations/storage.json: tables, indexes, members
// with defaults.
import { isDeepStrictEqual } from "node:util";
import { fitsOf, narrowings, type Narrowing } from "../kernel/row-fits.js";
import {
  indexOfSearch,
  searchIndexes,
  searchLayout,
  type IndexGiver,
} from "../model/search-indexes.js";
import { filesOf, otherEncryption, placeOf } from "../model/stored-files.js";
import { formOf } from "../kernel/told-form.js";
import { shapeAfter } from "./shape-history.js";
import { systemStepsOf } from "./system-tables.js";
import { tableIndexes, uniqueIndex } from "./table-indexes.js";
import { firstShape, type Shape } from "../../runtime/contract/shapes.js";
import { asStored, declaredName, storedName } from "../../runtime/contract/stored-members.js";
import { requiredOf, type JsonSchema } from "../model/json-schema.js";
import { mapRecord, own } from "../model/records.js";
import type { DocumentModel } from "../model/document-model.js";
import type { RegistryModel } from "../model/registry.js";
import type { DatabaseSchema, IndexSchema, Stored, TableSchema } from "../model/stored-tables.js";

export const emptyDatabase: DatabaseSchema = { tables: {}, system: [] };

/** The path of a database's description, below the generated folder. */
export const databasePath = "migrations/storage.json";

/** Matches paths of migrations, relative to the generated folder. */
export const migrationPath = /^migrations\/\w+\/\d{4}_\w+\.sql$/;

/**
 * Whether a path is that of a migration, or of the description of the database that they lead to.
 */
export function isOfMigrations(path: string): boolean {
  return path === databasePath || migrationPath.test(path);
}

/**
 * The database that a registry needs, given the existing one. Tables that are no longer declared
 * stay, so that one that comes back isn't created twice, unless `purges` is true.
 */
export function databaseOf(
  model: RegistryModel,
  before: DatabaseSchema,
  purges = false,
): DatabaseSchema {
  const giveIndexes = searchIndexes(before, purges);
  const declared = Object.values(model.documents).map((document): [string, TableSchema] => [
    document.table,
    tableOf(document, model, own(before.tables, document.table), { giveIndexes, purges }),
  ]);
  const names = new Set(declared.map(([table]) => table));
  const others = Object.entries(before.tables).filter(([table]) => !names.has(table));
  const kept = others.map(([table, schema]): [string, TableSchema] => [
    table,
    { ...schema, ...giveIndexes([], schema.shape ?? firstShape, schema) },
  ]);
  return {
    tables: Object.fromEntries(
      [...declared, ...(purges ? [] : kept)].sort(([left], [right]) => (left < right ? -1 : 1)),
    ),
    system: [...new Set([...before.system, ...systemStepsOf(model)])].sort(),
    searchLayout,
    ...filesOf(Object.values(model.storage), before.files),
  };
}

function tableOf(
  document: DocumentModel,
  { search: searches, types }: RegistryModel,
  before: TableSchema | undefined,
  { giveIndexes, purges }: { readonly giveIndexes: IndexGiver; readonly purges: boolean },
): TableSchema {
  const resolve = (type: string): JsonSchema | undefined => own(types, type);
  const shape = shapeAfter(before, document, resolve);
  const searching = Object.values(searches).filter((search) => search.document === document.name);
  return {
    tenant: document.tenant,
    history: document.history !== 0 || before?.history === true,
    ...(document.history === 0 && before?.historyTells !== true ? {} : { historyTells: true }),
    softDelete: document.softDelete,
    ...(!document.softDelete && (before?.softDelete === true || before?.hadSoftDelete === true)
      ? { hadSoftDelete: true }
      : {}),
    ...(document.name === document.table ? {} : { document: document.name }),
    indexes: tableIndexes(document, shape, before, purges),
    members: asStored(shape, document.defaults),
    told: formOf(document, resolve, before?.told),
    required: requiredOf(document.bodySchema).map((member) => storedName(shape, member)),
    shape,
    fits: { ...keptFits(shape, before), ...fitsOf(document, resolve) },
    ...giveIndexes(searching, shape, before),
  };
}

/** What is known of members that rows keep for the version before: nobody else says it any more. */
function keptFits(shape: Shape, { fits = {} }: Partial<TableSchema> = {}): TableSchema["fits"] {
  const { kept = {} } = shape;
  return Object.fromEntries(
    Object.entries(fits).filter(([member]) => Object.hasOwn(kept, storedName(shape, member))),
  );
}

/** What generated code knows of what is stored. */
export function storedOf(model: RegistryModel, database: DatabaseSchema): Stored {
  return {
    tables: storedTables(model, database),
    searches: mapRecord(model.search, ({ name, document }) =>
      indexOfSearch(own(database.tables, own(model.documents, document)?.table ?? document), name),
    ),
    files: mapRecord(model.storage, (storage) => ({
      place: placeOf(storage, database.files),
      alsoReads: otherEncryption(storage, database.files),
    })),
  };
}

function storedTables({ documents }: RegistryModel, { tables }: DatabaseSchema): Stored["tables"] {
  return Object.fromEntries(
    Object.values(documents).map((document) => {
      const { shape = firstShape, indexes = {} } = own(tables, document.table) ?? {};
      const uniques = document.unique.map((rule) => {
        const index = uniqueIndex(document, shape, rule);
        const name = Object.keys(indexes).find((one) => isDeepStrictEqual(indexes[one], index));
        const where = Object.keys(rule.where ?? {});
        return {
          index: name ?? rule.name,
          members: rule.fields,
          ...(where.length === 0 ? {} : { where }),
        };
      });
      // Rules that are kept for the version before hold for this one as well.
      const known = new Set(uniques.map(({ index }) => index));
      const kept = Object.entries(indexes)
        .filter(([name, { unique }]) => unique !== undefined && !known.has(name))
        .map(([index, { fields, unique }]) => ({
          index,
          members: fields.map(({ path }) => declaredName(shape, path)),
          ...(unique?.where === undefined
            ? {}
            : { where: unique.where.map(({ field }) => declaredName(shape, field.path)) }),
        }));
      const { told: { form = 1 } = {}, hadSoftDelete } = own(tables, document.table) ?? {};
      const hides = hadSoftDelete === undefined ? {} : { hidesDeleted: hadSoftDelete };
      return [document.table, { shape, form, ...hides, uniques: [...uniques, ...kept] }];
    }),
  );
}

/**
 * One step from one database to the next. No table with rows is dropped unless somebody asks for
 * it.
 */
export type DatabaseChange =
  | {
      /** The table that the step is about, and the step's own name. */
      readonly kind: "systemStep";
      readonly table: string;
      readonly step: string;
    }
  | { readonly kind: "createTable"; readonly table: string; readonly schema: TableSchema }
  | { readonly kind: "createHistory"; readonly table: string; readonly tenant: boolean }
  /** Adds columns for when and by whom to a history that an earlier version made. */
  | { readonly kind: "extendHistory"; readonly table: string }
  | {
      readonly kind: "createIndex";
      readonly table: string;
      readonly name: string;
      readonly tenant: boolean;
      readonly index: IndexSchema;
      /** Whether the table exists already, and may have rows and callers. */
      readonly isOnline: boolean;
    }
  | {
      readonly kind: "createSearch";
      readonly table: string;
      readonly name: string;
      readonly tenant: boolean;
      readonly texts: number;
      readonly hasStems: boolean;
    }
  | { readonly kind: "dropSearch"; readonly table: string; readonly name: string }
  | { readonly kind: "dropIndex"; readonly table: string; readonly name: string }
  | { readonly kind: "dropTable"; readonly table: string; readonly history: boolean }
  /** Refuses the migration if rows are marked as deleted, because they would reappear. */
  | { readonly kind: "checkDeleted"; readonly table: string }
  /** Refuses the migration if rows don't fit. */
  | { readonly kind: "checkRows"; readonly table: string; readonly narrowing: Narrowing }
  /** Adds the shape number to a table that an earlier version made. */
  | { readonly kind: "addShape"; readonly table: string; readonly history: boolean };

/**
 * The steps from `before` to `after`: opwright's own tables, dropped searches, tables of documents,
 * dropped tables.
 */
export function databaseChanges(
  before: DatabaseSchema,
  after: DatabaseSchema,
): readonly DatabaseChange[] {
  const system = after.system
    .filter((step) => !before.system.includes(step))
    .map((step): DatabaseChange => ({
      kind: "systemStep",
      table: step.split(".", 1)[0] ?? "",
      step,
    }));
  const tables = Object.entries(after.tables).flatMap(([table, schema]) => {
    const known = own(before.tables, table);
    return known === undefined ? newTable(table, schema) : changedTable(table, known, schema);
  });
  const purged = Object.entries(before.tables)
    .filter(([table]) => own(after.tables, table) === undefined)
    .map(([table, { history }]): DatabaseChange => ({ kind: "dropTable", table, history }));
  return [...system, ...droppedSearches(before, after), ...tables, ...purged];
}

function newTable(table: string, schema: TableSchema): readonly DatabaseChange[] {
  return [
    { kind: "createTable", table, schema },
    ...(schema.history ? [{ kind: "createHistory", table, tenant: schema.tenant } as const] : []),
    ...indexSteps(table, {}, schema, false),
    ...searchSteps(table, undefined, schema),
  ];
}

function changedTable(
  table: string,
  before: TableSchema,
  after: TableSchema,
): readonly DatabaseChange[] {
  return [
    ...(before.shape === undefined && after.shape !== undefined
      ? [{ kind: "addShape", table, history: before.history } as const]
      : []),
    ...(after.history && !before.history
      ? [{ kind: "createHistory", table, tenant: after.tenant } as const]
      : []),
    ...(after.historyTells === true && before.history && before.historyTells !== true
      ? [{ kind: "extendHistory", table } as const]
      : []),
    ...checkSteps(table, before, after),
    ...(before.softDelete === true && after.softDelete === false
      ? [{ kind: "checkDeleted", table } as const]
      : []),
    ...indexSteps(table, before.indexes, after, true),
    ...searchSteps(table, before, after),
  ];
}

/** Checks for members that accept fewer values than before. */
function checkSteps(
  table: string,
  { fits: known = {}, shape: before }: TableSchema,
  { fits = {}, shape = firstShape }: TableSchema,
): readonly DatabaseChange[] {
  const called = new Map(
    Object.keys(known).map((member) => [storedName(before ?? firstShape, member), member]),
  );
  const wasCalled = (member: string): string => called.get(storedName(shape, member)) ?? "";
  return narrowings(known, fits, shape, wasCalled).map((narrowing): DatabaseChange => ({
    kind: "checkRows",
    table,
    narrowing,
  }));
}

function indexSteps(
  table: string,
  before: Readonly<Record<string, IndexSchema>>,
  { indexes, tenant }: TableSchema,
  isOnline: boolean,
): readonly DatabaseChange[] {
  const isSame = (name: string): boolean =>
    JSON.stringify(own(before, name)) === JSON.stringify(own(indexes, name));
  const dropped = Object.keys(before).filter((name) => !isSame(name));
  const created = Object.keys(indexes).filter((name) => !isSame(name));
  const dropping = (name: string): DatabaseChange => ({ kind: "dropIndex", table, name });
  // An index that goes for good is dropped last, so that its rule holds until its replacement
  // exists.
  const [first, last] = [true, false].map((isAnew) =>
    dropped.filter((name) => created.includes(name) === isAnew).map(dropping),
  );
  return [
    ...(first ?? []),
    ...created.map((name): DatabaseChange => ({
      kind: "createIndex",
      table,
      name,
      tenant,
      index: indexes[name] ?? { fields: [] },
      isOnline,
    })),
    ...(last ?? []),
  ];
}

/** A new search index starts empty: `server.js search-rebuild` fills it. */
function searchSteps(
  table: string,
  before: TableSchema | undefined,
  after: TableSchema,
): readonly DatabaseChange[] {
  return Object.entries(after.searches)
    .filter(([name]) => own(before?.searches ?? {}, name) === undefined)
    .map(([name, texts]): DatabaseChange => ({
      kind: "createSearch",
      table,
      name,
      tenant: after.tenant,
      texts: texts.length,
      hasStems: own(after.languages ?? {}, name) !== undefined,
    }));
}

/**
 * Search indexes that are purged, those of removed tables included. Dropped before any is created.
 */
function droppedSearches(before: DatabaseSchema, after: DatabaseSchema): readonly DatabaseChange[] {
  return Object.entries(before.tables).flatMap(([table, { searches }]) =>
    Object.keys(searches)
      .filter((name) => own(own(after.tables, table)?.searches ?? {}, name) === undefined)
      .map((name): DatabaseChange => ({ kind: "dropSearch", table, name })),
  );
}
