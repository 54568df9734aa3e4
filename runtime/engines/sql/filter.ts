// Filters as SQL conditions: every value is a parameter, every field is a declared one.
import type { ValueDialect } from "./dialect/values.js";
import type { FieldDialect } from "./dialect/fields.js";
import type { Filter } from "../../query/ast.js";
import type { RelatedRows } from "../../query/related-rows.js";
import { elementOf, idField, type FieldReference } from "../../query/fields.js";
import { isEverything, normalFilter } from "../../query/normal-filter.js";
import { operand, type SqlParameters } from "./parameters.js";

const signs = { $eq: "=", $neq: "<>", $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" } as const;

/** The row that a condition is about, and how it reaches related rows. */
export interface FilteredRow {
  /** The alias of the row in the statement. */
  readonly row: string;
  /**
   * ` FROM … WHERE …` of the visible rows of another type that pass a filter and further
   * conditions.
   */
  related(
    of: { readonly rows: RelatedRows; readonly filter: Filter; readonly visible: Filter | null },
    ...further: readonly string[]
  ): string;
  /** The alias of such a related row. */
  readonly relatedRow: string;
}

/** The filter as a condition, or null if every row passes it. */
export function filterCondition(
  filter: Filter,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
  subject: FilteredRow = noDocument,
): string | null {
  const shallow = normalFilter(filter);
  return isEverything(shallow) ? null : condition(shallow, dialect, parameters, subject);
}

/** For rows that aren't documents, such as groups: nothing is related to them. */
const noDocument: FilteredRow = {
  row: "",
  relatedRow: "",
  related: () => {
    throw new TypeError("what is asked about is related to nothing");
  },
};

/**
 * Prints a filter in its normal form. A comparison with null gives null, which counts as false at
 * the top and under `AND` and `OR`. `NOT` would leave it null, so there it is turned into false
 * first.
 */
function condition(
  filter: Filter,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
  subject: FilteredRow,
): string {
  const print = (inner: Filter): string => condition(inner, dialect, parameters, subject);
  const value = (field: FieldReference, given: SqlParameters["values"][number]): string =>
    operand(field, given, dialect, parameters);
  switch (filter.kind) {
    case "all":
      return filter.filters.length === 0 ? "TRUE" : `(${filter.filters.map(print).join(" AND ")})`;
    case "any":
      return filter.filters.length === 0 ? "FALSE" : `(${filter.filters.map(print).join(" OR ")})`;
    case "not":
      return `NOT COALESCE(${print(filter.filter)}, FALSE)`;
    case "compare":
      return `${dialect.field(filter.field)} ${signs[filter.operator]} ${value(filter.field, filter.value)}`;
    case "compareFields":
      return `${dialect.comparable(filter.field)} ${signs[filter.operator]} ${dialect.comparable(filter.other)}`;
    case "in": {
      const { field, values, isNegated } = filter;
      const among = dialect.isIn(field, parameters.add(dialect.list(values)));
      return isNegated ? `(${dialect.isNull(field, false)} AND NOT ${among})` : among;
    }
    case "null":
      return dialect.isNull(filter.field, filter.isNull);
    case "like": {
      const { field, patterns, ignoresCase } = filter;
      // In the field's text, `lower` only changes A to Z (collation "C"), so only these change in
      // the pattern.
      const text = ignoresCase ? `lower(${dialect.field(field)})` : dialect.field(field);
      const folded = (pattern: string): string =>
        ignoresCase ? pattern.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : pattern;
      const alternatives = patterns.map(
        (pattern) => `${text} LIKE ${value(field, folded(pattern))} ESCAPE '\\'`,
      );
      return `(${alternatives.join(" OR ")})`;
    }
    case "matches": {
      const { field, patterns } = filter;
      const alternatives = patterns.map((pattern) =>
        dialect.matches(field, parameters.add(dialect.pattern(pattern))),
      );
      return `(${alternatives.join(" OR ")})`;
    }
    case "hierarchy": {
      const { field, relation, path } = filter;
      const [text, given] = [dialect.field(field), () => value(field, path)];
      const [upper, lower] = relation === "below" ? [given(), text] : [text, given()];
      return `(${upper} = ${lower} OR substr(${lower}, 1, length(${upper}) + 1) = ${upper} || '.')`;
    }
    case "empty": {
      const { field, isEmpty } = filter;
      return `(${dialect.isArray(field)} AND ${dialect.arrayLength(field)} ${isEmpty ? "=" : ">"} 0)`;
    }
    case "set":
      return `(${dialect.isArray(filter.field)} AND ${setCondition(filter, dialect, parameters)})`;
    case "quantified": {
      const { field, quantifier, filter: inner } = filter;
      const holds = quantifier === "$all" ? `NOT COALESCE(${print(inner)}, FALSE)` : print(inner);
      const exists = `EXISTS (SELECT 1 FROM ${dialect.elements(field)} WHERE ${holds})`;
      return `(${dialect.isArray(field)} AND ${quantifier === "$any" ? exists : `NOT ${exists}`})`;
    }
    case "related":
      return relatedCondition(filter, dialect, subject);
  }
}

function relatedCondition(
  filter: Extract<Filter, { kind: "related" }>,
  dialect: FieldDialect & ValueDialect,
  subject: FilteredRow,
): string {
  const { ours, theirs } = filter;
  // Checked row by row, so that an index over their member serves it if few of our rows are
  // checked.
  if (ours.path === idField.path) {
    const names = `${dialect.comparable(theirs)} = ${dialect.idText(subject.row)}`;
    return `EXISTS (SELECT 1${subject.related(filter, names)})`;
  }
  // A list, so that an index over our member serves it if the list is short.
  const isNamed = theirs.path === idField.path;
  const named = isNamed ? dialect.idText(subject.relatedRow) : dialect.comparable(theirs);
  return `${dialect.comparable(ours)} IN (SELECT ${named}${subject.related(filter)})`;
}

function setCondition(
  { field, operator, values }: Extract<Filter, { kind: "set" }>,
  dialect: FieldDialect & ValueDialect,
  parameters: SqlParameters,
): string {
  const element = elementOf(field);
  const among = (): string => dialect.isIn(element, parameters.add(dialect.list(values)));
  const exists = (condition: string): string =>
    `EXISTS (SELECT 1 FROM ${dialect.elements(field)} WHERE ${condition})`;
  switch (operator) {
    case "$overlaps":
      return exists(among());
    case "$disjoint":
      return `NOT ${exists(among())}`;
    case "$subset":
      return `NOT ${exists(`NOT COALESCE(${among()}, FALSE)`)}`;
    case "$superset": {
      const [rows, value] = dialect.listRows(element, parameters.add(dialect.list(values)));
      return `NOT EXISTS (SELECT 1 FROM ${rows} WHERE NOT ${exists(`${dialect.field(element)} = ${value}`)})`;
    }
  }
}
