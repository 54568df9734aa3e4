// Types of what documents can be asked and answer of others: filters, sorts, aggregates, and what comes along.
import { withDeprecatedNames } from "../../load/deprecations.js";
import type { FamilyContext } from "../../kernel/family.js";
import type { DocumentModel } from "../../model/document-model.js";
import { mapSchema, propertiesOf, type JsonSchema } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import { queryableFields } from "../../model/query-fields.js";
import { sharedAggregateTypes, aggregateTypeNames, aggregateTypes } from "./aggregate-schemas.js";
import {
  comparisonSchema,
  enumConstraints,
  enumQueryTypes,
  fieldNameSchema,
  filterSchema,
  rawPages,
  sharedQueryTypes,
  sortSchema,
} from "./query-schemas.js";
import { expandedTypes, relatedQueries, type Documents } from "./related.js";

/** Puts the types of a document's queries into the table: its own, and those that documents share. */
export function addQueryTypes(
  { tree, types: { table } }: FamilyContext,
  model: DocumentModel,
  documents: Documents,
): void {
  const { name, elements, enums, bodySchema } = model;
  const at = tree.at("documents", name);
  const queryable = queryableFields(model);
  const properties = propertiesOf(bodySchema);
  const related = relatedQueries(model, documents, (other) => queryTypeNames(other).filter);
  const named = (schema: JsonSchema): JsonSchema =>
    mapSchema(schema, (inner) => withDeprecatedNames(inner, properties));
  const names = queryTypeNames(name);
  const constraints = enumConstraints(name, queryable, enums);
  const filter = filterSchema(queryable, elements, constraints, names, related);
  table.addTo(name, names.filter, named(filter), at);
  for (const [constraint, schema] of Object.entries(enumQueryTypes(enums, constraints)))
    table.addTo(name, constraint, schema, at);
  table.addTo(name, names.comparison, comparisonSchema(names.field), at);
  table.addTo(name, names.sorts, named(sortSchema(queryable, related.sortable)), at);
  table.addTo(name, names.field, named(fieldNameSchema(queryable)), at);
  const aggregated = aggregateTypes(queryable, names.filter, aggregateTypeNames(name));
  for (const [derived, schema] of Object.entries(aggregated))
    table.addTo(name, derived, named(schema), at);
  for (const [shared, schema] of Object.entries(sharedQueryTypes(queryable, elements)))
    table.addShared(shared, schema, at);
  for (const { name: shared, schema } of [...Object.values(rawPages), ...sharedAggregateTypes])
    table.addShared(shared, schema, at);
  const resource = table.schemas.get(model.typeName);
  if (typeof resource === "object")
    for (const [expanded, schema] of Object.entries(expandedTypes(model, documents, resource)))
      table.addTo(name, expanded, schema, at);
}

/** Names of the types that queries of a document use. */
export function queryTypeNames(document: string): {
  readonly filter: string;
  readonly comparison: string;
  readonly sorts: string;
  readonly field: string;
} {
  const name = pascalCase(document);
  return {
    filter: `${name}Filter`,
    comparison: `${name}Comparison`,
    sorts: `${name}Sorts`,
    field: `${name}Field`,
  };
}
