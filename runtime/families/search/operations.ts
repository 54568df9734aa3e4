// The search operations that generated routes name (service.md "Search routes", decisions.md
// "Search").
import { countedRows, cursorRows, hitsText, offsetOf, pageRows } from "../documents/list.js";
import type { Window } from "../../ports/documents.js";
import { checkPrice } from "../documents/priced.js";
import { callerSight, withSight } from "../documents/reach.js";
import { readMany } from "../documents/read-many.js";
import { narrowQuery } from "../documents/scoped.js";
import type { ExecutionContext } from "../../operations/context.js";
import { parseWith, type ParsedBody } from "../../operations/input.js";
import { JsonText } from "../../operations/json-text.js";
import type { Handler } from "../../operations/operation.js";
import { searchCost, type Cost, type Ground } from "../../operations/query-cost.js";
import { highlight } from "./highlight.js";
import { everything } from "../../query/ast.js";
import { phrases, wordCount } from "../../query/match.js";
import {
  searchStore,
  type ScoredDocument,
  type SearchQuery,
  type SearchStore,
} from "../../ports/search.js";
import {
  parseSearchCursor,
  parseSearchPage,
  type SearchCursorRequest,
  type SearchPageRequest,
} from "./request.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { withSpellings, type WordsLike, type WordsSeen } from "./spelling.js";
import { textsAt } from "../../ports/searched-texts.js";

