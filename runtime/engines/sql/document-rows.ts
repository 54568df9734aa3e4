// Rows of documents as queries select and read them. Of queries, the tenant predicate is added here and nowhere else.
import { broughtUp, changedIn, cutTo, shapeNumber } from "../../contract/shapes.js";
import { asDeclared, asStored } from "../../contract/stored-members.js";
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { allOf } from "../../query/ast.js";
import type { RelatedRows } from "../../query/related-rows.js";
import { filterCondition, type Subject } from "./filter.js";
import type { Parameters } from "./parameters.js";
import {
  isTrue,
  quoted,
  textOrNull,
  type Dialect,
  type ScanColumns,
  type SqlRow,
} from "./session.js";

/** The first parameters of a statement about rows of the type: the tenant, where it has tenants. */
export function ownerOf(spec: DocumentDeclaration, tenant: string): readonly string[] {
  return spec.tenant ? [tenant] : [];
}

/** ` WHERE …` of what every row of a query fulfils: its tenant, not deleted, the filter, and what is given further. */
export function whereOf(
  rows: RelatedRows,
  tenant: string,
  query: Pick<DocumentQuery, "filter" | "withDeleted">,
  dialect: Dialect,
  parameters: Parameters,
  ...further: readonly string[]
): string {
  const subject = subjectOf(rows, tenant, dialect, parameters);
  return where(rows, tenant, query, dialect, parameters, subject, further);
}

/** What conditions on rows of a table are about. Related rows are of the same tenant. */
export function subjectOf(
  { table }: RelatedRows,
  tenant: string,
  dialect: Dialect,
  parameters: Parameters,
): Subject {
  const at = (row: string, depth: number): Subject => {
    const relatedRow = `"r${depth}"`;
    return {
      row,
      relatedRow,
      related({ rows, filter, visible }, ...further) {
        // Whoever asks has not said what may be seen.
        if (visible === null) throw new TypeError(`${rows.name} are seen by nobody`);
        const query = { filter: allOf(filter, visible), withDeleted: false };
        const inner = at(relatedRow, depth + 1);
        const passing = where(rows, tenant, query, dialect, parameters, inner, further);
        return ` FROM ${quoted(rows.table)} AS ${relatedRow}${passing}`;
      },
    };
  };
  return at(quoted(table), 1);
}

function where(
  rows: RelatedRows,
  tenant: string,
  query: Pick<DocumentQuery, "filter" | "withDeleted">,
  dialect: Dialect,
  parameters: Parameters,
  subject: Subject,
  further: readonly string[],
): string {
  const conditions = [
    rows.tenant ? `"tenant_id" = ${parameters.add(tenant)}` : null,
    rows.softDelete && !query.withDeleted ? `NOT "is_deleted"` : null,
    filterCondition(query.filter, dialect, parameters, subject),
    ...further,
  ].filter((condition) => condition !== null);
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** What `dialect.columns` selects. */
export const documentColumns: ScanColumns = {
  stored: ["id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"],
};

/** A row as this version of the registry reads it; its body is not parsed where it is of this version's shape. */
export function readStored(spec: DocumentDeclaration, row: SqlRow): StoredDocument {
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
  };
}

type Members = Readonly<Record<string, unknown>>;

/** A stored body as one that this version declares. */
export function bodyAsRead(spec: DocumentDeclaration, shape: number, body: string): string {
  if (shape === shapeNumber(spec.shape) && spec.shape.stored === undefined) return body;
  return JSON.stringify(asDeclared(spec.shape, ofThisShape(spec, shape, parsed(body))));
}

/** A stored body as this version stores it. */
export function bodyRenewed(spec: DocumentDeclaration, shape: number, body: string): string {
  return JSON.stringify(ofThisShape(spec, shape, parsed(body)));
}

function ofThisShape(
  { shape, defaults, converters }: DocumentDeclaration,
  from: number,
  body: Members,
) {
  const current = shapeNumber(shape);
  if (from === current) return body;
  return from < current
    ? broughtUp(shape, from, body, converters)
    : cutTo(shape, asStored(shape, defaults), body);
}

/** The shape and the body under which a document is stored: what a newer version has written keeps what only it knows. */
export function bodyAsStored(
  { shape }: DocumentDeclaration,
  { body, newer }: StoredDocument,
): readonly [shape: number, body: string] {
  if (newer === undefined && shape.stored === undefined) return [shapeNumber(shape), body];
  const stored = asStored(shape, parsed(body));
  return newer === undefined
    ? [shapeNumber(shape), JSON.stringify(stored)]
    : [newer.shape, JSON.stringify(changedIn(parsed(newer.body), stored))];
}

function parsed(body: string): Members {
  return JSON.parse(body) as Members;
}
