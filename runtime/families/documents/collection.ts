// Documents for author handlers: typed, inside the running transaction and the scope of the
// invocation.
import { within } from "./access.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { heldApi } from "../../operations/held-api.js";
import { allOf, type Filter } from "../../query/ast.js";
import {
  parseCursorRequest,
  parsePageRequest,
  readListQuery,
  type ListRules,
} from "../../query/list-request.js";
import { ownerField } from "../../query/fields.js";
import { parseAggregateRequest } from "../../query/parse-aggregate.js";
import type { DocumentQuery, StoredDocument } from "../../ports/documents.js";
import { aggregatePage, type AggregatePage } from "./aggregate.js";
import { parseExpand } from "../../query/parse-expand.js";
import { expandedTexts } from "./expand.js";
import { findExisting } from "./write.js";
import { listByCursor, listPage } from "./list.js";
import { readDocumentId } from "./named.js";
import type { CursorPage, Page } from "./pages.js";
import { pastOf, type Past } from "./past.js";
import { handlerSight, withSight } from "./reach.js";
import { lockDocument } from "./locked.js";
import { readDocument, narrowQuery } from "./scoped.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import { writesOf, type Writes } from "./writes.js";
import { documentStore } from "../../ports/documents.js";

/** A filter of handlers, who may ask for documents by the principals that own them. */
export type HandlerFilter<Filter> = Filter extends { readonly $values?: infer Values }
  ? Omit<Filter, "$values"> & {
      readonly $values?: NonNullable<Values> & {
        readonly owner_id?: string | readonly string[] | null;
      };
    }
  : Filter;

/**
 * What a query takes: filters and sorts as the types `<Name>Filter` and `<Name>Sorts` of the
 * generated code have them.
 */
export interface FindQuery<Filter = object, Sorts = object> {
  readonly filters?: HandlerFilter<Filter>;
  readonly sorts?: Sorts;
  /** true finds only the caller's own documents. */
  readonly own?: boolean;
  /** true finds deleted ones as well, of documents with `soft_delete`. */
  readonly with_deleted?: boolean;
  /** Documents at most. */
  readonly size?: number;
  /**
   * Documents that are passed over, as far as the deployment's read limit; they are read all the
   * same.
   */
  readonly offset?: number;
  /** Members whose documents come along, as the member `expanded`. */
  readonly expand?: readonly string[];
}

/** What groups are made of, as the body of `agg_list` has it. */
export interface AggregateQuery<Filter = object> {
  readonly filters?: HandlerFilter<Filter>;
  readonly aggregates: object;
  readonly sorts?: object;
  /** true groups only the caller's own documents. */
  readonly own?: boolean;
  /** true groups deleted ones as well, of documents with `soft_delete`. */
  readonly with_deleted?: boolean;
  readonly page?: number;
  readonly size?: number;
}

/** Typed access to documents for author handlers, inside the running transaction. */
export interface Collection<
  Document,
  Create,
  Patch,
  Filter = object,
  Sorts = object,
  Expanded = Document,
>
  extends Past<Document>, Writes<Document, Create, Patch> {
  /**
   * The live document, or a deleted one `with_deleted`. With `lock`, it waits until nobody else
   * changes the document, and nobody does until the transaction ends. Throws `core.not_found`.
   */
  get(
    id: string,
    options?: Pick<FindQuery, "expand" | "with_deleted"> & { readonly lock?: boolean },
  ): Promise<Expanded>;
  /**
   * The live documents that a filter finds, in order of the sorts, as the query language has both.
   * Without a size they are as many as the deployment's read limit: where there are more, throws
   * `query_too_complex`.
   */
  find(query?: FindQuery<Filter, Sorts>): Promise<readonly Expanded[]>;
  /** The first that `find` would give, or null. */
  first(query?: Omit<FindQuery<Filter, Sorts>, "size" | "offset">): Promise<Expanded | null>;
  /** Whether a filter finds any. */
  exists(query?: Pick<FindQuery<Filter>, "filters" | "own" | "with_deleted">): Promise<boolean>;
  /** How many live documents a filter finds; all where there is none. */
  count(query?: Pick<FindQuery<Filter>, "filters" | "own" | "with_deleted">): Promise<number>;
  /** A page by number, counted from 1, with how many there are in all. */
  page(
    query?: Omit<FindQuery<Filter, Sorts>, "offset"> & { readonly page?: number },
  ): Promise<Page<Expanded>>;
  /** A page by cursor: the first, or the one beside a cursor that a page of the same query gave. */
  cursor(
    query?: Omit<FindQuery<Filter, Sorts>, "offset"> & {
      readonly after?: string;
      readonly before?: string;
    },
  ): Promise<CursorPage<Expanded>>;
  /** Groups of documents, and the values computed over each. */
  aggregate(query: AggregateQuery<Filter>): Promise<AggregatePage>;
}

