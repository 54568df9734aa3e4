// The bodies of list operations: pages by number or by cursor, filters, sorts, projection (decisions.md "Documents").
import { fail } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import type { Filter, SortKey } from "./ast.js";
import type { FieldSet } from "./fields.js";
import { isObject, pointer } from "./json-pointer.js";
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
}

export interface PageRequest extends ListQuery {
  readonly page: number;
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

/** The highest page number: the scan ceiling of service.md "Limits". */
const maxPage = 100_000;

/** Reads a body of `list` or `raw_list`. Throws `core.validation` or an error of the query parser. */
export function parsePageRequest(body: unknown, rules: ListRules): PageRequest {
  const members = membersOf(body, rules, ["page"]);
  return {
    ...common(members, rules),
    page: integerAt(members["page"], "/page", 1, maxPage, 1),
  };
}

/** Reads a body of `list_cursor` or `raw_list_cursor`. */
export function parseCursorRequest(body: unknown, rules: ListRules): CursorRequest {
  const members = membersOf(body, rules, ["after", "before"]);
  const { after, before } = members;
  if (after !== undefined && before !== undefined)
    throw invalid("/before", "not", "cannot be given with after");
  const direction = before === undefined ? "after" : "before";
  const text = before ?? after;
  if (text !== undefined && typeof text !== "string")
    throw invalid(`/${direction}`, "type", "must be string");
  return {
    ...common(members, rules),
    cursor: text === undefined ? undefined : { direction, text },
  };
}

function membersOf(
  body: unknown,
  rules: ListRules,
  paging: readonly string[],
): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw invalid("", "type", "must be object");
  const known = new Set([...paging, "size", "filters", "sorts"]);
  if (rules.mayListDeleted) known.add("with_deleted");
  if (rules.isRaw) known.add("return_fields");
  for (const key of Object.keys(body)) {
    if (!known.has(key))
      throw invalid(
        pointer("", key),
        "additionalProperties",
        "must NOT have additional properties",
      );
  }
  return body;
}

function common(members: Readonly<Record<string, unknown>>, rules: ListRules): ListQuery {
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
  };
}

function integerAt(
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

function invalid(path: string, keyword: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword, message }] });
}
