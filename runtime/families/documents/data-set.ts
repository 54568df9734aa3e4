// The documents of a type as lines: with their ids, revisions, dates and owners, deleted ones too
// (decisions.md "Bring your data").
import { canonicalBody } from "../../contract/canonical-values.js";
import { canonicalJson } from "../../contract/canonical-json.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import type { ExecutionContext } from "../../operations/context.js";
import {
  differs,
  importing,
  refusedLine,
  refuseLine,
  uuidAt,
  type DataSet,
  type Naming,
} from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { recordCall } from "../../operations/recorded.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { everything, type Position } from "../../query/ast.js";
import { idField } from "../../query/fields.js";
import { membersOf } from "../../query/list-request.js";
import {
  byTenant,
  dateAt,
  documentsOf,
  groupBy,
  historyOf,
  keyOfDocument,
  knownDocuments,
  numbersOf,
  principalAt,
  revisionAt,
  setOf,
  tenantOf,
} from "./data-lines.js";
import { namesIn } from "./names.js";
import { raiseCounters } from "./numbers-known.js";
import { checkClaims, claimRanges } from "./ranges.js";
import { moveReminders } from "./reminders.js";
import { documentText } from "./render.js";
import { keyFaults } from "./keys.js";
import { showWhole } from "./visible.js";
import { positionOf, readRows } from "./rows.js";

/** Documents that are read at once, as far as they are small. */
const pageSize = 4_096;

/** A line of a document. */
interface DocumentLine {
  readonly tenant: string;
  readonly stored: StoredDocument;
  /** Dates that the line says; others are right as the document has them. */
  readonly said: { readonly created: boolean; readonly changed: boolean };
}

/** The documents of a type. */
export function documentSet(spec: AnyDocumentSpec, service: ServiceAtWork): DataSet<DocumentLine> {
  return {
    name: setOf(spec),
    async *lines() {
      for (const tenant of await service.database.reader.of(documentStore).tenants(spec))
        for await (const stored of walkDocuments(spec, tenant, service))
          yield lineOf(spec, tenant, stored);
    },
    read: (value, naming) => readDocument(spec, value, naming, service.clock.now()),
    known: (keys) => knownDocuments(spec, keys, service),
    async add(lines, naming) {
      let added = 0;
      for (const [tenant, ofTenant] of byTenant(lines))
        added += await service.write(
          importing,
          (context) => addDocuments(spec, context, ofTenant, naming),
          tenant === "" ? undefined : tenant,
        );
      return added;
    },
  };
}

/** All documents of a tenant, in the order of their ids; large ones come in small pages. */
async function* walkDocuments(
  spec: AnyDocumentSpec,
  tenant: string,
  { database }: ServiceAtWork,
): AsyncGenerator<StoredDocument> {
  const sorts = [{ field: idField, direction: "asc", nulls: "first" } as const];
  const query = { filter: everything, sorts, withDeleted: true };
  const nobody = { grow: () => undefined };
  for (let after: Position | undefined; ;) {
    const page: Awaited<ReturnType<typeof readRows>> = await readRows(
      (window) => database.reader.of(documentStore).select(spec, tenant, query, window),
      sorts,
      { offset: 0, after },
      pageSize,
      nobody,
    );
    yield* page.rows;
    const last = page.rows.at(-1);
    if (last === undefined || (page.rows.length < pageSize && !page.isCut)) return;
    after = positionOf(last, sorts);
  }
}

/** The line of a document: engines keep the members of bodies in orders of their own. */
function lineOf(spec: AnyDocumentSpec, tenant: string, stored: StoredDocument): string {
  const whose = {
    ...(spec.tenant ? { tenant_id: tenant } : {}),
    ...(stored.ownerId === null ? {} : { owner_id: stored.ownerId }),
  };
  const start = JSON.stringify(whose).slice(0, -1);
  return `${start}${start === "{" ? "" : ","}"data":${canonicalText(spec, stored)}}`;
}

function canonicalText(spec: AnyDocumentSpec, stored: StoredDocument): string {
  return documentText(spec, showWhole({ ...stored, body: canonicalJson(JSON.parse(stored.body)) }));
}

function readDocument(
  spec: AnyDocumentSpec,
  value: unknown,
  naming: Naming,
  now: number,
): DocumentLine {
  const line = membersOf(value, "", ["tenant_id", "owner_id", "data"]);
  const tenant = tenantOf(spec, line["tenant_id"], naming);
  const owner = principalAt(line["owner_id"], "/owner_id");
  const { data } = line;
  if (!isObject(data)) return refuseLine("/data", "type", "must be object");
  const { id: key, rev = 1, created_at: created, last_update_at: changed, ...rest } = data;
  const { is_deleted: isDeleted = false, ...given } = rest;
  const id = uuidAt(key, "/data/id");
  if (typeof isDeleted !== "boolean" || (isDeleted && !spec.softDelete))
    return refuseLine(
      "/data/is_deleted",
      "type",
      "must be boolean, of a document with soft_delete",
    );
  const changedAt = dateAt(changed, "/data/last_update_at");
  const createdAt = dateAt(created, "/data/created_at") ?? changedAt ?? new Date(now).toISOString();
  const body = bodyOf(spec, given);
  // Revisions are of documents that are there, deleted or not.
  if (spec.history !== 0) naming.note(historyOf(spec), keyOfDocument(spec, tenant, id));
  if (!isDeleted) {
    if (spec.referredBy !== undefined) naming.note(setOf(spec), keyOfDocument(spec, tenant, id));
    for (const { path, target, key } of referencesOf(spec, tenant, body))
      naming.expect(setOf(target), key, path);
  }
  const stored: StoredDocument = {
    id,
    rev: revisionAt(rev, "/data/rev"),
    createdAt,
    lastUpdateAt: changedAt ?? createdAt,
    isDeleted,
    ownerId: owner,
    body: JSON.stringify(body),
  };
  return { tenant, stored, said: { created: created !== undefined, changed: changedAt !== null } };
}

