// JSON Schemas of aggregated lists (decisions.md "Query language": aggregates).
import type { Fields, FieldType } from "../../../runtime/contract/fields.js";
import { limits } from "../../../runtime/contract/limits.js";
import { isScalarType, operatorsOf } from "../../../runtime/contract/query-operators.js";
import {
  objectSchema,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";

const alias = { pattern: "^[A-Za-z][A-Za-z0-9_]{0,62}$" };

/** The body of `agg_list`. */
export function aggregateRequestSchema(
  fields: Fields,
  names: { readonly filter: string },
): SchemaObject {
  const only = (accepts: (type: FieldType) => boolean): SchemaObject => ({
    type: "string",
    enum: Object.entries(fields).flatMap(([name, type]) => (accepts(type) ? [name] : [])),
  });
  const scalars = only(isScalarType);
  const numbers = only((type) => type === "number" || type === "integer");
  const ordered = only((type) => operatorsOf(type).includes("$gt"));
  const times = only((type) => type === "date" || type === "date-time");
  const filter = refTo(names.filter);
  const of = (
    field: JsonSchema,
    further: Readonly<Record<string, JsonSchema>> = {},
  ): JsonSchema => {
    const full = objectSchema({ field, filter, ...further }, ["field", ...Object.keys(further)]);
    return Object.keys(further).length > 0 ? full : { anyOf: [field, full] };
  };
  const hasNumbers = (numbers["enum"] as readonly string[]).length > 0;
  const statistics = [
    "$sum",
    "$avg",
    "$median",
    "$stddev_pop",
    "$stddev_samp",
    "$var_pop",
    "$var_samp",
  ];
  const functions: Record<string, JsonSchema> = {
    $count: objectSchema({ filter }, []),
    $count_distinct: of(scalars),
    $min: of(ordered),
    $max: of(ordered),
    ...(hasNumbers
      ? {
          ...Object.fromEntries(statistics.map((name) => [name, of(numbers)])),
          $percentile: of(numbers, { p: { type: "number", minimum: 0, maximum: 1 } }),
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
  const byAlias = (value: JsonSchema): SchemaObject => ({
    type: "object",
    propertyNames: alias,
    additionalProperties: value,
  });
  const aggregates = objectSchema(
    {
      $groups: { ...byAlias(group), maxProperties: 16 },
      $computed: { ...byAlias(computed), maxProperties: 16 },
      $having: {
        ...byAlias(true),
        description: "Constraints on aliases, as a filter has them on fields; all of them hold.",
      },
    },
    [],
  );
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
      sorts: { ...byAlias(refTo("SortOrder")), maxProperties: limits.maxSorts },
    },
    ["aggregates"],
  );
}

/** One group of the answer: values by alias. */
export const aggregateHit: SchemaObject = {
  type: "object",
  additionalProperties: { type: ["string", "number", "boolean", "null"] },
};
