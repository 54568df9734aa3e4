// What is likely meant by the name of an operation that a namespace doesn't have.
import { meantOrNearest } from "../diagnostics/did-you-mean.js";
import type { Advice } from "../diagnostics/diagnostics.js";
import { aliases } from "../load/aliases.js";
import { own } from "../model/records.js";

/** Names that others have for operations, the likeliest first. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  ...aliases(["get"], "read find show view fetch get_one find_one"),
  ...aliases(["list"], "index find_many find_all query all get_all"),
  ...aliases(["create"], "add insert post store new"),
  ...aliases(["update"], "patch edit put modify"),
  ...aliases(["delete", "kill"], "remove destroy"),
  ...aliases(["agg_list"], "aggregate count group"),
  ...aliases(["upsert"], "save"),
};

/** What makes operations that are not there by themselves. */
const makers: Readonly<Record<string, string>> = {
  delete:
    "`kill` removes a document for good; `delete` only marks it, and comes with `soft_delete: true`.",
  restore: "`restore` comes with `soft_delete: true`.",
  upsert: "`upsert` comes with `upsert: true`.",
  ...aliases(
    "Operations on many documents come with `bulk: {max: 100}`.",
    "create_many update_many delete_many update_where delete_where",
  ),
  ...aliases(
    "Operations on revisions come with `history: {revisions: true}`.",
    "revisions revision revision_diff revert",
  ),
};

/** The operation of `names` that is meant, or the group of operations, or what would make it. */
export function operationAdvice(
  name: string,
  names: readonly string[],
  groups: readonly string[] = [],
): Advice {
  const hint = own(makers, name);
  if (hint !== undefined) return { hint };
  const meant = (own(otherNames, name) ?? []).find((one) => names.includes(one));
  const suggestion = meantOrNearest(meant, name, [...names, ...groups]);
  return suggestion === undefined
    ? { hint: `It registers ${names.slice(0, 12).join(", ")}${names.length > 12 ? " …" : ""}.` }
    : { suggestion };
}
