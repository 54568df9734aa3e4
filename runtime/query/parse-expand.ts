// What a read is to answer along with documents: the ones that their members name.
import { fail } from "../contract/errors.js";
import { pointer } from "../contract/json-pointer.js";
import { limits } from "../contract/limits.js";
import type { FieldSet } from "./fields.js";

/** Members whose documents come along, each with what comes along with these. */
export interface Expansion {
  readonly [member: string]: Expansion;
}

interface Growing {
  [member: string]: Growing;
}

/**
 * Parses `["project", "project.owner"]`; nothing is no expansion. Throws `core.validation`,
 * `field_not_queryable` if a path leads nowhere, and `query_too_complex`.
 */
export function parseExpand(value: unknown, fields: FieldSet, at: string): Expansion {
  const expansion: Growing = {};
  if (value === undefined) return expansion;
  if (!Array.isArray(value)) throw invalid(at, "type", "must be array");
  if (value.length > limits.maxExpansions)
    throw fail("query_too_complex", { path: at, limit: limits.maxExpansions });
  for (const [index, path] of value.entries()) {
    const here = pointer(at, String(index));
    if (typeof path !== "string") throw invalid(here, "type", "must be string");
    const members = path.split(".");
    if (members.length > limits.maxExpansionDepth)
      throw fail("query_too_complex", { path: here, limit: limits.maxExpansionDepth });
    let [level, known] = [expansion, fields];
    for (const member of members) {
      const to = known.leads(member);
      if (to === undefined) throw fail("field_not_queryable", { path: here });
      level = level[member] ??= {};
      known = to.fields;
    }
  }
  return expansion;
}

/** Whether nothing comes along. */
export function isPlain(expansion: Expansion): boolean {
  return Object.keys(expansion).length === 0;
}

function invalid(path: string, keyword: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword, message }] });
}