/** The body of a line, as it is stored: whole, and held to the document's type. */
function bodyOf(
  spec: AnyDocumentSpec,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  for (const name of ["tenant_id", "owner_id"])
    if (Object.hasOwn(given, name))
      refuseLine(pointer("/data", name), "readOnly", "belongs beside data, not into it");
  const missing = Object.entries(spec.defaults).filter(([name]) => !Object.hasOwn(given, name));
  const whole = missing.length === 0 ? given : { ...given, ...Object.fromEntries(missing) };
  const body = canonicalBody(whole, spec.canonical);
  const faults = [...keyFaults(spec, body), ...(spec.validateBody(body) ?? [])];
  if (faults.length === 0) return body;
  throw refusedLine(faults.map((fault) => ({ ...fault, path: `/data${fault.path}` })));
}

/** What a body refers to. */
function referencesOf(
  spec: AnyDocumentSpec,
  tenant: string,
  body: Readonly<Record<string, unknown>>,
) {
  return Object.entries(spec.references ?? {}).flatMap(([member, targetOf]) => {
    const target = targetOf();
    const path = pointer("/data", member);
    return namesIn(body[member]).map((id, at) => ({
      member,
      path: Array.isArray(body[member]) ? `${path}/${at}` : path,
      target,
      id,
      key: keyOfDocument(target, tenant, id),
    }));
  });
}

/** Adds what isn't there yet, in one transaction; returns how many. */
async function addDocuments(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  lines: readonly DocumentLine[],
  naming: Naming,
): Promise<number> {
  const { tenant, transaction } = context;
  const store = transaction.of(documentStore);
  const wanted = firstOfEach(spec, lines);
  const documents = wanted.map(({ stored }) => stored);
  await holdTargets(spec, context, documents, naming);
  const changes = documents.map((after) => ({ before: null, after }));
  const claims = await claimRanges(spec, context, changes);
  const ids = await store.insertMissing(spec, tenant, documents);
  await expectSame(
    spec,
    context,
    wanted.filter(({ stored }) => !ids.has(stored.id)),
  );
  const added = documents.filter(({ id }) => ids.has(id));
  await checkClaims(
    spec,
    context,
    claims.filter(({ id }) => ids.has(id)),
  );
  // Where the counters come along, they say how far they have come.
  if (!naming.brings(numbersOf(spec))) await raiseCounters(spec, context, added);
  // As after a restore: what is over is not done again.
  for (const stored of added) await moveReminders(spec, context, "restore", stored, null);
  if (added.length > 0) recordCall(context, { imported: spec.name, count: added.length });
  return added.length;
}

/** Lines with the same id once. Throws `core.conflict` if they don't say the same. */
function firstOfEach(
  spec: AnyDocumentSpec,
  lines: readonly DocumentLine[],
): readonly DocumentLine[] {
  const firsts = new Map<string, DocumentLine>();
  for (const line of lines) {
    const first = firsts.get(line.stored.id);
    if (first === undefined) firsts.set(line.stored.id, line);
    else if (canonicalText(spec, first.stored) !== canonicalText(spec, line.stored))
      throw differs(`${spec.name} ${line.stored.id}`);
  }
  return [...firsts.values()];
}

/** Throws `core.conflict` if one of the documents isn't as its line says. */
async function expectSame(
  spec: AnyDocumentSpec,
  { tenant, transaction }: ExecutionContext,
  lines: readonly DocumentLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const ids = lines.map(({ stored }) => stored.id);
  const there = await documentsOf(spec, transaction, tenant, ids);
  const found = new Map(there.map((stored) => [stored.id, stored]));
  for (const { stored, said } of lines) {
    const is = found.get(stored.id);
    if (is === undefined) throw differs(`${spec.name} ${stored.id}`);
    const { createdAt } = said.created ? stored : is;
    const { lastUpdateAt } = said.changed || said.created ? stored : is;
    const dated = { ...stored, createdAt, lastUpdateAt };
    if (lineOf(spec, tenant, dated) !== lineOf(spec, tenant, is))
      throw differs(`${spec.name} ${stored.id}`);
  }
}

/**
 * Holds what live documents refer to. What isn't there is in a line behind: who removes that one
 * meets the documents that refer to it.
 */
async function holdTargets(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  documents: readonly StoredDocument[],
  naming: Naming,
): Promise<void> {
  if (spec.references === undefined) return;
  const { tenant, transaction } = context;
  const references = documents
    .filter(({ isDeleted }) => !isDeleted)
    .flatMap(({ body }) =>
      referencesOf(spec, tenant, JSON.parse(body) as Readonly<Record<string, unknown>>),
    );
  for (const [, named] of groupBy(references, (one) => one.member)) {
    const [first] = named;
    if (first === undefined) continue;
    const ids = [...new Set(named.map(({ id }) => id))];
    const target = first.target.view?.of ?? first.target;
    const held = await transaction.of(documentStore).holdMany(target, tenant, ids);
    const lost = named.find(({ id, key }) => !held.has(id) && !naming.isNoted(setOf(target), key));
    if (lost !== undefined) refuseLine(lost.path, "reference", `${lost.key} isn't there any more`);
  }
}
