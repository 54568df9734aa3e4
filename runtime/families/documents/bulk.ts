// Operations on many documents at once, and on the one that has the same as a payload.
import { fail, toEnvelope } from "../../contract/errors.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import { limits } from "../../contract/limits.js";
import { isUuid } from "../../contract/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import { parseWith, type ExpectedRevision, type ParsedBody } from "../../operations/input.js";
import { JsonText } from "../../operations/json-text.js";
import type { Handler, LookingHandler } from "../../operations/operation.js";
import { pageCost } from "../../operations/query-cost.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type DocumentQuery, type StoredDocument } from "../../ports/documents.js";
import { allOf, type Filter, type SortKey } from "../../query/ast.js";
import { idField } from "../../query/fields.js";
import { invalid, membersOf } from "../../query/list-request.js";
import { parseFilter } from "../../query/parse-filter.js";
import { parseSorts } from "../../query/parse-sorts.js";
import {
  allWritten,
  createMany,
  deleteMany,
  updateMany,
  type Leaving,
  type ItemOutcome,
  type Patching,
} from "./many.js";
import type { VerbHooks } from "./hooked.js";
import { checkPrice } from "./priced.js";
import { callerSight, withSight } from "./reach.js";
import { documentText, withValidators } from "./render.js";
import { readRows } from "./rows.js";
import { narrowQuery } from "./scoped.js";
import { isUniqueBy, upsertDocument } from "./upsert.js";
import { showDocument, showDocuments } from "./visible.js";

/** Items, and whether one that is refused refuses all. */
interface Many<Item> {
  readonly items: readonly Item[];
  readonly atomic: boolean;
}

/** All that a filter finds; of a dry run, how many these are. */
interface Matching {
  readonly filter: Filter;
  readonly sorts: readonly SortKey[];
  readonly withDeleted: false;
  readonly patch: unknown;
  readonly isDry: boolean;
}

interface Upserting {
  readonly by: readonly string[];
  readonly document: unknown;
}

/** What became of many: `{outcomes, done, failed}`. */
export interface BulkAnswer {
  readonly outcomes: readonly object[];
  readonly done: number;
  readonly failed: number;
}

/** How many a filter found, and how many of these were changed. */
export interface MatchedAnswer {
  readonly matched: number;
  readonly done: number;
}

/** Handlers of bulk operations. At most `max` documents are written by one request. */
export const bulk = {
  create:
    (spec: DocumentSpec, ...hooks: readonly VerbHooks[]): Handler<Many<unknown>, BulkAnswer> =>
    async ({ items, atomic }, context) =>
      answerOf(spec, context, await createMany(spec, context, items, hooks), atomic),

  update:
    (spec: DocumentSpec, ...hooks: readonly VerbHooks[]): Handler<Many<Patching>, BulkAnswer> =>
    async ({ items, atomic }, context) =>
      answerOf(spec, context, await updateMany(spec, context, items, hooks), atomic),

  delete:
    (spec: DocumentSpec, ...hooks: readonly VerbHooks[]): Handler<Many<Leaving>, BulkAnswer> =>
    async ({ items, atomic }, context) =>
      answerOf(spec, context, await deleteMany(spec, context, items, hooks), atomic),

  updateWhere: (
    spec: DocumentSpec,
    max: number,
    ...hooks: readonly VerbHooks[]
  ): LookingHandler<Matching, MatchedAnswer> => ({
    look: (given, context) =>
      whereMatching(spec, context, given, max, (rows) =>
        updateMany(
          spec,
          context,
          rows.map(({ id, rev }) => ({ id, rev, patch: given.patch })),
          hooks,
        ),
      ),
  }),

  deleteWhere: (
    spec: DocumentSpec,
    max: number,
    ...hooks: readonly VerbHooks[]
  ): LookingHandler<Matching, MatchedAnswer> => ({
    look: (given, context) =>
      whereMatching(spec, context, given, max, (rows) => deleteMany(spec, context, rows, hooks)),
  }),

  upsert:
    <Document>(
      spec: DocumentSpec<{ document: Document }>,
      ...hooks: readonly VerbHooks[]
    ): Handler<Upserting, { readonly data: Document; readonly created: boolean }> =>
    async ({ by, document }, context) => {
      const contexts = { create: context, update: context };
      const { stored, isNew } = await upsertDocument(spec, contexts, by, document, hooks);
      const seen = await showDocument(spec, context, stored);
      const text = `{"data":${documentText(spec, seen)},"created":${isNew}}`;
      return withValidators(spec, seen, text);
    },
};

