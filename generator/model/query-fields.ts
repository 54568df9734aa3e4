// The fields of a document as queries name them, and what queries can do with each.
import {
  baseFields,
  ofMembers,
  type Elements,
  type Fields,
  type FieldType,
} from "../../runtime/contract/fields.js";
import { isScalarType } from "../../runtime/contract/query-operators.js";
import type { ToldMembers } from "./document-model.js";

/** The part of a document's model that decides what queries can do. */
export interface QueryableDocument {
  readonly fields: Fields;
  readonly softDelete: boolean;
  readonly view: Pick<ToldMembers, "members"> | null;
}

/** The fields of a document with the base fields, as queries name them. */
export function queryableFields(document: QueryableDocument): Fields {
  const columns: Fields = {
    ...baseFields,
    ...(document.softDelete ? { is_deleted: "boolean" as const } : {}),
  };
  const told = document.view === null ? columns : ofMembers(columns, document.view.members);
  return { ...told, ...document.fields };
}

/**
 * The extension `x-query` of list operations: what queries can do with each field. `operators`
 * gives those of a type.
 */
export function queryExtension(
  fields: Fields,
  elements: Elements,
  operators: (type: FieldType) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [
      name,
      {
        type,
        operators: operators(type),
        sortable: isScalarType(type),
        ...(Object.hasOwn(elements, name)
          ? { elements: queryExtension(elements[name] ?? {}, {}, operators) }
          : {}),
      },
    ]),
  );
}
