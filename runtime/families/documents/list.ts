// Lists of documents by page and by cursor, whole or projected (decisions.md "Documents").
import { valueAt } from "../../contract/json-pointer.js";
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import type { ExecutionContext } from "../../operations/context.js";
import { JsonText } from "../../operations/json-text.js";
import type { SortKey } from "../../query/ast.js";
import { pageCost } from "../../operations/query-cost.js";
import { cursorBinding, decodeCursor, encodeCursor } from "../../operations/cursor.js";
import {
  invalid,
  type CursorRequest,
  type ListQuery,
  type PageRequest,
} from "../../query/list-request.js";
import type { PageWindow, StoredDocument, Window } from "../../ports/documents.js";
import type { CountedPage } from "../../ports/pages.js";
import { checkPrice } from "./priced.js";
import { expandedTexts } from "./expand.js";
import { withSight, type Sight } from "./reach.js";
import { readMany } from "./read-many.js";
import { documentText } from "./render.js";
import { positionOf, readRows } from "./rows.js";
import { narrowQuery } from "./scoped.js";
import { showDocuments } from "./visible.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";

/** A page by number: `{hits, page, size, count}`. */
export async function listPage<Page>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  asked: PageRequest,
  sight: Sight,
): Promise<JsonText<Page>> {
  const request = narrowQuery(spec, context, await withSight(spec, context, asked, sight));
  const documents = readMany(spec, context, sight).of(documentStore);
  const countUpTo = Math.min(asked.countUpTo ?? Infinity, spec.countUpTo ?? Infinity);
  const window = { offset: offsetOf(context, request), size: request.size, countUpTo };
  await checkPrice(spec, context, [request.filter], (ground) => pageCost(ground, request, window));
  const { rows, count } = await countedRows(context, request, {
    select: (window) => documents.select(spec, context.tenant, request, window),
    countedPage: (window) =>
      documents.countedPage(spec, context.tenant, request, window, countUpTo),
    upTo: countUpTo,
  });
  const { page, size } = request;
  const hits = await hitsText(spec, context, request, rows, sight);
  return new JsonText(`{"hits":${hits},"page":${page},"size":${size},"count":${count}}`);
}

/** A page by cursor: `{hits, next_cursor, prev_cursor, has_more}`. */
export async function listByCursor<Page>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  asked: CursorRequest,
  sight: Sight,
): Promise<JsonText<Page>> {
  const request = narrowQuery(spec, context, await withSight(spec, context, asked, sight));
  const window = { offset: 0, size: request.size, countUpTo: 0 };
  await checkPrice(spec, context, [request.filter], (ground) => pageCost(ground, request, window));
  const documents = readMany(spec, context, sight).of(documentStore);
  const { rows, cursors } = await cursorRows(context, request, (query, part) =>
    documents.select(spec, context.tenant, query, part),
  );
  const hits = await hitsText(spec, context, request, rows, sight);
  return new JsonText(`{"hits":${hits},${cursors}}`);
}

/**
 * The rows of a numbered page. Throws `query_too_complex` if they exceed the budget of a page,
 * `core.validation` if the page is beyond the ceiling.
 */
export async function pageRows<Row extends StoredDocument>(
  context: ExecutionContext,
  request: PageRequest,
  select: (window: Window) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { size, sorts } = request;
  const start = { offset: offsetOf(context, request), after: undefined };
  const { rows, isCut } = await readRows(select, sorts, start, size, context.answer);
  if (isCut) throw fail("query_too_complex", { path: "/size", max_bytes: limits.maxPageBytes });
  return rows;
}

/** How the portions of a numbered page are read. */
interface PageReading<Row> {
  readonly select: (window: Window) => Promise<readonly Row[]>;
  /** The first portion, which counts. */
  readonly countedPage: (window: PageWindow) => Promise<CountedPage<Row>>;
  /** Where counting ends. */
  readonly upTo: number;
}