/** Bindings of their bodies. Payloads and patches are checked item by item. */
export const bulkInput = {
  create: (max: number): ParsedBody<Many<unknown>> =>
    parseWith((body) => manyOf(body, max, (item) => item)),
  update: (max: number): ParsedBody<Many<Patching>> =>
    parseWith(
      (body) =>
        manyOf(body, max, (item, at) => {
          const { patch, ...rest } = membersOf(item, at, ["id", "rev", "patch"]);
          if (!isObject(patch)) throw invalid(pointer(at, "patch"), "type", "must be object");
          return { ...parseLeaving(rest, at), patch };
        }),
      inOneSpelling,
    ),
  delete: (max: number): ParsedBody<Many<Leaving>> =>
    parseWith(
      (body) =>
        manyOf(body, max, (item, at) => parseLeaving(membersOf(item, at, ["id", "rev"]), at)),
      inOneSpelling,
    ),
  updateWhere: (spec: DocumentSpec): ParsedBody<Matching> =>
    parseWith((body) => {
      const members = membersOf(body, "", ["filters", "patch", "dry_run"]);
      if (!isObject(members["patch"])) throw invalid("/patch", "type", "must be object");
      const faults = spec.validatePatch?.(members["patch"]) ?? null;
      if (faults !== null)
        throw fail("core.validation", {
          errors: faults.map((fault) => ({ ...fault, path: `/patch${fault.path}` })),
        });
      return parseMatching(spec, members);
    }),
  deleteWhere: (spec: DocumentSpec): ParsedBody<Matching> =>
    parseWith((body) => parseMatching(spec, membersOf(body, "", ["filters", "dry_run"]))),
  upsert: (spec: DocumentSpec): ParsedBody<Upserting> =>
    parseWith((body) => {
      const { by, document } = membersOf(body, "", ["by", "document"]);
      const names = Array.isArray(by) ? by.filter((name) => typeof name === "string") : [];
      if (!Array.isArray(by) || names.length !== by.length || !isUniqueBy(spec, names))
        throw invalid("/by", "enum", "must be fields that are unique together");
      return { by: names, document };
    }),
};

/** A body of items that has been read, with their ids as paths have them. */
function inOneSpelling(body: unknown): unknown {
  const { items, ...rest } = body as { readonly items: readonly { readonly id: string }[] };
  return { ...rest, items: items.map((item) => ({ ...item, id: item.id.toLowerCase() })) };
}

function manyOf<Item>(
  body: unknown,
  max: number,
  read: (item: unknown, at: string) => Item,
): Many<Item> {
  const { items, atomic = false } = membersOf(body, "", ["items", "atomic"]);
  if (typeof atomic !== "boolean") throw invalid("/atomic", "type", "must be boolean");
  if (!Array.isArray(items)) throw invalid("/items", "type", "must be array");
  if (items.length === 0) throw invalid("/items", "minItems", "must NOT have fewer than 1 items");
  if (items.length > max)
    throw invalid("/items", "maxItems", `must NOT have more than ${max} items`);
  return { items: items.map((item, at) => read(item, pointer("/items", String(at)))), atomic };
}

