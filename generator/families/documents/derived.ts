// Types derived from a document's own: payloads and queries.
import type { DocumentModel } from "../../model/document-model.js";
import { applyView } from "../../model/views.js";
import { aggregateTypeNames } from "./queries/aggregate-schemas.js";
import { queryTypeNames } from "./queries/query-type-names.js";
import { expansionsName } from "./queries/related.js";
import { enumConstraints } from "./queries/query-schemas.js";

/**
 * Their names, in an order, with the field that a type is about; null if it is about all of
 * them.
 */
export function derivedTypes(
  document: DocumentModel,
): readonly (readonly [string, string | null])[] {
  const { name, createTypeName, patchTypeName } = document;
  const whole = [createTypeName, patchTypeName, ...Object.values(aggregateTypeNames(name))];
  const views = document.views.map((view) => applyView(document, view));
  return [
    ...whole.map((type) => [type, null] as const),
    ...views.map(({ typeName }) => [typeName, null] as const),
    ...[document, ...views].flatMap(readingTypes),
  ];
}

/** Types that reading makes, of documents or of a view of them. */
function readingTypes(read: DocumentModel): readonly (readonly [string, string | null])[] {
  const { name, typeName, readTypeName, fields, enums } = read;
  const whole = [
    ...(readTypeName === typeName ? [] : [readTypeName, expansionsName(read)]),
    ...Object.values(queryTypeNames(name)),
  ];
  const listed = [...enumConstraints(name, fields, enums)].flatMap(([field, one]) =>
    [one.name, one.value, ...(one.element === null ? [] : [one.element])].map(
      (type) => [type, field] as const,
    ),
  );
  return [...whole.map((type) => [type, null] as const), ...listed];
}
