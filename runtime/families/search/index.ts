// The search family: it adds a command if a service has searches.
import { familyOf } from "../../operations/family.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { rebuildCommand } from "./rebuild-command.js";

export const searchFamily = familyOf<readonly SearchSpec[]>()({
  member: "search",
  commands: (searches) => (searches.length === 0 ? [] : [rebuildCommand(searches)]),
});
