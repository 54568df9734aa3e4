// JSON Schemas of aggregated lists (decisions.md "Query language": aggregates).
import type { Fields, FieldType } from "../../../../runtime/contract/fields.js";
import { limits } from "../../../../runtime/contract/limits.js";
import { isScalarType, operatorsOf } from "../../../../runtime/contract/query-operators.js";
import {
  objectSchema,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { pascalCase } from "../../../model/names.js";
import { withDeleted } from "./query-schemas.js";
import { pageSchema } from "./page-schemas.js";

const alias = { pattern: "^[A-Za-z][A-Za-z0-9_]{0,62}$" };

/** A map by alias. */
const byAlias = (value: JsonSchema): SchemaObject => ({
  type: "object",
  propertyNames: alias,
  additionalProperties: value,
});

/** What aggregates of all documents have in common. */
const sharedParts = {
  having: {
    name: "AggregateHaving",
    schema: {
      ...byAlias(true),
      description: "Constraints on aliases, as a filter has them on fields; all of them hold.",
    },
  },
  sorts: {
    name: "AggregateSorts",
    schema: { ...byAlias(refTo("SortOrder")), maxProperties: limits.maxSorts },
  },
};

/**
 * Names of the types of what a document's aggregates take: fields by what can be computed of them,
 * and operands.
 */
export function aggregateTypeNames(document: string): {
  readonly scalar: string;
  readonly ordered: string;
  readonly number: string;
  readonly scalarOperand: string;
  readonly orderedOperand: string;
  readonly numberOperand: string;
} {
  const name = pascalCase(document);
  return {
    scalar: `${name}ScalarField`,
    ordered: `${name}OrderedField`,
    number: `${name}NumberField`,
    scalarOperand: `${name}ScalarOperand`,
    orderedOperand: `${name}OrderedOperand`,
    numberOperand: `${name}NumberOperand`,
  };
}

/** The types that the body of `agg_list` refers to. */
export function aggregateTypes(
  fields: Fields,
  filter: string,
  names: ReturnType<typeof aggregateTypeNames>,
): Readonly<Record<string, JsonSchema>> {
  return {
    [names.scalar]: fieldsOf(fields, isScalarType),
    [names.ordered]: fieldsOf(fields, (type) => operatorsOf(type).includes("$gt")),
    [names.number]: fieldsOf(fields, isNumber),
    [names.scalarOperand]: operandOf(names.scalar, filter),
    [names.orderedOperand]: operandOf(names.ordered, filter),
    [names.numberOperand]: operandOf(names.number, filter),
  };
}

const isNumber = (type: FieldType): boolean => type === "number" || type === "integer";

function fieldsOf(fields: Fields, accepts: (type: FieldType) => boolean): SchemaObject {
  const names = Object.entries(fields).flatMap(([name, type]) => (accepts(type) ? [name] : []));
  return { type: "string", enum: names };
}

/** A field, or one with a filter of its own. */
function operandOf(field: string, filter: string): JsonSchema {
  const members = { field: refTo(field), filter: refTo(filter) };
  return { anyOf: [refTo(field), objectSchema(members, ["field"])] };
}

/** Functions of numbers, besides `$percentile`. */
const statistics = [
  "$sum",
  "$avg",
  "$median",
  "$stddev_pop",
  "$stddev_samp",
  "$var_pop",
  "$var_samp",
];

/** The body of `agg_list`. */
export function aggregateRequestSchema(
  fields: Fields,
  names: { readonly filter: string } & ReturnType<typeof aggregateTypeNames>,
  listDeleted: boolean,
): SchemaObject {
  const scalars = refTo(names.scalar);
  const times = fieldsOf(fields, (type) => type === "date" || type === "date-time");
  const filter = refTo(names.filter);
  const percentile = {
    field: refTo(names.number),
    filter,
    p: { type: "number", minimum: 0, maximum: 1 },
  };
  const functions: Record<string, JsonSchema> = {
    $count: objectSchema({ filter }, []),
    $count_distinct: refTo(names.scalarOperand),
    $min: refTo(names.orderedOperand),
    $max: refTo(names.orderedOperand),
    ...(Object.values(fields).some(isNumber)
      ? {
          ...Object.fromEntries(statistics.map((name) => [name, refTo(names.numberOperand)])),
          $percentile: objectSchema(percentile, ["field", "p"]),
        }
      : {}),
  };
  const computed = {
    ...objectSchema(functions, []),
    minProperties: 1,
    maxProperties: 1,
  };
  const trunc = objectSchema(
    {
      field: times,
      unit: { type: "string", enum: ["hour", "day", "week", "month"] },
      timezone: { type: "string", default: "UTC", description: "A name of the IANA database." },
    },
    ["field", "unit"],
  );
  const group = { anyOf: [scalars, objectSchema({ $trunc: trunc }, ["$trunc"])] };
  const aggregates = {
    // One of both is needed.
    examples: [{ $computed: { count: { $count: {} } } }],
    ...objectSchema(
      {
        $groups: { ...byAlias(group), maxProperties: 16 },
        $computed: { ...byAlias(computed), maxProperties: 16 },
        $having: refTo(sharedParts.having.name),
      },
      [],
    ),
    anyOf: ["$groups", "$computed"].map((name) => ({
      properties: { [name]: { minProperties: 1 } },
      required: [name],
    })),
  };
  return objectSchema(
    {
      page: { type: "integer", minimum: 1, maximum: limits.maxPage, default: 1 },
      size: {
        type: "integer",
        minimum: 1,
        maximum: limits.maxPageSize,
        default: limits.defaultPageSize,
      },
      aggregates,
      filters: filter,
      sorts: refTo(sharedParts.sorts.name),
      ...(listDeleted ? withDeleted : {}),
    },
    ["aggregates"],
  );
}

/** One group of the answer: values by alias. */
const aggregateHit: SchemaObject = {
  type: "object",
  additionalProperties: { type: ["string", "number", "boolean", "null"] },
};

/** The page of groups, which all documents share. */
export const aggregatePage = { name: "GroupPage", schema: pageSchema(aggregateHit, false) };

/** The types that aggregates of all documents share. */
export const sharedAggregateTypes = [...Object.values(sharedParts), aggregatePage];
