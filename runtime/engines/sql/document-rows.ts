// Selects and reads rows of documents. For queries, the condition on the tenant is added here and
// nowhere else.
import { broughtUp, changedIn, cutTo, mayHaveMore, shapeNumber } from "../../contract/shapes.js";
import { asDeclared, asStored, isStoredAsDeclared, keptOf } from "../../contract/stored-members.js";
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { allOf } from "../../query/ast.js";
import type { RelatedRows } from "../../query/related-rows.js";
import { filterCondition, type FilteredRow } from "./filter.js";
import type { SqlParameters } from "./parameters.js";
import type { Dialect } from "./dialect/dialect.js";
import { isTrue, quoteName, textOrNull, type ScanColumns, type SqlRow } from "./session.js";

/** The first parameters of a statement on rows of the type: the tenant, if the type has tenants. */
export function ownerOf(spec: AnyDocumentSpec, tenant: string): readonly string[] {
  return spec.tenant ? [tenant] : [];
}

/**
 * The ` WHERE …` that every row of a query meets: its tenant, not deleted unless the query says so,
 * the filter, and further conditions; "" if there are none.
 */
export function whereOf(
  rows: RelatedRows,
  tenant: string,
  query: Pick<DocumentQuery, "filter" | "withDeleted">,
  dialect: Dialect,
  parameters: SqlParameters,
  ...further: readonly string[]
): string {
  const subject = subjectOf(rows, tenant, dialect, parameters);
  return where(rows, tenant, query, dialect, parameters, subject, further);
}

/** The subject of conditions on rows of a table. Related rows must belong to the same tenant. */
export function subjectOf(
  { table }: RelatedRows,
  tenant: string,
  dialect: Dialect,
  parameters: SqlParameters,
): FilteredRow {
  const at = (row: string, depth: number): FilteredRow => {
    const relatedRow = `"r${depth}"`;
    return {
      row,
      relatedRow,
      related({ rows, filter, visible }, ...further) {
        // Which of these rows the caller may see has to be known by now: without it, the query
        // would show all of them.
        if (visible === null) throw new TypeError(`${rows.name} are seen by nobody`);
        const query = { filter: allOf(filter, visible), withDeleted: false };
        const inner = at(relatedRow, depth + 1);
        const passing = where(rows, tenant, query, dialect, parameters, inner, further);
        return ` FROM ${quoteName(rows.table)} AS ${relatedRow}${passing}`;
      },
    };
  };
  return at(quoteName(table), 1);
}

function where(
  rows: RelatedRows,
  tenant: string,
  query: Pick<DocumentQuery, "filter" | "withDeleted">,
  dialect: Dialect,
  parameters: SqlParameters,
  subject: FilteredRow,
  further: readonly string[],
): string {
  const conditions = [
    rows.tenant ? `"tenant_id" = ${parameters.add(tenant)}` : null,
    (rows.softDelete || rows.hidesDeleted === true) && !query.withDeleted
      ? `NOT "is_deleted"`
      : null,
    filterCondition(query.filter, dialect, parameters, subject),
    ...further,
  ].filter((condition) => condition !== null);
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** The columns that `dialect.columns` selects. */
export const documentColumns: ScanColumns = {
  stored: ["id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"],
};

/**
 * Reads a row as this version of the registry declares it. A body that needs no change is not
 * parsed.
 */
export function readStored(spec: AnyDocumentSpec, row: SqlRow): StoredDocument {
  const body = String(row["body"]);
  const shape = Number(row["shape"]);
  return {
    id: String(row["id"]),
    rev: Number(row["rev"]),
    createdAt: String(row["created_at"]),
    lastUpdateAt: String(row["last_update_at"]),
    isDeleted: isTrue(row["is_deleted"]),
    ownerId: textOrNull(row["owner_id"]),
    body: bodyAsRead(spec, shape, body),
    ...(shape > shapeNumber(spec.shape) ? { newer: { shape, body } } : {}),
    ...(spec.shape.kept === undefined
      ? {}
      : { kept: keptOf(spec.shape, ofThisShape(spec, shape, parseBody(body))) }),
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Translates a stored body of any shape into one that this version declares, both as JSON text. */
export function bodyAsRead(spec: AnyDocumentSpec, shape: number, body: string): string {
  const isAsStored = isStoredAsDeclared(spec.shape) && !mayHaveMore(spec.shape);
  if (shape === shapeNumber(spec.shape) && isAsStored) return body;
  return JSON.stringify(asDeclared(spec.shape, ofThisShape(spec, shape, parseBody(body))));
}

/** Translates a stored body of any shape into one that this version stores, both as JSON text. */
export function bodyRenewed(spec: AnyDocumentSpec, shape: number, body: string): string {
  return JSON.stringify(ofThisShape(spec, shape, parseBody(body)));
}

function ofThisShape(
  { shape, defaults, converters }: AnyDocumentSpec,
  from: number,
  body: Members,
) {
  const current = shapeNumber(shape);
  if (from === current) return mayHaveMore(shape) ? cutTo(shape, {}, body) : body;
  return from < current
    ? broughtUp(shape, from, body, converters)
    : cutTo(shape, { ...shape.kept, ...asStored(shape, defaults) }, body);
}

/**
 * The shape number and the body (JSON text) with which a document is stored. If a newer version
 * wrote it, it keeps that shape and the members that only the newer version knows.
 */
export function bodyAsStored(
  spec: AnyDocumentSpec,
  { body, newer, kept }: Pick<StoredDocument, "body" | "newer" | "kept">,
): readonly [shape: number, body: string] {
  const { shape } = spec;
  if (newer === undefined && isStoredAsDeclared(shape)) return [shapeNumber(shape), body];
  const stored = { ...shape.kept, ...kept, ...asStored(shape, parseBody(body)) };
  if (newer === undefined) return [shapeNumber(shape), JSON.stringify(stored)];
  const whole = parseBody(newer.body);
  const cut = ofThisShape(spec, newer.shape, whole);
  return [newer.shape, JSON.stringify(changedIn(shape, [whole, cut, stored]))];
}

function parseBody(body: string): Members {
  return JSON.parse(body) as Members;
}