function parseLeaving({ id, rev }: Readonly<Record<string, unknown>>, at: string): Leaving {
  if (typeof id !== "string" || !isUuid(id))
    throw invalid(pointer(at, "id"), "format", "must be a UUID");
  if (rev !== undefined && !(Number.isSafeInteger(rev) && Number(rev) >= 1))
    throw invalid(pointer(at, "rev"), "type", "must be an integer from 1");
  const expected: ExpectedRevision = rev === undefined ? "any" : Number(rev);
  return { id: id.toLowerCase(), rev: expected };
}

function parseMatching(spec: DocumentSpec, members: Readonly<Record<string, unknown>>): Matching {
  const { filters, patch, dry_run: isDry = false } = members;
  // A filter that was forgotten is no filter for all.
  if (filters === undefined) throw invalid("/filters", "required", "must be given");
  if (typeof isDry !== "boolean") throw invalid("/dry_run", "type", "must be boolean");
  return {
    filter: parseFilter(filters, spec.fieldSet, "/filters"),
    sorts: parseSorts(undefined, spec.fieldSet, "/sorts"),
    withDeleted: false,
    patch,
    isDry,
  };
}

/**
 * Looks for what a filter finds, and gives what writes it, all or nothing: those that still pass
 * then. Throws `query_too_complex` if there are more than `max`.
 */
async function whereMatching(
  spec: DocumentSpec,
  context: ExecutionContext,
  given: Matching,
  max: number,
  write: (rows: readonly StoredDocument[]) => Promise<readonly ItemOutcome[]>,
): Promise<Handler<Matching, MatchedAnswer>> {
  const query = narrowQuery(spec, context, await withSight(spec, context, given, callerSight));
  const page = { offset: 0, size: max, countUpTo: given.isDry ? Infinity : 0 };
  await checkPrice(spec, context, [query.filter], (ground) => pageCost(ground, query, page));
  if (given.isDry) {
    const store = context.transaction.of(documentStore);
    const matched = await store.count(spec, context.tenant, query);
    return () => ({ matched, done: 0 });
  }
  const found = await atMost(max, spec, context, query);
  const values = found.map(({ id }) => id);
  const isFound: Filter = { kind: "in", field: idField, isNegated: false, values };
  return async () => {
    const still = { ...query, filter: allOf(isFound, query.filter) };
    const rows = values.length === 0 ? [] : await atMost(max, spec, context, still);
    return { matched: rows.length, done: allWritten(await write(rows)).length };
  };
}

/**
 * The rows of a query. Throws `query_too_complex` if there are more than `max`, or than a page
 * may have bytes.
 */
async function atMost(
  max: number,
  spec: DocumentSpec,
  context: ExecutionContext,
  query: DocumentQuery,
): Promise<readonly StoredDocument[]> {
  const { rows, isCut } = await readRows(
    (window) => context.transaction.of(documentStore).select(spec, context.tenant, query, window),
    query.sorts,
    { offset: 0, after: undefined },
    max + 1,
    context.answer,
  );
  if (isCut) throw fail("query_too_complex", { path: "/filters", max_bytes: limits.maxPageBytes });
  if (rows.length > max) throw fail("query_too_complex", { path: "/filters", limit: max });
  return rows;
}

async function answerOf(
  spec: DocumentSpec,
  context: ExecutionContext,
  outcomes: readonly ItemOutcome[],
  isAtomic: boolean,
): Promise<JsonText<BulkAnswer>> {
  if (isAtomic) allWritten(outcomes);
  const rows = outcomes.flatMap((outcome) => ("stored" in outcome ? [outcome.stored] : []));
  const seen = [...(await showDocuments(spec, context, rows))];
  let failed = 0;
  const texts = outcomes.map((outcome) => {
    const document = "stored" in outcome ? seen.shift() : undefined;
    if (document !== undefined) return `{"document":${documentText(spec, document)}}`;
    failed += 1;
    return "error" in outcome ? `{"error":${JSON.stringify(toEnvelope(outcome.error))}}` : "{}";
  });
  const text = `{"outcomes":[${texts.join(",")}],"done":${outcomes.length - failed},"failed":${failed}}`;
  context.answer.grow(text.length);
  return new JsonText(text);
}
