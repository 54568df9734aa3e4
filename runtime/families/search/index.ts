// The family of search.
import { familyOf } from "../../operations/family.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { rebuildCommand } from "./rebuild-command.js";

export const searchFamily = familyOf<readonly SearchSpec[]>()({
  member: "searches",
  commands: (searches) => (searches.length === 0 ? [] : [rebuildCommand(searches)]),
});