/** What every answer contains besides hits and paging. */
interface Found {
  /** Parallel to the hits. */
  readonly scores: readonly number[];
  readonly facets?: Readonly<
    Record<string, readonly { readonly value: string | number | boolean; readonly count: number }[]>
  >;
  /** Parallel to the hits: fragments by field. */
  readonly highlights?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface SearchPage<Hit> extends Found {
  readonly hits: readonly Hit[];
  readonly page: number;
  readonly size: number;
  /** Null if `search_count` is "none". */
  readonly count: number | null;
}

export interface SearchCursorPage<Hit> extends Found {
  readonly hits: readonly Hit[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_more: boolean;
  readonly count: number | null;
}

/** What a search has found. */
interface Matches {
  readonly rows: readonly ScoredDocument[];
  readonly count: number | null;
}

/** Handlers of the search family. */
export const search = {
  typed:
    <Hit>(spec: SearchSpec<Hit>): Handler<SearchPageRequest, SearchPage<Hit>> =>
    (request, context) =>
      searchPage(spec, context, request),

  raw:
    <Document>(
      spec: SearchSpec<Document>,
    ): Handler<SearchPageRequest, SearchPage<Partial<Document>>> =>
    (request, context) =>
      searchPage(spec, context, request),

  typedCursor:
    <Document>(
      spec: SearchSpec<Document>,
    ): Handler<SearchCursorRequest, SearchCursorPage<Document>> =>
    (request, context) =>
      searchByCursor(spec, context, request),

  rawCursor:
    <Document>(
      spec: SearchSpec<Document>,
    ): Handler<SearchCursorRequest, SearchCursorPage<Partial<Document>>> =>
    (request, context) =>
      searchByCursor(spec, context, request),
};

/** Input bindings of the search routes, which parse and check the body. */
export const searchInput = {
  typed: (spec: SearchSpec): ParsedBody<SearchPageRequest> =>
    parseWith((body) => parseSearchPage(body, spec, false)),
  raw: (spec: SearchSpec): ParsedBody<SearchPageRequest> =>
    parseWith((body) => parseSearchPage(body, spec, true)),
  typedCursor: (spec: SearchSpec): ParsedBody<SearchCursorRequest> =>
    parseWith((body) => parseSearchCursor(body, spec, false)),
  rawCursor: (spec: SearchSpec): ParsedBody<SearchCursorRequest> =>
    parseWith((body) => parseSearchCursor(body, spec, true)),
};

async function searchPage<Page>(
  spec: SearchSpec,
  context: ExecutionContext,
  asked: SearchPageRequest,
): Promise<JsonText<Page>> {
  const seen = await withSight(spec.document, context, asked, callerSight);
  await checkPrice(spec.document, context, [seen.filter], (ground) =>
    costOf(spec, ground, seen, offsetOf(context, seen)),
  );
  const request = narrowQuery(spec.document, context, await spelt(spec, context, seen));
  const { rows, count } = await pageOf(spec, context, request);
  const { page, size } = request;
  const hits = await hitsText(spec.document, context, request, rows, callerSight);
  const rest = await restOf(spec, context, request, { rows, count });
  return new JsonText(`{"hits":${hits},"page":${page},"size":${size},${rest}}`);
}

async function searchByCursor<Page>(
  spec: SearchSpec,
  context: ExecutionContext,
  asked: SearchCursorRequest,
): Promise<JsonText<Page>> {
  // The cursor is bound to the request without other spellings, since those may change from page to
  // page.
  const seen = await withSight(spec.document, context, asked, callerSight);
  await checkPrice(spec.document, context, [seen.filter], (ground) =>
    costOf(spec, ground, seen, 0),
  );
  const request = narrowQuery(spec.document, context, seen);
  const respelt = await spelt(spec, context, request);
  const select = makeSelect(spec, context);
  const { rows, cursors } = await cursorRows(context, request, (query, window) =>
    select({ ...query, match: respelt.match }, window),
  );
  const hits = await hitsText(spec.document, context, request, rows, callerSight);
  const count =
    request.counts === "none"
      ? null
      : await storeOf(spec, context).count(spec, context.tenant, respelt);
  const rest = await restOf(spec, context, respelt, { rows, count });
  return new JsonText(`{"hits":${hits},${cursors},${rest}}`);
}

/** Where a search is asked for a caller. */
export function storeOf({ document }: SearchSpec, context: ExecutionContext): SearchStore {
  return readMany(document, context, callerSight).of(searchStore);
}

/** The rows of a numbered page, and how many there are; null if that isn't asked for. */
async function pageOf(
  spec: SearchSpec,
  context: ExecutionContext,
  request: SearchPageRequest,
): Promise<Matches> {
  const store = storeOf(spec, context);
  const select = (window: Window) => store.select(spec, context.tenant, request, window);
  if (request.counts === "none")
    return { rows: await pageRows(context, request, select), count: null };
  return countedRows(context, request, {
    select,
    countedPage: (window) => store.countedPage(spec, context.tenant, request, window),
    upTo: Number.POSITIVE_INFINITY,
  });
}

/** What a search costs the caller, who does not pay for the filter that a scope adds. */
export function costOf(
  spec: SearchSpec,
  ground: Ground,
  request: SearchPageRequest | SearchCursorRequest,
  offset: number,
): Cost {
  const { match, weights, isFuzzy, facets, counts, size } = request;
  return searchCost(ground, request, {
    words: match === null ? null : wordCount(match),
    // With a language, the stems of each field are searched, too.
    fields: Object.keys(weights).length * (spec.language === undefined ? 1 : 2),
    isFuzzy,
    facets: facets.length,
    isCounted: counts !== "none",
    offset,
    size,
  });
}

/**
 * Adds other spellings, from documents within the scope, to a request that asks for them. Throws
 * `query_too_complex` if there are too many.
 */
export async function spelt<Request extends SearchPageRequest | SearchCursorRequest>(
  spec: SearchSpec,
  context: ExecutionContext,
  request: Request,
): Promise<Request> {
  const { match, isFuzzy } = request;
  if (match === null || !isFuzzy) return request;
  const { tenant } = context;
  const store = storeOf(spec, context);
  // Of the request's own conditions none counts: what is found by them must not change how it is
  // scored.
  const seen = narrowQuery(spec.document, context, {
    filter: everything,
    sorts: [],
    withDeleted: false,
  });
  const wordsLike: WordsLike = (word, edits) => store.wordsLike(spec, tenant, word, edits);
  const wordsSeen: WordsSeen = (words) => store.wordsWithin(spec, tenant, seen, words);
  const respelt = await withSpellings(match, spec.language ?? null, wordsLike, wordsSeen);
  return { ...request, match: respelt };
}

export function makeSelect(spec: SearchSpec, context: ExecutionContext) {
  const store = storeOf(spec, context);
  return (query: SearchQuery, window: Window) => store.select(spec, context.tenant, query, window);
}

/** The members of an answer besides hits and paging, as JSON without the braces. */
async function restOf(
  spec: SearchSpec,
  context: ExecutionContext,
  request: SearchPageRequest | SearchCursorRequest,
  { rows, count }: Matches,
): Promise<string> {
  const store = storeOf(spec, context);
  const { facets, facetSize } = request;
  const members: Record<string, unknown> = { count, scores: rows.map(({ score }) => score) };
  if (facets.length > 0) {
    const values: Record<string, unknown> = {};
    for (const field of facets)
      values[field.path] = await store.facet(spec, context.tenant, request, field, facetSize);
    members["facets"] = values;
  }
  if (request.highlight !== null) members["highlights"] = highlightsOf(spec, request, rows);
  return JSON.stringify(members).slice(1, -1);
}

export function highlightsOf(
  spec: SearchSpec,
  { highlight: options, match }: SearchPageRequest | SearchCursorRequest,
  rows: readonly ScoredDocument[],
): readonly object[] {
  const wanted = match === null ? [] : phrases(match);
  const language = spec.language ?? null;
  return rows.map(({ body }) => {
    const document: unknown = JSON.parse(body);
    const fields = (options?.fields ?? []).map((path) => {
      const fragments = textsAt(document, path).flatMap((text) =>
        options === null ? [] : highlight(text, wanted, language, options),
      );
      return [path, fragments.slice(0, options?.maxFragments)] as const;
    });
    return Object.fromEntries(fields.filter(([, fragments]) => fragments.length > 0));
  });
}
