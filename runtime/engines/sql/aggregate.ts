// Aggregates as SQL: one query makes the groups, the query around it filters, orders, pages and
// counts them.
import type { FieldType } from "../../contract/fields.js";
import type { AggregateValue, DocumentQuery, PageWindow } from "../../ports/documents.js";
import type { CountedPage } from "../../ports/pages.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import {
  computedType,
  groupType,
  type Aggregate,
  type Computed,
  type Group,
} from "../../query/aggregate.js";
import { countRows, type Counted } from "./count-rows.js";
import { subjectOf, whereOf } from "./document-rows.js";
import { filterCondition, type FilteredRow } from "./filter.js";
import { readCountedPage, type Listing } from "./listing.js";
import { orderBy } from "./order.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, readScalar, type SqlRow, type SqlSession } from "./session.js";
import { zoneOfEngine } from "./zone-lookup.js";

/**
 * The groups of a window, each as its values (those of `groups`, then those of `computed`), and how
 * many groups there are.
 */
export async function aggregateRows(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  aggregate: Aggregate,
  window: PageWindow,
): Promise<CountedPage<readonly AggregateValue[]>> {
  const { dialect } = session;
  const zones = await zonesOf(session, spec, tenant, query, aggregate);
  const types = [...aggregate.groups.map(groupType), ...aggregate.computed.map(computedType)];
  const names = [
    ...aggregate.groups.map((_group, index) => `g${index}`),
    ...aggregate.computed.map((_computed, index) => `c${index}`),
  ];
  // The page and its count name the same groups, so that they are made once.
  const print = (parameters: SqlParameters): Counted => {
    const inner = printGroups(session, spec, tenant, query, aggregate, zones, parameters);
    const having = filterCondition(aggregate.having, dialect, parameters);
    return {
      parts: `"opwright_groups" AS (${inner})`,
      found: `FROM "opwright_groups" AS h${having === null ? "" : ` WHERE ${having}`}`,
    };
  };
  const listed = new SqlParameters(dialect);
  const groups = print(listed);
  const order = aggregate.sorts.length === 0 ? "" : ` ${orderBy(aggregate.sorts, dialect)}`;
  const listing: Listing<readonly AggregateValue[]> = {
    columns: names.map(quoteName).join(", "),
    found: `${groups.found}${order}`,
    counted: groups,
    parameters: listed,
    run: (text, more = { stored: [] }) =>
      session.scan(text, listed.values, { ...more, computed: names }),
    readRow: (row) => names.map((name, index) => readValue(types[index] ?? "string", row, name)),
    count(upTo) {
      const counted = new SqlParameters(dialect);
      return countRows(session, counted, print(counted), upTo);
    },
  };
  return readCountedPage(listing, window);
}

/**
 * The parameter that stands for the time zone of each group that truncates times (see
 * `dialect.zone`).
 */
async function zonesOf(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  { groups }: Aggregate,
): Promise<ReadonlyMap<Group, string>> {
  const { dialect } = session;
  const zones = new Map<Group, string>();
  for (const group of groups) {
    if (group.trunc === null) continue;
    const parameters = new SqlParameters(dialect);
    const text = dialect.comparable(group.field);
    const [range] = dialect.zonesNeedRange
      ? await session.scan(
          `SELECT min(${text}) AS "first", max(${text}) AS "last" FROM ${source(session, spec, tenant, query, parameters)}`,
          parameters.values,
          { stored: ["first", "last"] },
        )
      : [];
    const first = String(range?.["first"] ?? "");
    const last = String(range?.["last"] ?? "");
    const timezone = await zoneOfEngine(session, group.trunc.timezone);
    zones.set(group, dialect.zone(timezone, first, last));
  }
  return zones;
}

function source(
  { dialect }: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  parameters: SqlParameters,
): string {
  return `${quoteName(spec.table)}${whereOf(spec, tenant, query, dialect, parameters)}`;
}

/** The query with one row per group: columns `g0…` for `groups`, `c0…` for `computed`. */
function printGroups(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  query: DocumentQuery,
  { groups, computed }: Aggregate,
  zones: ReadonlyMap<Group, string>,
  parameters: SqlParameters,
): string {
  const { dialect } = session;
  const keys = groups.map((group, index) => {
    const text = dialect.comparable(group.field);
    const zone = zones.get(group);
    const value =
      group.trunc === null || zone === undefined
        ? text
        : dialect.truncated(text, group.trunc.unit, group.field.type, parameters.add(zone));
    return `${value} AS "g${index}"`;
  });
  const subject = subjectOf(spec, tenant, dialect, parameters);
  const values = computed.map((one) => computedSql(session, one, parameters, subject));
  const raw = values.map(({ inner }, index) => `${inner} AS "r${index}"`);
  const by =
    groups.length === 0 ? "" : ` GROUP BY ${groups.map((_group, at) => at + 1).join(", ")}`;
  const from = source(session, spec, tenant, query, parameters);
  const base = `SELECT ${[...keys, ...raw].join(", ")} FROM ${from}${by}`;
  const outer = [
    ...groups.map((_group, index) => `m."g${index}"`),
    ...values.map((value, index) => `${value.outer(`m."r${index}"`)} AS "c${index}"`),
  ];
  return `SELECT ${outer.join(", ")} FROM (${base}) AS m`;
}

function computedSql(
  { dialect }: SqlSession,
  { name, field, fraction, filter }: Computed,
  parameters: SqlParameters,
  subject: FilteredRow,
) {
  const condition = filterCondition(filter, dialect, parameters, subject);
  const only = condition === null ? "" : ` FILTER (WHERE ${condition})`;
  const same = (column: string): string => column;
  if (field === null) return { inner: `count(*)${only}`, outer: same };
  const value = dialect.comparable(field);
  switch (name) {
    case "$count":
      return { inner: `count(*)${only}`, outer: same };
    case "$count_distinct":
      return { inner: `count(DISTINCT ${value})${only}`, outer: same };
    case "$min":
    case "$max":
      return { inner: `${name.slice(1)}(${value})${only}`, outer: same };
    default:
      return dialect.statistic(name, value, condition, { fraction, places: field.places });
  }
}

/** The value of a column; null if there is none, or if it is a number that JSON can't represent. */
function readValue(type: FieldType, row: SqlRow, name: string): AggregateValue {
  const value = row[name] ?? null;
  if (value === null) return null;
  const scalar = readScalar(type, value);
  return typeof scalar === "number" && !Number.isFinite(scalar) ? null : scalar;
}
