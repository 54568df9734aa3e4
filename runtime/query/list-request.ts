// The bodies of list operations: pages by number or by cursor, filters, sorts, projection
// (decisions.md "Documents").
import { fail } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import type { Filter, SortKey } from "./ast.js";
import type { FieldSet } from "./fields.js";
import { isObject, pointer } from "../contract/json-pointer.js";
import { parseExpand, type Expansion } from "./parse-expand.js";
import { parseFilter } from "./parse-filter.js";
import { parseSorts } from "./parse-sorts.js";

/** What every list has in common. */
export interface ListQuery {
  readonly size: number;
  readonly filter: Filter;
  readonly sorts: readonly SortKey[];
  readonly withDeleted: boolean;
  /** Dotted paths to keep of each hit; undefined keeps all. */
  readonly returnFields: readonly string[] | undefined;
  /** What comes along with each hit. */
  readonly expand: Expansion;
}

export interface PageRequest extends ListQuery {
  readonly page: number;
  /** How far hits are counted; undefined counts all. */
  readonly countUpTo?: number | undefined;
}

/** `cursor` is still the client's text; `direction` says which of `after` and `before` it was. */
export interface CursorRequest extends ListQuery {
  readonly cursor: { readonly direction: "after" | "before"; readonly text: string } | undefined;
}

export interface ListRules {
  readonly fields: FieldSet;
  /** Whether a client may ask for soft-deleted rows as well. */
  readonly mayListDeleted: boolean;
  /** Whether `return_fields` must be given. */
  readonly isRaw: boolean;
}

/**
 * Reads a body of `list` or `raw_list`. Throws `core.validation` or an error of the query parser.
 */
export function parsePageRequest(body: unknown, rules: ListRules): PageRequest {
  const members = membersOf(body, "", membersOfList(["page", "count"], rules));
  const list = readListQuery(members, rules);
  return { ...list, page: readPaging(members, "page"), countUpTo: readCount(members["count"]) };
}

/** Reads a body of `list_cursor` or `raw_list_cursor`. */
export function parseCursorRequest(body: unknown, rules: ListRules): CursorRequest {
  const members = membersOf(body, "", membersOfList(["after", "before"], rules));
  return { ...readListQuery(members, rules), cursor: readPaging(members, "cursor") };
}

function membersOfList(paging: readonly string[], rules: ListRules): readonly string[] {
  return [
    ...paging,
    "size",
    "filters",
    "sorts",
    ...(rules.mayListDeleted ? ["with_deleted"] : []),
    rules.isRaw ? "return_fields" : "expand",
  ];
}

function readCount(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const upTo = membersOf(value, "/count", ["up_to"])["up_to"];
  if (upTo === undefined)
    throw invalid("/count", "required", "must have required property 'up_to'");
  return integerAt(upTo, "/count/up_to", 1, limits.maxCount, limits.maxCount);
}

type Members = Readonly<Record<string, unknown>>;

/** The members of an object that has no others than these. Throws `core.validation`. */
export function membersOf(value: unknown, at: string, known: readonly string[]): Members {
  if (!isObject(value)) throw invalid(at, "type", "must be object");
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      throw invalid(
        pointer(at, key),
        "additionalProperties",
        "must NOT have additional properties",
      );
  }
  return value;
}

/** The page's number, or its cursor. */
export function readPaging(members: Members, kind: "page"): number;
export function readPaging(members: Members, kind: "cursor"): CursorRequest["cursor"];
export function readPaging(members: Members, kind: "page" | "cursor") {
  if (kind === "page") return integerAt(members["page"], "/page", 1, limits.maxPage, 1);
  const { after, before } = members;
  if (after !== undefined && before !== undefined)
    throw invalid("/before", "not", "cannot be given with after");
  const direction = before === undefined ? "after" : "before";
  const text = before === undefined ? after : before;
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw invalid(`/${direction}`, "type", "must be string");
  return { direction, text };
}

/** What every list has in common. */
export function readListQuery(members: Members, rules: ListRules): ListQuery {
  const withDeleted = members["with_deleted"];
  if (withDeleted !== undefined && typeof withDeleted !== "boolean") {
    throw invalid("/with_deleted", "type", "must be boolean");
  }
  return {
    size: integerAt(members["size"], "/size", 1, limits.maxPageSize, limits.defaultPageSize),
    filter: parseFilter(members["filters"], rules.fields, "/filters"),
    sorts: parseSorts(members["sorts"], rules.fields, "/sorts"),
    withDeleted: withDeleted ?? false,
    returnFields: rules.isRaw
      ? parseReturnFields(members["return_fields"], rules.fields)
      : undefined,
    expand: parseExpand(members["expand"], rules.fields, "/expand"),
  };
}

/** An integer within bounds, or the usual one where it is left out. */
export function integerAt(
  value: unknown,
  at: string,
  lowest: number,
  highest: number,
  otherwise: number,
): number {
  if (value === undefined) return otherwise;
  if (typeof value !== "number" || !Number.isInteger(value))
    throw invalid(at, "type", "must be integer");
  if (value < lowest) throw invalid(at, "minimum", `must be >= ${lowest}`);
  if (value > highest) throw invalid(at, "maximum", `must be <= ${highest}`);
  return value;
}

function parseReturnFields(value: unknown, fields: FieldSet): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid("/return_fields", "minItems", "must be a non-empty array of fields");
  }
  if (new Set(value).size !== value.length) {
    throw invalid("/return_fields", "uniqueItems", "must NOT have duplicate items");
  }
  return value.map((name, index) => {
    const at = `/return_fields/${index}`;
    if (typeof name !== "string") throw invalid(at, "type", "must be string");
    if (fields.find(name) === undefined) throw fail("field_not_queryable", { path: at });
    return name;
  });
}

/** The error of a member that does not fit. */
export function invalid(path: string, keyword: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword, message }] });
}
