// Types of what documents can be asked and answer of others: filters, sorts, aggregates, and what
// comes along.
import { withDeprecatedNames } from "../../../load/deprecations.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { DocumentModel } from "../../../model/document-model.js";
import { mapSchema, propertiesOf, type JsonSchema } from "../../../model/json-schema.js";
import { documentOf } from "../../../model/views.js";
import { queryableFields } from "../../../model/query-fields.js";
import { sharedAggregateTypes, aggregateTypeNames, aggregateTypes } from "./aggregate-schemas.js";
import {
  comparisonSchema,
  enumConstraints,
  enumQueryTypes,
  fieldNameSchema,
  filterSchema,
  sharedQueryTypes,
  sortSchema,
} from "./query-schemas.js";
import { rawPages } from "./page-schemas.js";
import { expandedTypes, relatedQueries, type Documents } from "./related.js";
import { queryTypeNames } from "./query-type-names.js";

/**
 * Puts the types of a document's queries into the table: its own, and those that documents share.
 */
export function addQueryTypes(
  { tree, types: { table } }: FamilyContext,
  model: DocumentModel,
  documents: Documents,
): void {
  const { elements, enums, bodySchema } = model;
  const document = documentOf(model.name);
  const at = tree.at("documents", document);
  const queryable = queryableFields(model);
  const properties = propertiesOf(bodySchema);
  const related = relatedQueries(model, documents, (other) => queryTypeNames(other).filter);
  const named = (schema: JsonSchema): JsonSchema =>
    mapSchema(schema, (inner) => withDeprecatedNames(inner, properties));
  const names = queryTypeNames(model.name);
  const constraints = enumConstraints(model.name, queryable, enums);
  const filter = filterSchema(queryable, elements, constraints, names, related);
  table.addTo(document, names.filter, named(filter), at);
  for (const [constraint, schema] of Object.entries(enumQueryTypes(enums, constraints)))
    table.addTo(document, constraint, schema, at);
  table.addTo(document, names.comparison, comparisonSchema(names.field), at);
  table.addTo(document, names.sorts, named(sortSchema(queryable, related.sortable)), at);
  table.addTo(document, names.field, named(fieldNameSchema(queryable)), at);
  for (const [shared, schema] of Object.entries(sharedQueryTypes(queryable, elements)))
    table.addShared(shared, schema, at);
  const resource = table.schemas.get(model.typeName);
  if (typeof resource === "object")
    for (const [expanded, schema] of Object.entries(expandedTypes(model, documents, resource)))
      table.addTo(document, expanded, schema, at);
}

/** Puts the types of a document's aggregates, and of lists of chosen fields, into the table. */
export function addAggregateTypes(
  { tree, types: { table } }: FamilyContext,
  model: DocumentModel,
): void {
  const { name, bodySchema } = model;
  const at = tree.at("documents", name);
  const properties = propertiesOf(bodySchema);
  const { filter } = queryTypeNames(name);
  const aggregated = aggregateTypes(queryableFields(model), filter, aggregateTypeNames(name));
  for (const [derived, schema] of Object.entries(aggregated))
    table.addTo(
      name,
      derived,
      mapSchema(schema, (inner) => withDeprecatedNames(inner, properties)),
      at,
    );
  for (const { name: shared, schema } of [...Object.values(rawPages), ...sharedAggregateTypes])
    table.addShared(shared, schema, at);
}
