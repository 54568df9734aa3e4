// Types that are made of a document's own: payloads, and what it can be asked.
import type { DocumentModel } from "../../model/document-model.js";
import { aggregateTypeNames } from "./aggregate-schemas.js";
import { queryTypeNames } from "./query-types.js";
import { expansionsName } from "./related.js";
import { enumConstraints } from "./query-schemas.js";

/** Their names, in an order, with the field that a type is about; null where it is about all of them. */
export function derivedTypes(
  document: DocumentModel,
): readonly (readonly [string, string | null])[] {
  const { name, typeName, readTypeName, createTypeName, patchTypeName, fields, enums } = document;
  const whole = [
    createTypeName,
    patchTypeName,
    ...(readTypeName === typeName ? [] : [readTypeName, expansionsName(document)]),
    ...Object.values(queryTypeNames(name)),
    ...Object.values(aggregateTypeNames(name)),
  ];
  const listed = [...enumConstraints(name, fields, enums)].flatMap(([field, one]) =>
    [one.name, one.value, ...(one.element === null ? [] : [one.element])].map(
      (type) => [type, field] as const,
    ),
  );
  return [...whole.map((type) => [type, null] as const), ...listed];
}
