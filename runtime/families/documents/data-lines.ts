// What the sets of documents have in common: names of sets, members of lines, and looking for the
// documents that lines name.
import { canonicalDateTime } from "../../contract/canonical-values.js";
import { defaultTenant } from "../../contract/default-tenant.js";
import { isUuid } from "../../contract/uuid.js";
import { formats } from "../../contract/validation.js";
import { refuseLine, uuidAt, type Naming } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import type { Filter } from "../../query/ast.js";
import { idField } from "../../query/fields.js";

/** Documents that are looked for at once. */
const pageSize = 4_096;

/** The name of a type's set. */
export function setOf({ name, view: seen }: AnyDocumentSpec): string {
  return `documents/${seen?.of.name ?? name}`;
}

/** The name of the set with a type's counters. */
export function numbersOf({ name }: AnyDocumentSpec): string {
  return `numbers/${name}`;
}

/** The name of the set with a type's revisions. */
export function historyOf({ name }: AnyDocumentSpec): string {
  return `revisions/${name}`;
}

/** What a document is called in its set: the same id may be another tenant's as well. */
export function keyOfDocument({ tenant: hasTenants }: AnyDocumentSpec, tenant: string, id: string) {
  return hasTenants ? `${tenant}/${id}` : id;
}

/** Whose a line is: as it says, or nobody's where the type has no tenants. */
export function tenantOf(spec: AnyDocumentSpec, told: unknown, naming: Naming): string {
  if (!spec.tenant) {
    if (told !== undefined) refuseLine("/tenant_id", "readOnly", `${spec.name} have no tenants`);
    return "";
  }
  if (told === undefined) return defaultTenant;
  if (typeof told !== "string" || told === "" || told.includes("/"))
    return refuseLine("/tenant_id", "type", "must be the id of a tenant");
  if (told !== defaultTenant) naming.expect("tenants", told, "/tenant_id");
  return told;
}

/** The id of a principal; null if there is none. */
export function principalAt(value: unknown, path: string): string | null {
  return value === undefined || value === null ? null : uuidAt(value, path);
}

/** Revisions are 32-bit integers in the database, and there have to be some left. */
const maxRevision = 2_000_000_000;

/** The number of a revision. */
export function revisionAt(value: unknown, path: string): number {
  const rev = Number.isSafeInteger(value) ? Number(value) : 0;
  if (rev >= 1 && rev <= maxRevision) return rev;
  return refuseLine(path, "type", `must be an integer from 1 to ${maxRevision}`);
}

/** A date-time in its canonical form; null if there is none. */
export function dateAt(value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && formats["date-time"](value)) return canonicalDateTime(value);
  return refuseLine(path, "format", "must be a date-time");
}

/** Lines by their tenants, each in its order. */
export function byTenant<Line extends { readonly tenant: string }>(
  lines: readonly Line[],
): ReadonlyMap<string, readonly Line[]> {
  return groupBy(lines, ({ tenant }) => tenant);
}

/** Values by what each of them says, in their order. */
export function groupBy<Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Which of these documents are there, and aren't deleted unless that doesn't matter. */
export async function knownDocuments(
  spec: AnyDocumentSpec,
  keys: readonly string[],
  { database }: ServiceAtWork,
  withDeleted = false,
): Promise<ReadonlySet<string>> {
  const named = keys.map((key) => {
    const [tenant = "", id = ""] = spec.tenant ? key.split("/") : ["", key];
    return { tenant, id };
  });
  const known = new Set<string>();
  for (const [tenant, ofTenant] of byTenant(named)) {
    const ids = ofTenant.map(({ id }) => id).filter(isUuid);
    for (const { id, isDeleted } of await documentsOf(spec, database.reader, tenant, ids))
      if (withDeleted || !isDeleted) known.add(keyOfDocument(spec, tenant, id));
  }
  return known;
}

/** The documents with these ids, deleted or not. */
export async function documentsOf(
  spec: AnyDocumentSpec,
  transaction: Pick<ServiceAtWork["database"]["reader"], "of">,
  tenant: string,
  ids: readonly string[],
): Promise<readonly StoredDocument[]> {
  const sorts = [{ field: idField, direction: "asc", nulls: "first" } as const];
  const found: StoredDocument[] = [];
  for (let at = 0; at < ids.length; at += pageSize) {
    const values = ids.slice(at, at + pageSize);
    const filter: Filter = { kind: "in", field: idField, isNegated: false, values };
    const query = { filter, sorts, withDeleted: true };
    const window = { limit: pageSize, offset: 0, after: undefined };
    found.push(...(await transaction.of(documentStore).select(spec, tenant, query, window)));
  }
  return found;
}
