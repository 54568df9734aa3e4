// Parses the bodies of search requests: query, filters, sorts, options, paging (decisions.md
// "Search").
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import type { FieldReference } from "../../query/fields.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import {
  integerAt,
  invalid,
  membersOf,
  readListQuery,
  readPaging,
} from "../../query/list-request.js";
import type { CursorRequest, PageRequest } from "../../query/list-request.js";
import type { HighlightOptions } from "./highlight.js";
import { parseMatch, wordCount } from "../../query/match.js";
import { scoreField, type SearchQuery } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";

interface SearchOptions {
  /** Whether words also match with typing errors. */
  readonly isFuzzy: boolean;
  readonly counts: "exact" | "none";
  readonly facets: readonly FieldReference[];
  readonly facetSize: number;
  /** What to highlight and how; null for nothing. */
  readonly highlight: (HighlightOptions & { readonly fields: readonly string[] }) | null;
}

export type SearchPageRequest = PageRequest & SearchQuery & SearchOptions;
export type SearchCursorRequest = CursorRequest & SearchQuery & SearchOptions;

/**
 * Reads a body of `typed` or `raw`. Throws `core.validation`, `field_not_queryable` or
 * `query_too_complex`.
 */
export function parseSearchPage(
  body: unknown,
  spec: SearchSpec,
  isRaw: boolean,
): SearchPageRequest {
  const members = read(body, ["page"], isRaw);
  const page = readPaging(members, "page");
  return { ...common(members, spec, isRaw), page };
}

/** Reads a body of `typed_cursor` or `raw_cursor`. Throws as `parseSearchPage` does. */
export function parseSearchCursor(
  body: unknown,
  spec: SearchSpec,
  isRaw: boolean,
): SearchCursorRequest {
  const members = read(body, ["after", "before"], isRaw);
  const cursor = readPaging(members, "cursor");
  return { ...common(members, spec, isRaw), cursor };
}

type Members = Readonly<Record<string, unknown>>;

function read(body: unknown, paging: readonly string[], isRaw: boolean): Members {
  const known = [...paging, "size", "query", "filters", "sorts", "options"];
  return membersOf(body, "", [...known, isRaw ? "return_fields" : "expand"]);
}

function common(members: Members, spec: SearchSpec, isRaw: boolean) {
  const fields = spec.document.fieldSet;
  const list = readListQuery(members, { fields, mayListDeleted: false, isRaw });
  const options = readOptions(members["options"], spec);
  const match = parseMatch(readTexts(members["query"]), {
    ...options,
    language: spec.language ?? null,
  });
  if (match !== null && wordCount(match) > limits.maxQueryWords)
    throw fail("query_too_complex", { path: "/query", limit: limits.maxQueryWords });
  // Without sorts, the best hits come first. Without a query, there are no scores to sort by.
  const isRanked = match !== null && members["sorts"] === undefined;
  const byScore = { field: scoreField, direction: "desc", nulls: "last" } as const;
  return {
    ...list,
    ...options,
    match,
    sorts: isRanked ? [byScore, ...list.sorts] : list.sorts,
  };
}

/** The texts of a query, which may be one text or several. */
function readTexts(query: unknown): readonly string[] {
  if (query === undefined) return [];
  const texts: readonly unknown[] = Array.isArray(query) ? query : [query];
  if (texts.length > limits.maxAlternatives)
    throw fail("query_too_complex", { path: "/query", limit: limits.maxAlternatives });
  return texts.map((text, index) => {
    const at = Array.isArray(query) ? `/query/${index}` : "/query";
    if (typeof text !== "string") throw invalid(at, "type", "must be string");
    if (text.length > limits.maxQueryLength)
      throw fail("query_too_complex", { path: at, limit: limits.maxQueryLength });
    return text;
  });
}

function readOptions(value: unknown, spec: SearchSpec) {
  const options = membersOf(value ?? {}, "/options", [
    "fuzzy",
    "fields",
    "weights",
    "phrase_combine",
    "search_count",
    "facets",
    "facet_size",
    "highlight",
    "max_candidates",
  ]);
  const searched = readNames(options["fields"], "/options/fields", Object.keys(spec.text));
  const names = searched ?? Object.keys(spec.text);
  const weights = readWeights(options["weights"], names);
  const facets = readNames(options["facets"], "/options/facets", spec.facets) ?? [];
  const candidates = options["max_candidates"];
  const fuzzy = options["fuzzy"] ?? false;
  if (typeof fuzzy !== "boolean") throw invalid("/options/fuzzy", "type", "must be boolean");
  return {
    isFuzzy: fuzzy,
    combine: oneOf(options["phrase_combine"], "/options/phrase_combine", ["any", "all"]),
    // These engines also count exactly for "approximate".
    counts:
      oneOf(options["search_count"], "/options/search_count", ["exact", "approximate", "none"]) ===
      "none"
        ? ("none" as const)
        : ("exact" as const),
    weights: Object.fromEntries(names.map((name) => [name, weights[name] ?? spec.text[name] ?? 1])),
    facets: facets.flatMap((name) => spec.document.fieldSet.find(name) ?? []),
    facetSize: integerAt(options["facet_size"], "/options/facet_size", 1, 1_000, 10),
    highlight: readHighlight(options["highlight"], names),
    maxCandidates:
      candidates === undefined
        ? null
        : integerAt(candidates, "/options/max_candidates", 1, 100_000, 1),
  };
}

function readHighlight(value: unknown, names: readonly string[]): SearchOptions["highlight"] {
  if (value === undefined || value === false) return null;
  const at = "/options/highlight";
  const given = membersOf(value === true ? {} : value, at, [
    "fields",
    "pre_tag",
    "post_tag",
    "fragment_size",
    "max_fragments",
  ]);
  const tag = (name: string, otherwise: string): string => {
    const text = given[name] ?? otherwise;
    if (typeof text !== "string" || text.length > 100)
      throw invalid(`${at}/${name}`, "type", "must be a text of at most 100 characters");
    return text;
  };
  return {
    fields: readNames(given["fields"], `${at}/fields`, names) ?? names,
    preTag: tag("pre_tag", "<em>"),
    postTag: tag("post_tag", "</em>"),
    fragmentSize: integerAt(given["fragment_size"], `${at}/fragment_size`, 20, 1_000, 100),
    maxFragments: integerAt(given["max_fragments"], `${at}/max_fragments`, 1, 20, 3),
  };
}

function readWeights(value: unknown, names: readonly string[]): Readonly<Record<string, number>> {
  if (value === undefined) return {};
  const at = "/options/weights";
  if (!isObject(value)) throw invalid(at, "type", "must be object");
  const weights = Object.entries(value).map(([name, weight]) => {
    const here = pointer(at, name);
    if (!names.includes(name)) throw fail("field_not_queryable", { path: here });
    if (typeof weight !== "number" || weight < 0 || weight > 1_000)
      throw invalid(here, "maximum", "must be a number from 0 to 1000");
    return [name, weight] as const;
  });
  return Object.fromEntries(weights);
}

function readNames(
  value: unknown,
  at: string,
  allowed: readonly string[],
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size !== value.length)
    throw invalid(at, "minItems", "must be a list of different fields");
  return value.map((name: unknown, index) => {
    if (typeof name === "string" && allowed.includes(name)) return name;
    throw fail("field_not_queryable", { path: pointer(at, String(index)) });
  });
}

function oneOf<Value extends string>(
  value: unknown,
  at: string,
  allowed: readonly [Value, ...Value[]],
): Value {
  if (value === undefined) return allowed[0];
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw invalid(at, "enum", `must be one of ${allowed.join(", ")}`);
  return found;
}
