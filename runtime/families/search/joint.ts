// A search over others: the best hits of all in one ranking, each as far as the caller may read its
// document (decisions.md "Search").
import { ServiceError } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import type { ExecutionContext } from "../../operations/context.js";
import { cursorBinding, decodeCursor, encodeCursor } from "../../operations/cursor.js";
import { parseWith, type ParsedBody } from "../../operations/input.js";
import { JsonText } from "../../operations/json-text.js";
import type { Handler } from "../../operations/operation.js";
import type { JointPart, JointSearchSpec } from "../../ports/search-spec.js";
import { scoreField, type ScoredDocument } from "../../ports/search.js";
import type { Filter, Position, SortKey } from "../../query/ast.js";
import { idField } from "../../query/fields.js";
import { checkPrice } from "../documents/priced.js";
import { callerSight, sightBy, withSight } from "../documents/reach.js";
import { documentText } from "../documents/render.js";
import { readRows } from "../documents/rows.js";
import { narrowQuery } from "../documents/scoped.js";
import { showDocuments, type SeenDocument } from "../documents/visible.js";
import { parseJoint, type JointRequest } from "./joint-request.js";
import { costOf, highlightsOf, makeSelect, spelt, storeOf } from "./operations.js";
import type { SearchCursorRequest } from "./request.js";

/** A hit of a search over others. */
interface JointHit {
  /** The name of its document's type. */
  readonly kind: string;
  readonly score: number;
  readonly document: unknown;
  /** Fragments by field, where they are asked for. */
  readonly highlights?: Readonly<Record<string, readonly string[]>>;
}

