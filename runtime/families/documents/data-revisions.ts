// The revisions that are kept of documents, as lines.
import { canonicalJson } from "../../contract/canonical-json.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import { differs, importing, refuseLine, uuidAt, type DataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { historyStore, type WholeRevision } from "../../ports/document-history.js";
import type { Transaction } from "../../ports/database.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { walkPages } from "../../ports/pages.js";
import { membersOf } from "../../query/list-request.js";
import {
  byTenant,
  dateAt,
  documentsOf,
  historyOf,
  keyOfDocument,
  knownDocuments,
  principalAt,
  revisionAt,
  tenantOf,
} from "./data-lines.js";

/** Revisions that are read at once: each may be as large as a body. */
const pageSize = 100;

/** A line of a revision. */
interface RevisionLine {
  readonly tenant: string;
  readonly revision: WholeRevision;
}

/** The revisions of a type's documents. It comes behind these, whose present revision is one. */
export function revisionSet(spec: AnyDocumentSpec, service: ServiceAtWork): DataSet<RevisionLine> {
  return {
    name: historyOf(spec),
    async *lines() {
      const { reader } = service.database;
      for (const tenant of await reader.of(documentStore).tenants(spec)) {
        const revisions = walkPages(
          pageSize,
          (after: WholeRevision | null) =>
            reader.of(historyStore).walk(spec, tenant, after, pageSize),
          (revision) => revision,
        );
        for await (const revision of revisions) yield lineOf(spec, tenant, revision);
      }
    },
    read(value, naming) {
      const members = ["tenant_id", "id", "rev", "changed_at", "changed_by", "is_deleted", "data"];
      const line = membersOf(value, "", members);
      const { is_deleted: isDeleted = false, data } = line;
      if (typeof isDeleted !== "boolean")
        return refuseLine("/is_deleted", "type", "must be boolean");
      if (!isObject(data)) return refuseLine("/data", "type", "must be object");
      const { members: known } = spec.shape;
      const strange = Object.keys(data).find((name) => known?.includes(name) === false);
      if (strange !== undefined)
        return refuseLine(pointer("/data", strange), "additionalProperties", "is no field");
      const tenant = tenantOf(spec, line["tenant_id"], naming);
      const revision = {
        id: uuidAt(line["id"], "/id"),
        rev: revisionAt(line["rev"], "/rev"),
        changedAt: dateAt(line["changed_at"], "/changed_at"),
        changedBy: principalAt(line["changed_by"], "/changed_by"),
        isDeleted,
        body: JSON.stringify(data),
      };
      naming.expect(historyOf(spec), keyOfDocument(spec, tenant, revision.id), "/id");
      return { tenant, revision };
    },
    known: (keys) => knownDocuments(spec, keys, service, true),
    async add(lines) {
      let added = 0;
      for (const [tenant, ofTenant] of byTenant(lines))
        added += await service.write(importing, ({ transaction }) =>
          addRevisions(
            spec,
            transaction,
            tenant,
            ofTenant.map(({ revision }) => revision),
          ),
        );
      return added;
    },
  };
}

/** Adds what isn't kept yet, and is kept for so long; returns how many. */
async function addRevisions(
  spec: AnyDocumentSpec,
  transaction: Transaction,
  tenant: string,
  revisions: readonly WholeRevision[],
): Promise<number> {
  const store = transaction.of(historyStore);
  const ids = [...new Set(revisions.map(({ id }) => id))];
  const there = await documentsOf(spec, transaction, tenant, ids);
  const documents = new Map(there.map((stored) => [stored.id, stored]));
  const wanted = revisions.filter((revision) => {
    const { id, rev } = revision;
    const stored = documents.get(id);
    // The present one is that of the document.
    const isOdd =
      stored === undefined || rev > stored.rev || (rev === stored.rev && !isOf(stored, revision));
    if (isOdd) throw differs(`revision ${rev} of ${id}`);
    return spec.history === null || rev > stored.rev - spec.history;
  });
  const kept = await store.among(spec, tenant, wanted);
  const known = new Map(kept.map((one) => [nameOf(one), one]));
  const unsigned: WholeRevision[] = [];
  const missing: WholeRevision[] = [];
  for (const revision of wanted) {
    const is = known.get(nameOf(revision));
    if (is === undefined) missing.push(revision);
    else if (lineOf(spec, tenant, is) !== lineOf(spec, tenant, revision)) {
      // Lines of documents don't say who wrote them.
      const isUnsaid = is.changedBy === null && documents.get(is.id)?.rev === is.rev;
      if (!isUnsaid) throw differs(`revision ${revision.rev} of ${revision.id}`);
      unsigned.push(revision);
    }
  }
  await store.add(spec, tenant, missing);
  await store.sign(spec, tenant, unsigned);
  return missing.length + unsigned.length;
}

function nameOf({ id, rev }: WholeRevision): string {
  return `${id}/${rev}`;
}

function isOf(stored: StoredDocument, { body, isDeleted }: WholeRevision): boolean {
  const same = canonicalJson(JSON.parse(stored.body)) === canonicalJson(JSON.parse(body));
  return same && stored.isDeleted === isDeleted;
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