/** The rows of a numbered page, and how many there are. Throws as `pageRows` does. */
export async function countedRows<Row extends StoredDocument>(
  context: ExecutionContext,
  request: PageRequest,
  { select, countedPage, upTo }: PageReading<Row>,
): Promise<CountedPage<Row>> {
  let count: number | undefined;
  let hasMore = false;
  const rows = await pageRows(context, request, async (window) => {
    hasMore = count !== undefined;
    if (hasMore) return select(window);
    const first = await countedPage(window);
    ({ count } = first);
    return first.rows;
  });
  if (!hasMore) return { rows, count: count ?? 0 };
  // The portions behind it were read later, and what was counted must not contradict them.
  const end = offsetOf(context, request) + rows.length;
  const isLast = rows.length < request.size;
  return { rows, count: Math.min(isLast ? end : Math.max(count ?? 0, end), upTo) };
}

/**
 * The rows before a numbered page. Throws `core.validation` if the page is beyond the ceiling of
 * the deployment.
 */
export function offsetOf(context: ExecutionContext, { page, size }: PageRequest): number {
  const { pages } = context.resources.readLimits;
  if (pages !== null && page > pages) throw invalid("/page", "maximum", `must be <= ${pages}`);
  return (page - 1) * size;
}

/**
 * The rows of a page by cursor, and its members `next_cursor`, `prev_cursor` and `has_more` as
 * JSON. `has_more` tells of the direction that was asked for. Rows that exist during the whole walk
 * are seen exactly once, whatever is written meanwhile.
 */
export async function cursorRows<Row extends StoredDocument, Request extends CursorRequest>(
  context: ExecutionContext,
  request: Request,
  select: (query: Request, window: Window) => Promise<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly cursors: string }> {
  const binding = cursorBinding(context, request);
  const isBackward = request.cursor?.direction === "before";
  const after =
    request.cursor === undefined ? undefined : decodeCursor(context, binding, request.cursor.text);
  const sorts = isBackward ? request.sorts.map(reverseSort) : request.sorts;
  const start = { offset: 0, after };
  const query = { ...request, sorts };
  const read = (window: Window): Promise<readonly Row[]> => select(query, window);
  const found = await readRows(read, sorts, start, request.size + 1, context.answer);
  const hasMore = found.isCut || found.rows.length > request.size;
  const kept = found.rows.slice(0, request.size);
  const rows = isBackward ? kept.toReversed() : kept;
  const cursorOf = (row: Row | undefined): string =>
    row === undefined
      ? "null"
      : `"${encodeCursor(context, binding, positionOf(row, request.sorts))}"`;
  const hasNext = isBackward || hasMore;
  const hasPrevious = isBackward ? hasMore : request.cursor !== undefined;
  const cursors =
    `"next_cursor":${hasNext ? cursorOf(rows.at(-1)) : "null"},` +
    `"prev_cursor":${hasPrevious ? cursorOf(rows[0]) : "null"},"has_more":${hasMore}`;
  return { rows, cursors };
}

/** The hits of a page as JSON, whole or projected, with their expansions. */
export async function hitsText(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  { returnFields, expand }: ListQuery,
  rows: readonly StoredDocument[],
  sight: Sight,
): Promise<string> {
  const texts =
    returnFields === undefined
      ? await expandedTexts(spec, context, rows, expand, sight)
      : (await showDocuments(spec, context, rows)).map((seen) =>
          JSON.stringify(project(JSON.parse(documentText(spec, seen)), returnFields)),
        );
  return `[${texts.join(",")}]`;
}

/**
 * The members at the given dotted paths, nested as they were. A path that is absent is left out.
 */
export function project(
  value: unknown,
  paths: readonly string[],
): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const path of paths) {
    const steps = path.split(".");
    const found = valueAt(value, steps);
    if (found === undefined) continue;
    let target = result;
    for (const step of steps.slice(0, -1)) {
      const inner = target[step];
      const object = typeof inner === "object" && inner !== null ? { ...inner } : {};
      target[step] = object;
      target = object as Record<string, unknown>;
    }
    target[steps.at(-1) ?? ""] = found;
  }
  return result;
}

function reverseSort(key: SortKey): SortKey {
  return {
    ...key,
    direction: key.direction === "asc" ? "desc" : "asc",
    nulls: key.nulls === "first" ? "last" : "first",
  };
}