/** The documents of a spec as this invocation may see them. */
export function collection<Document, Create, Patch, Filter, Sorts, Expanded>(
  spec: DocumentSpec<{
    document: Document;
    create: Create;
    patch: Patch;
    filter: Filter;
    sorts: Sorts;
    expanded: Expanded;
  }>,
  context: ExecutionContext,
): Collection<Document, Create, Patch, Filter, Sorts, Expanded> {
  const rules = rulesOf(spec);
  const reading = (): Promise<ExecutionContext> => within(spec, context, "get");
  const expanded = async (
    seen: ExecutionContext,
    rows: readonly StoredDocument[],
    expand?: readonly string[],
  ) => {
    const expansion = parseExpand(expand, spec.scopeFields, "/expand");
    const texts = await expandedTexts(spec, seen, rows, expansion, handlerSight);
    return texts.map((text) => JSON.parse(text) as Expanded);
  };
  const find = async (query: FindQuery<unknown, unknown> = {}) => {
    const seen = await reading();
    return expanded(seen, await findRows(spec, seen, query), query.expand);
  };
  const count = async (query: FindQuery<unknown, unknown> = {}): Promise<number> => {
    const asked = await selectScoped(spec, await reading(), query);
    return context.transaction.of(documentStore).count(spec, context.tenant, asked);
  };
  const held: Collection<Document, Create, Patch, Filter, Sorts, Expanded> = {
    ...pastOf(spec, context),
    ...writesOf<Document, Create, Patch>(spec, context),
    find,
    count,
    async get(id, { expand, lock = false, with_deleted: withDeleted = false } = {}) {
      const seen = await reading();
      const known = readDocumentId(id);
      if (lock) await lockDocument(spec, context, known);
      const stored = await (withDeleted ? findExisting : readDocument)(spec, seen, known);
      const [found] = await expanded(seen, [stored], expand);
      if (found === undefined) throw fail("core.not_found");
      return found;
    },
    first: async (query) => (await find({ ...query, size: 1 }))[0] ?? null,
    exists: async (query) =>
      (await findRows(spec, await reading(), { ...query, size: 1 })).length > 0,
    async page({ own, ...query } = {}) {
      const request = parsePageRequest(withoutUndefined(query), rules);
      const page = narrowToOwn(context, own, request);
      return (await listPage<Page<Expanded>>(spec, await reading(), page, handlerSight)).parse();
    },
    async cursor({ own, ...query } = {}) {
      const request = parseCursorRequest(withoutUndefined(query), rules);
      const page = narrowToOwn(context, own, request);
      const seen = await reading();
      return (await listByCursor<CursorPage<Expanded>>(spec, seen, page, handlerSight)).parse();
    },
    async aggregate({ own, ...query }) {
      const request = parseAggregateRequest(withoutUndefined(query), rules);
      return aggregatePage(spec, await reading(), narrowToOwn(context, own, request), handlerSight);
    },
  };
  return heldApi(context, `collection(${spec.name})`, held, { inTurn: true });
}

function withoutUndefined(query: object): object {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

/** The query, narrowed to the caller's own documents if the options say so. */
function narrowToOwn<Query extends DocumentQuery>(
  { identity }: ExecutionContext,
  own: boolean | undefined,
  query: Query,
): Query {
  if (own !== true) {
    if (own !== undefined && own !== false) throw new TypeError("own must be true or false");
    return query;
  }
  const principalId = identity?.principalId;
  const mine: Filter =
    principalId === undefined
      ? { kind: "any", filters: [] }
      : { kind: "compare", field: ownerField, operator: "$eq", value: principalId };
  return { ...query, filter: allOf(query.filter, mine) };
}

/** What handlers may ask: by their owners as well, and of those that are deleted. */
function rulesOf({ scopeFields, softDelete }: DocumentSpec): ListRules {
  return { fields: scopeFields, mayListDeleted: softDelete, isRaw: false };
}

/** The query of a filter and sorts, within the scope of the invocation. */
async function selectScoped(
  spec: DocumentSpec,
  context: ExecutionContext,
  { filters, sorts, own, with_deleted: withDeleted }: FindQuery<unknown, unknown>,
): Promise<DocumentQuery> {
  if (withDeleted === true && !spec.softDelete)
    throw new TypeError(`${spec.name} has no soft_delete`);
  const query = readListQuery({ filters, sorts, with_deleted: withDeleted }, rulesOf(spec));
  const seen = await withSight(spec, context, query, handlerSight);
  return narrowQuery(spec, context, narrowToOwn(context, own, seen));
}

async function findRows(
  spec: DocumentSpec,
  context: ExecutionContext,
  given: FindQuery<unknown, unknown>,
): Promise<readonly StoredDocument[]> {
  const query = await selectScoped(spec, context, given);
  const { size, offset = 0 } = given;
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 1))
    throw new TypeError("size must be an integer from 1");
  if (!(Number.isSafeInteger(offset) && offset >= 0))
    throw new TypeError("offset must be an integer from 0");
  const most = context.resources.readLimits.documents ?? Number.MAX_SAFE_INTEGER - 1;
  if (offset > most) throw fail("query_too_complex", { limit: most });
  // One more tells that there are more than may be read.
  const window = { limit: size ?? most + 1, offset, after: undefined };
  const rows = await context.transaction
    .of(documentStore)
    .select(spec, context.tenant, query, window);
  if (size === undefined && rows.length > most) throw fail("query_too_complex", { limit: most });
  return rows;
}
