// What deletions have done to others, as lines: so that a restore undoes it elsewhere, too.
import { importing, refuseLine, uuidAt, type DataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { deletionStore, type Involved } from "../../ports/deletions.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { walkPages } from "../../ports/pages.js";
import { membersOf } from "../../query/list-request.js";
import { byTenant, revisionAt, tenantOf } from "./data-lines.js";

/** Ids that are read at once. */
const pageSize = 1_000;

/** A line of a deletion. */
interface DeletionLine {
  readonly tenant: string;
  readonly id: string;
  readonly involved: readonly Involved[];
}

/** The deletions of a type's documents; `documents` are all types, which these may involve. */
export function deletionSet(
  spec: AnyDocumentSpec,
  documents: readonly AnyDocumentSpec[],
  { database, write }: ServiceAtWork,
): DataSet<DeletionLine> {
  return {
    name: `deletions/${spec.name}`,
    async *lines() {
      const store = () => database.reader.of(deletionStore);
      for (const tenant of await database.reader.of(documentStore).tenants(spec)) {
        const ids = walkPages(
          pageSize,
          (after: string | null) => store().list(spec, tenant, after, pageSize),
          (id) => id,
        );
        for await (const id of ids) {
          const involved = await store().noted(spec, tenant, id);
          const told = involved.flatMap((one) => toldOf(one, documents));
          const whose = spec.tenant ? { tenant_id: tenant } : {};
          if (told.length > 0) yield JSON.stringify({ ...whose, id, involved: told });
        }
      }
    },
    read(value, naming) {
      const line = membersOf(value, "", ["tenant_id", "id", "involved"]);
      const { involved } = line;
      if (!Array.isArray(involved)) return refuseLine("/involved", "type", "must be array");
      return {
        tenant: tenantOf(spec, line["tenant_id"], naming),
        id: uuidAt(line["id"], "/id"),
        involved: involved.map((one: unknown, at) =>
          readInvolved(one, `/involved/${at}`, documents),
        ),
      };
    },
    async add(lines) {
      let added = 0;
      for (const [tenant, ofTenant] of byTenant(lines))
        added += await write(importing, async ({ transaction }) => {
          const store = transaction.of(deletionStore);
          let noted = 0;
          for (const { id, involved } of ofTenant) {
            // What was deleted here meanwhile has its own.
            if ((await store.noted(spec, tenant, id)).length > 0) continue;
            await store.note(spec, tenant, id, involved);
            noted += 1;
          }
          return noted;
        });
      return added;
    },
  };
}

/** What a line says of a document; nothing of one whose type is gone. */
function toldOf(
  { table, id, rev, cleared }: Involved,
  documents: readonly AnyDocumentSpec[],
): readonly object[] {
  const document = documents.find((one) => one.table === table)?.name;
  if (document === undefined) return [];
  return [{ document, id, rev, ...(cleared === null ? {} : { cleared }) }];
}

function readInvolved(value: unknown, at: string, documents: readonly AnyDocumentSpec[]): Involved {
  const said = membersOf(value, at, ["document", "id", "rev", "cleared"]);
  const spec = documents.find(({ name }) => name === said["document"]);
  if (spec === undefined) return refuseLine(`${at}/document`, "enum", "must be a document type");
  return {
    table: spec.table,
    id: uuidAt(said["id"], `${at}/id`),
    rev: revisionAt(said["rev"], `${at}/rev`),
    cleared: said["cleared"] === undefined ? null : readCleared(said["cleared"], `${at}/cleared`),
  };
}

function readCleared(value: unknown, at: string): NonNullable<Involved["cleared"]> {
  const { member, named } = membersOf(value, at, ["member", "named"]);
  if (typeof member !== "string") return refuseLine(`${at}/member`, "type", "must be string");
  return { member, named: uuidAt(named, `${at}/named`) };
}