/** The best hits of searches that are asked together. */
export interface JointPage {
  readonly hits: readonly JointHit[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
  /** How many match, by kind; empty if they are not counted. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The input of `find`. */
export function jointInput(spec: JointSearchSpec): ParsedBody<JointRequest> {
  return parseWith((body) => parseJoint(body, spec));
}

/** The handler of `find`. */
export function jointSearch(spec: JointSearchSpec): Handler<JointRequest, JointPage> {
  return (request, context) => findTogether(spec, context, request);
}

/** One of the searches, as the caller may ask it. */
interface Asked {
  /** Its place among the searches. */
  readonly at: number;
  readonly part: JointPart;
  readonly request: SearchCursorRequest;
  readonly context: ExecutionContext;
}

interface Hit {
  readonly asked: Asked;
  readonly row: ScoredDocument;
}

/** Where a page ends: the score of its last hit, its search, and its id. */
interface Place {
  readonly score: number;
  readonly at: number;
  readonly id: string;
}

const sorts: readonly SortKey[] = [
  { field: scoreField, direction: "desc", nulls: "last" },
  { field: idField, direction: "asc", nulls: "first" },
];

async function findTogether(
  spec: JointSearchSpec,
  context: ExecutionContext,
  { parts, size, cursor }: JointRequest,
): Promise<JsonText<JointPage>> {
  const names = spec.over.map(({ search }) => search.document.name);
  // A cursor says where a search stands among the others.
  const binding = cursorBinding(context, { names, parts });
  const place = cursor === undefined ? null : placeOf(decodeCursor(context, binding, cursor));
  const all = await askable(spec, context, parts);
  const found: Hit[] = [];
  // What a portion has left out may be better than hits of other searches.
  const ends: Hit[] = [];
  for (const asked of all) {
    const { search } = asked.part;
    const start = { offset: 0, after: positionFor(place, asked.at) };
    const select = makeSelect(search, asked.context);
    const { rows, isCut } = await readRows(
      (window) => select(asked.request, window),
      sorts,
      start,
      size + 1,
      context.answer,
    );
    const hits = rows.map((row) => ({ asked, row }));
    found.push(...hits);
    const last = hits.at(-1);
    if (isCut && last !== undefined) ends.push(last);
  }
  const ranked = found.sort(compare).filter((hit) => ends.every((end) => compare(hit, end) <= 0));
  const kept = withinPage(ranked.slice(0, size));
  const hasMore = ends.length > 0 || kept.length < ranked.length;
  const last = kept.at(-1);
  const next =
    hasMore && last !== undefined
      ? encodeCursor(context, binding, [last.row.score, last.asked.at, last.row.id])
      : null;
  const hits = `[${(await hitTexts(kept)).join(",")}]`;
  const paging = `"next_cursor":${JSON.stringify(next)},"has_more":${hasMore}`;
  return new JsonText(`{"hits":${hits},${paging},"counts":${JSON.stringify(await countsOf(all))}}`);
}

/**
 * The searches that the caller may ask, narrowed to what they may read. Throws the last refusal if
 * that is none of those that were asked for.
 */
async function askable(
  { over }: JointSearchSpec,
  context: ExecutionContext,
  parts: JointRequest["parts"],
): Promise<readonly Asked[]> {
  const all: Asked[] = [];
  let refusal: unknown;
  for (const [at, part] of over.entries()) {
    const request = parts[at] ?? null;
    if (request === null) continue;
    let scope: Filter;
    try {
      scope = await sightBy(part.reading(), part.search.document, context);
    } catch (error) {
      if (!(error instanceof ServiceError) || ![401, 403].includes(error.status)) throw error;
      refusal = error;
      continue;
    }
    const within = context.scopedTo(part.search.document.name, scope);
    all.push({ at, part, context: within, request: await narrow(part, within, request) });
  }
  if (all.length === 0 && refusal !== undefined) throw refusal;
  return all;
}

async function narrow(
  { search }: JointPart,
  context: ExecutionContext,
  request: SearchCursorRequest,
): Promise<SearchCursorRequest> {
  const { document } = search;
  const seen = await withSight(document, context, request, callerSight);
  await checkPrice(document, context, [seen.filter], (ground) => costOf(search, ground, seen, 0));
  return spelt(search, context, narrowQuery(document, context, { ...seen, sorts }));
}

/** Better hits first, and equally good ones in the order of the searches. */
function compare(left: Hit, right: Hit): number {
  return (
    right.row.score - left.row.score ||
    left.asked.at - right.asked.at ||
    (left.row.id < right.row.id ? -1 : left.row.id > right.row.id ? 1 : 0)
  );
}

function placeOf([score, at, id]: Position): Place {
  return { score: Number(score), at: Number(at), id: String(id) };
}

const leastId = "00000000-0000-0000-0000-000000000000";
const greatestId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Where a search goes on behind a place: with equally good hits, or only with lesser ones. */
function positionFor(place: Place | null, at: number): Position | undefined {
  if (place === null) return undefined;
  const id = at === place.at ? place.id : at > place.at ? leastId : greatestId;
  return [place.score, id];
}

/** The first hits, no more bytes than a page may have; one at least. */
function withinPage(hits: readonly Hit[]): readonly Hit[] {
  let bytes = 0;
  const end = hits.findIndex(({ row }, at) => {
    bytes += row.body.length;
    return bytes > limits.maxPageBytes && at > 0;
  });
  return end < 0 ? hits : hits.slice(0, end);
}

/** Hits as the caller sees them, in their order. */
async function hitTexts(hits: readonly Hit[]): Promise<readonly string[]> {
  const seen = new Map<Hit, SeenDocument>();
  for (const asked of new Set(hits.map((hit) => hit.asked))) {
    const of = hits.filter((hit) => hit.asked === asked);
    const rows = of.map(({ row }) => row);
    const shown = await showDocuments(asked.part.search.document, asked.context, rows);
    for (const [at, hit] of of.entries()) {
      const one = shown[at];
      if (one !== undefined) seen.set(hit, one);
    }
  }
  return hits.flatMap((hit) => {
    const one = seen.get(hit);
    return one === undefined ? [] : [hitText(hit, one)];
  });
}

function hitText({ asked: { part, request }, row }: Hit, seen: SeenDocument): string {
  const { search } = part;
  const kind = JSON.stringify(search.document.name);
  const document = documentText(search.document, seen);
  const [shown] = request.highlight === null ? [] : highlightsOf(search, request, [row]);
  const highlights = shown === undefined ? "" : `,"highlights":${JSON.stringify(shown)}`;
  return `{"kind":${kind},"score":${row.score},"document":${document}${highlights}}`;
}

async function countsOf(all: readonly Asked[]): Promise<JointPage["counts"]> {
  const counts: Record<string, number> = {};
  for (const { part, request, context } of all) {
    if (request.counts === "none") continue;
    const store = storeOf(part.search, context);
    counts[part.search.document.name] = await store.count(part.search, context.tenant, request);
  }
  return counts;
}
