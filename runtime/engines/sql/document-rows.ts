// Rows of documents as queries select and read them. Of queries, the tenant predicate is added here and nowhere else.
import { broughtUp, changedIn, cutTo, shapeNumber } from "../../contract/shapes.js";
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { filterCondition } from "./filter.js";
import type { Parameters } from "./parameters.js";
import { isTrue, textOrNull, type Dialect, type ScanColumns, type SqlRow } from "./session.js";

/** The first parameters of a statement about rows of the type: the tenant, where it has tenants. */
export function ownerOf(spec: DocumentDeclaration, tenant: string): readonly string[] {
  return spec.tenant ? [tenant] : [];
}

/** ` WHERE …` of what every row of a query fulfils: its tenant, not deleted, the filter, and what is given further. */
export function whereOf(
  spec: DocumentDeclaration,
  tenant: string,
  query: DocumentQuery,
  dialect: Dialect,
  parameters: Parameters,
  ...further: readonly string[]
): string {
  const conditions = [
    spec.tenant ? `"tenant_id" = ${parameters.add(tenant)}` : null,
    spec.softDelete && !query.withDeleted ? `NOT "is_deleted"` : null,
    filterCondition(query.filter, dialect, parameters),
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

/** A stored body as one of this version's shape. */
export function bodyAsRead(spec: DocumentDeclaration, shape: number, body: string): string {
  const current = shapeNumber(spec.shape);
  if (shape === current) return body;
  const members = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return JSON.stringify(
    shape < current
      ? broughtUp(spec.shape, shape, members)
      : cutTo(spec.shape, spec.defaults, members),
  );
}

/** The shape and the body under which a document is stored: what a newer version has written keeps what only it knows. */
export function bodyAsStored(
  spec: DocumentDeclaration,
  { body, newer }: StoredDocument,
): readonly [shape: number, body: string] {
  if (newer === undefined) return [shapeNumber(spec.shape), body];
  const [whole, changed] = [newer.body, body].map(
    (text) => JSON.parse(text) as Readonly<Record<string, unknown>>,
  );
  return [newer.shape, JSON.stringify(changedIn(whole ?? {}, changed ?? {}))];
}
