// The indexes of a document's table: which ones there should be, and what they are called.
import { isDeepStrictEqual } from "node:util";
import { indexableColumns } from "../../runtime/contract/fields.js";
import { firstShape, type Shape } from "../../runtime/contract/shapes.js";
import { derivedSqlName } from "../../runtime/contract/sql-names.js";
import { storedField, storedName } from "../../runtime/contract/stored-members.js";
import type { DocumentModel, UniqueModel } from "../model/document-model.js";
import { deletedIndexName, numberedName } from "../model/names.js";
import { own } from "../model/records.js";
import type { IndexedValues, IndexSchema, TableSchema } from "../model/stored-tables.js";

/** Indexes by name. */
type Indexes = Readonly<Record<string, IndexSchema>>;

/**
 * The indexes of a table. An existing index over the same stored fields keeps its name, even if
 * fields are renamed. A unique one that no rule asks for any more stays until it is purged, or a
 * field of it comes back that was gone: the version before promises that it holds.
 */
export function tableIndexes(
  document: DocumentModel,
  shape: Shape,
  table: Pick<TableSchema, "indexes" | "fits" | "shape"> | undefined,
  purges: boolean,
): Indexes {
  const before = table?.indexes ?? {};
  const declared = declaredIndexes(document, shape, before);
  const there = new Set(
    Object.keys(document.fields).map((field) => storedField(shape, field).path),
  );
  // Without the field that decides it, a rule would be about other documents than it promised.
  const isDecided = ({ unique }: IndexSchema): boolean =>
    (unique?.where ?? []).every(({ field }) => there.has(field.path));
  const isBack = fieldsBack(there, table);
  const kept = purges
    ? []
    : Object.entries(before).filter(
        ([name, index]) =>
          !Object.hasOwn(declared, name) &&
          index.unique !== undefined &&
          isDecided(index) &&
          !index.fields.some(isBack) &&
          !Object.values(declared).some((other) => isAsStrict(other, index)),
      );
  return { ...declared, ...Object.fromEntries(kept) };
}

/**
 * Whether a field of an index is one of those that are declared now and were not in the version
 * before: it is another field then, by the same name.
 */
function fieldsBack(
  there: ReadonlySet<string>,
  table: Pick<TableSchema, "fits" | "shape"> | undefined,
): (field: IndexSchema["fields"][number]) => boolean {
  const { fits, shape = firstShape } = table ?? {};
  // Schemas of earlier versions don't say.
  if (fits === undefined) return () => false;
  const kept = shape.kept ?? {};
  const declared = Object.keys(fits).map((member) => storedName(shape, member));
  const before = new Set(declared.filter((name) => !Object.hasOwn(kept, name)));
  return ({ path, isColumn }) =>
    isColumn !== true && there.has(path) && !before.has(path.split(".")[0] ?? path);
}

/**
 * Whether an index refuses all that another one does: of the same fields, in as many tenants and
 * among as many rows.
 */
function isAsStrict({ unique: rule, fields }: IndexSchema, other: IndexSchema): boolean {
  if (rule === undefined || other.unique === undefined) return false;
  const places = (of: IndexSchema["fields"]): readonly string[] => of.map(({ path }) => path);
  return (
    isDeepStrictEqual(places(fields), places(other.fields)) &&
    (rule.isGlobal || !other.unique.isGlobal) &&
    (!rule.isLiveOnly || other.unique.isLiveOnly) &&
    (rule.where === undefined || isDeepStrictEqual(rule.where, other.unique.where))
  );
}

function declaredIndexes(document: DocumentModel, shape: Shape, before: Indexes): Indexes {
  const fieldsOf = (fields: readonly string[]): IndexSchema["fields"] =>
    fields.map((path) => indexedField(document, shape, path));
  const wanted: readonly { readonly name: string; readonly index: IndexSchema }[] = [
    ...document.indexes.map(({ name, fields }) => ({ name, index: { fields: fieldsOf(fields) } })),
    ...document.unique.map((rule) => ({
      name: rule.name,
      index: uniqueIndex(document, shape, rule),
    })),
    ...(document.deletedForSeconds === null ? [] : [deletedIndex(document)]),
  ];
  const taken = new Set(wanted.map(({ name }) => name.toLowerCase()));
  const existing = new Set(Object.keys(before).map((name) => name.toLowerCase()));
  return Object.fromEntries(
    wanted.map(({ name, index }) => {
      const there = own(before, name);
      if (there !== undefined && isDeepStrictEqual(there, index)) return [name, index];
      const known = Object.keys(before).find(
        (old) => !taken.has(old.toLowerCase()) && isDeepStrictEqual(before[old], index),
      );
      if (known !== undefined) return [known, index];
      // A unique index that changes must hold until its replacement exists, so that gets another
      // name. One whose name differs in capitals alone is the same to SQLite.
      const isHeld =
        there === undefined ? existing.has(name.toLowerCase()) : index.unique !== undefined;
      const isTaken = (one: string): boolean =>
        taken.has(one.toLowerCase()) || existing.has(one.toLowerCase());
      const numbered = (number: number): string => derivedSqlName(`${name}_${number}`);
      return [isHeld ? numberedName(name, isTaken, numbered) : name, index];
    }),
  );
}

/** The index by which periodic work finds rows that were deleted long ago. */
function deletedIndex({ table }: DocumentModel) {
  const fields = [{ path: "last_update_at", type: "date-time", isColumn: true }] as const;
  return { name: deletedIndexName(table), index: { isOfDeleted: true, fields } } as const;
}

/** The index of a unique rule. */
export function uniqueIndex(
  document: DocumentModel,
  shape: Shape,
  { fields, isGlobal, isLiveOnly, where }: UniqueModel,
): IndexSchema {
  const about = Object.entries(where ?? {}).map(([path, values]): IndexedValues => {
    const { isColumn: _isColumn, ...field } = indexedField(document, shape, path);
    return { field, values: values as IndexedValues["values"] };
  });
  return {
    unique: { isGlobal, isLiveOnly, ...(about.length === 0 ? {} : { where: about }) },
    fields: fields.map((path) => indexedField(document, shape, path)),
  };
}

function indexedField(
  { fields }: DocumentModel,
  shape: Shape,
  path: string,
): IndexSchema["fields"][number] {
  const type = own(fields, path);
  if (type === undefined)
    return { path, type: own(indexableColumns, path) ?? "string", isColumn: true };
  return { ...storedField(shape, path), type };
}
