// JSON Schemas of list requests and pages: filters, sorts, cursors (decisions.md "Query language").
import {
  type Elements,
  type Enums,
  type Fields,
  type FieldType,
} from "../../../../runtime/contract/fields.js";
import { limits } from "../../../../runtime/contract/limits.js";
import {
  elementType,
  fieldOperators,
  isScalarType,
  operatorsOf,
  type Operator,
} from "../../../../runtime/contract/query-operators.js";
import { listCount } from "../../../kernel/list-count.js";
import { pascalCase } from "../../../model/names.js";
import { own } from "../../../model/records.js";
import { freeName } from "../../../print/printed-names.js";
import {
  objectSchema,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";

/** Types that the queries of all documents share: operators by field type, and orders. */
export function sharedQueryTypes(
  fields: Fields,
  elements: Elements,
): Readonly<Record<string, JsonSchema>> {
  const types: Record<string, JsonSchema> = { SortOrder: sortOrder, ListCount: listCount };
  const add = (type: FieldType): void => {
    if (type === "object[]" || elementType(type) === "enum") return;
    types[constraintName(type)] = constraintSchema(type);
    if (operatorsOf(type).includes("$any")) add(elementType(type));
  };
  for (const type of Object.values(fields)) add(type);
  for (const type of Object.values(elements).flatMap(Object.values<FieldType>)) add(type);
  return types;
}

/** The query types of an enumeration, and of its elements if it is an array of them. */
export interface EnumConstraint {
  readonly name: string;
  /** The type of one value. */
  readonly value: string;
  readonly element: string | null;
}

/** The names of the query types of a document's enumerations, by their paths. */
export function enumConstraints(
  document: string,
  fields: Fields,
  enums: Enums,
): ReadonlyMap<string, EnumConstraint> {
  const taken = new Set<string>();
  const take = (wanted: string): string => {
    const name = freeName(wanted, (other) => taken.has(other));
    taken.add(name);
    return name;
  };
  return new Map(
    Object.keys(enums).map((path) => {
      const base = pascalCase(`${document}.${path.replaceAll("[]", "")}`);
      const name = take(`${base}Constraint`);
      const isArray = own(fields, path) === "enum[]";
      const element = isArray ? take(`${base}ElementConstraint`) : null;
      return [path, { name, value: take(`${base}Value`), element }];
    }),
  );
}

/** The query types of a document's enumerations. */
export function enumQueryTypes(
  enums: Enums,
  names: ReadonlyMap<string, EnumConstraint>,
): Readonly<Record<string, JsonSchema>> {
  const types: Record<string, JsonSchema> = {};
  for (const [path, { name, value, element }] of names) {
    types[value] = { enum: own(enums, path) ?? [] };
    const scalar = refTo(value);
    if (element === null) types[name] = constraintSchema("enum", { scalar, element: name });
    else {
      types[name] = constraintSchema("enum[]", { scalar, element });
      types[element] = constraintSchema("enum", { scalar, element });
    }
  }
  return types;
}

/** What each field can be asked. */
export function constraintsOf(
  fields: Fields,
  elements: Elements,
  enums: ReadonlyMap<string, EnumConstraint>,
): Readonly<Record<string, JsonSchema>> {
  const nameOf = (path: string, type: FieldType): string =>
    enums.get(path)?.name ?? constraintName(type);
  return Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [
      name,
      type === "object[]"
        ? objectsConstraint(elements[name] ?? {}, (member, of) => nameOf(`${name}[].${member}`, of))
        : refTo(nameOf(name, type)),
    ]),
  );
}

/** What filters and sorts ask beyond the document's own fields. */
export interface RelatedQueries {
  /** `project.archived`: constraints of fields that references lead to. */
  readonly through: Readonly<Record<string, JsonSchema>>;
  /** Those of them that sort. */
  readonly sortable: readonly string[];
  /** `comments.article`, `author.follows.followed`: filters over references to this document. */
  readonly naming: Readonly<Record<string, JsonSchema>>;
}

