// The revisions that are kept of documents, as lines.
import { canonicalJson } from "../../contract/canonical-json.js";
import { isObject } from "../../contract/json-pointer.js";
import { importing, refuseLine, type DataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { historyStore, type WholeRevision } from "../../ports/document-history.js";
import { documentStore } from "../../ports/documents.js";
import { membersOf } from "../../query/list-request.js";
import { byTenant, dateAt, revisionAt, tenantOf, uuidAt } from "./data-set.js";

/** Revisions that are read at once. */
const pageSize = 1_000;

/** A line of a revision. */
interface RevisionLine {
  readonly tenant: string;
  readonly revision: WholeRevision;
}

/** The revisions of a type's documents. It comes before these, whose present revision is one. */
export function revisionSet(spec: AnyDocumentSpec, service: ServiceAtWork): DataSet<RevisionLine> {
  return {
    name: `revisions/${spec.name}`,
    async *lines() {
      const { reader } = service.database;
      for (const tenant of await reader.of(documentStore).tenants(spec))
        for (let after: WholeRevision | null = null; ;) {
          const store = reader.of(historyStore);
          const page: readonly WholeRevision[] = await store.walk(spec, tenant, after, pageSize);
          for (const revision of page) yield lineOf(spec, tenant, revision);
          after = page.at(-1) ?? null;
          if (page.length < pageSize) break;
        }
    },
    read(value, naming) {
      const members = ["tenant_id", "id", "rev", "changed_at", "changed_by", "is_deleted", "data"];
      const line = membersOf(value, "", members);
      const { changed_by: author = null, is_deleted: isDeleted = false, data } = line;
      if (author !== null && (typeof author !== "string" || author === ""))
        return refuseLine("/changed_by", "type", "must be the id of a principal");
      if (typeof isDeleted !== "boolean")
        return refuseLine("/is_deleted", "type", "must be boolean");
      if (!isObject(data)) return refuseLine("/data", "type", "must be object");
      const revision = {
        id: uuidAt(line["id"], "/id"),
        rev: revisionAt(line["rev"], "/rev"),
        changedAt: dateAt(line["changed_at"], "/changed_at"),
        changedBy: author,
        isDeleted,
        body: JSON.stringify(data),
      };
      return { tenant: tenantOf(spec, line["tenant_id"], naming), revision };
    },
    known: async () => new Set(),
    async add(lines) {
      let added = 0;
      for (const [tenant, ofTenant] of byTenant(lines))
        added += await service.write(importing, ({ transaction }) => {
          const revisions = ofTenant.map(({ revision }) => revision);
          return transaction.of(historyStore).add(spec, tenant, revisions);
        });
      return added;
    },
  };
}

function lineOf(spec: AnyDocumentSpec, tenant: string, revision: WholeRevision): string {
  const { id, rev, changedAt, changedBy, isDeleted, body } = revision;
  const line = {
    ...(spec.tenant ? { tenant_id: tenant } : {}),
    id,
    rev,
    ...(changedAt === null ? {} : { changed_at: changedAt }),
    ...(changedBy === null ? {} : { changed_by: changedBy }),
    ...(isDeleted ? { is_deleted: true } : {}),
  };
  return `${JSON.stringify(line).slice(0, -1)},"data":${canonicalJson(JSON.parse(body))}}`;
}
