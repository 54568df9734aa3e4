// Parses the body of a search over others: one query, and what is asked of each of them.
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import type { JointSearchSpec } from "../../ports/search-spec.js";
import { integerAt, invalid, membersOf } from "../../query/list-request.js";
import { parseFilter } from "../../query/parse-filter.js";
import { parseSearchCursor, type SearchCursorRequest } from "./request.js";

/** What is asked of searches together. */
export interface JointRequest {
  /** Parallel to the searches; null for one that is not asked. */
  readonly parts: readonly (SearchCursorRequest | null)[];
  readonly size: number;
  /** Still the caller's text. */
  readonly cursor: string | undefined;
}

const members = ["query", "kinds", "filters", "size", "after", "options"];
const optionNames = ["fuzzy", "phrase_combine", "search_count", "highlight"];
const highlightNames = ["pre_tag", "post_tag", "fragment_size", "max_fragments"];

/**
 * Reads a body of `find`. Throws `core.validation`, or what a search throws that is asked for the
 * same.
 */
export function parseJoint(body: unknown, { over }: JointSearchSpec): JointRequest {
  const { query, kinds, filters, size, after, options } = membersOf(body, "", members);
  if (query === undefined) throw invalid("/query", "required", "must be given");
  if (after !== undefined && typeof after !== "string")
    throw invalid("/after", "type", "must be string");
  const names = over.map(({ search }) => search.document.name);
  const wanted = kinds === undefined ? names : readKinds(kinds, names);
  const given = membersOf(filters === undefined ? {} : filters, "/filters", names);
  const chosen = membersOf(options === undefined ? {} : options, "/options", optionNames);
  // Which fields a search has is its own.
  if (isObject(chosen["highlight"]))
    membersOf(chosen["highlight"], "/options/highlight", highlightNames);
  const asked = { query, options: chosen };
  return {
    parts: over.map(({ search }) => {
      const { name, fieldSet } = search.document;
      const filter = parseFilter(given[name], fieldSet, pointer("/filters", name));
      if (!wanted.includes(name)) return null;
      return { ...parseSearchCursor(asked, search, false), filter };
    }),
    size: integerAt(size, "/size", 1, limits.maxPageSize, limits.defaultJointSize),
    cursor: after,
  };
}

function readKinds(value: unknown, names: readonly string[]): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size !== value.length)
    throw invalid("/kinds", "minItems", "must be a list of different documents");
  return value.map((name: unknown, at) => {
    if (typeof name === "string" && names.includes(name)) return name;
    throw fail("field_not_queryable", { path: pointer("/kinds", String(at)) });
  });
}