/** The filter of one document's lists: constraints, or one of the combinators. */
export function filterSchema(
  fields: Fields,
  elements: Elements,
  enums: ReadonlyMap<string, EnumConstraint>,
  names: { readonly filter: string; readonly comparison: string },
  { through, naming }: Pick<RelatedQueries, "through" | "naming">,
): SchemaObject {
  const properties = { ...constraintsOf(fields, elements, enums), ...through };
  const compared = Object.entries(fields).filter(([, type]) => isScalarType(type));
  const several = { type: "array", minItems: 1, items: refTo(names.filter) };
  const conditions = {
    $values: objectSchema(properties, []),
    $fields: objectSchema(
      Object.fromEntries(compared.map(([name]) => [name, refTo(names.comparison)])),
      [],
    ),
    ...(Object.keys(naming).length === 0
      ? {}
      : {
          $exists: {
            ...objectSchema(naming, []),
            description:
              "One that names this one, or what a member of it names, is there and passes; {} is any.",
          },
        }),
  };
  return {
    // What cannot be mixed is an alternative each, so a client that mixes it does not compile.
    anyOf: [
      objectSchema(conditions, []),
      objectSchema({ $and: several }, ["$and"]),
      objectSchema({ $or: several }, ["$or"]),
      objectSchema({ $not: refTo(names.filter) }, ["$not"]),
    ],
    description:
      "$values and $fields (of one type), which hold together; or one of $and, $or and $not alone.",
  };
}

/** `$fields` for one field: comparisons with others. `field` is the type of their names. */
export function comparisonSchema(field: string): SchemaObject {
  const operators = fieldOperators.map((operator): [string, JsonSchema] => [
    operator,
    refTo(field),
  ]);
  return { ...objectSchema(Object.fromEntries(operators), []), minProperties: 1 };
}

/** The sorts of one document's lists. */
export function sortSchema(fields: Fields, through: readonly string[]): SchemaObject {
  const own = Object.keys(fields).filter((name) => isScalarType(fields[name] ?? "object"));
  const names = [...own, ...through];
  return {
    ...objectSchema(Object.fromEntries(names.map((name) => [name, refTo("SortOrder")])), []),
    maxProperties: limits.maxSorts,
  };
}

/** What lists and aggregates may ask of documents whose deleted rows they may have as well. */
export const withDeleted: Readonly<Record<string, JsonSchema>> = {
  with_deleted: { type: "boolean", default: false },
};

/** The body of a list. `filter`, `sorts` and `field` are names of the document's query types. */
export function listRequestSchema(
  names: { readonly filter: string; readonly sorts: string; readonly field: string },
  options: {
    readonly isRaw: boolean;
    readonly byCursor: boolean;
    readonly listDeleted: boolean;
    /** Whether it may say how far hits are counted. */
    readonly isBounded: boolean;
    readonly expandable: readonly string[];
  },
): SchemaObject {
  const cursor = { type: "string", description: "A cursor of an earlier page of this very query." };
  const paging: Record<string, JsonSchema> = options.byCursor
    ? { after: cursor, before: cursor }
    : {
        page: { type: "integer", minimum: 1, maximum: limits.maxPage, default: 1 },
        ...(options.isBounded ? { count: refTo("ListCount") } : {}),
      };
  const request = objectSchema(
    {
      ...paging,
      size: {
        type: "integer",
        minimum: 1,
        maximum: limits.maxPageSize,
        default: limits.defaultPageSize,
      },
      filters: refTo(names.filter),
      sorts: refTo(names.sorts),
      ...(options.isRaw
        ? {
            return_fields: {
              type: "array",
              minItems: 1,
              uniqueItems: true,
              items: refTo(names.field),
            },
          }
        : {}),
      ...(options.isRaw ? {} : expandMember(options)),
      ...(options.listDeleted ? withDeleted : {}),
    },
    options.isRaw ? ["return_fields"] : [],
  );
  return options.byCursor ? { ...request, not: { required: ["after", "before"] } } : request;
}

/** The documents that may come along with others; nothing if they refer to none. */
export function expandMember({
  expandable,
}: {
  readonly expandable: readonly string[];
}): Readonly<Record<string, SchemaObject>> {
  if (expandable.length === 0) return {};
  const description = "Members whose documents come along, as the member `expanded`.";
  const items = { type: "string", enum: expandable };
  return { expand: { type: "array", maxItems: limits.maxExpansions, items, description } };
}

/** The names of a document's fields, as projections list them. */
export function fieldNameSchema(fields: Fields): SchemaObject {
  return { type: "string", enum: Object.keys(fields) };
}

/** `StringConstraint`, `DateTimeArrayConstraint`. */
function constraintName(type: FieldType): string {
  const element = pascalCase(elementType(type).replace("-", "_"));
  return `${element}${type.endsWith("[]") ? "Array" : ""}Constraint`;
}

/** Queries of an array of objects: a quantifier's constraints all hold for one object. */
function objectsConstraint(
  members: Fields,
  nameOf: (member: string, type: FieldType) => string,
): JsonSchema {
  const properties = Object.entries(members).map(([name, type]): [string, JsonSchema] => [
    name,
    refTo(nameOf(name, type)),
  ]);
  const element = { ...objectSchema(Object.fromEntries(properties), []), minProperties: 1 };
  const operands = operatorsOf("object[]").map((operator): [string, JsonSchema] => [
    operator,
    operator === "$null" || operator === "$empty" ? { type: "boolean" } : element,
  ]);
  const asked = { ...objectSchema(Object.fromEntries(operands), []), minProperties: 1 };
  return { anyOf: [{ type: "null" }, asked] };
}

/** Operands of a field: values of it or of its elements, and an element's query type. */
interface Operands {
  readonly scalar: JsonSchema | undefined;
  readonly element: string;
}

function operandsOf(type: FieldType): Operands {
  const element = elementType(type);
  const scalar =
    element === "string"
      ? { type: "string", maxLength: limits.maxOperandLength }
      : scalarSchema(element);
  return { scalar, element: constraintName(element) };
}

/** A value, a list of values, null, or operators; all operators of an object hold. */
function constraintSchema(type: FieldType, given: Operands = operandsOf(type)): JsonSchema {
  const scalar = isScalarType(type) ? given.scalar : undefined;
  const operands = operatorsOf(type).map((operator): [string, JsonSchema] => [
    operator,
    operandSchema(operator, given),
  ]);
  const asked = { ...objectSchema(Object.fromEntries(operands), []), minProperties: 1 };
  const shortcuts = scalar === undefined ? [] : [scalar, listOf(scalar)];
  return { anyOf: [...shortcuts, { type: "null" }, asked] };
}

function operandSchema(
  operator: Operator,
  { scalar = { type: "object", additionalProperties: true }, element }: Operands,
): JsonSchema {
  switch (operator) {
    case "$null":
    case "$empty":
      return { type: "boolean" };
    case "$in":
    case "$nin":
    case "$superset":
    case "$subset":
    case "$overlaps":
    case "$disjoint":
      return listOf(scalar);
    case "$any":
    case "$all":
    case "$none":
      return refTo(element);
    case "$like":
    case "$ilike":
    case "$regex": {
      const pattern = { type: "string", maxLength: limits.maxPatternLength };
      const several = { type: "array", minItems: 1, maxItems: limits.maxAlternatives };
      return { anyOf: [pattern, { ...several, items: pattern }] };
    }
    default:
      return scalar;
  }
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items, maxItems: limits.maxInOperands };
}

/** Values of a scalar type; undefined for the others. */
export function scalarSchema(type: FieldType): JsonSchema | undefined {
  switch (type) {
    case "string":
    case "enum":
      return { type: "string" };
    case "uuid":
    case "date":
    case "date-time":
      return { type: "string", format: type };
    case "integer":
    case "number":
      return { type: "number" };
    case "boolean":
      return { type: "boolean" };
    default:
      return undefined;
  }
}

const sortOrder: JsonSchema = {
  anyOf: [
    { type: "string", enum: ["asc", "desc"] },
    objectSchema(
      {
        dir: { type: "string", enum: ["asc", "desc"] },
        nulls: { type: "string", enum: ["first", "last"] },
      },
      ["dir"],
    ),
  ],
};
