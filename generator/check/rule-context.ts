// The arguments of a rule over the whole registry.
import type { Report } from "../diagnostics.js";
import type { DatabaseSchema } from "../database/schema.js";
import type { ExpandedRegistry } from "../expand/expand.js";
import type { LoadedRegistry } from "../load/load.js";

export interface RuleContext {
  readonly loaded: LoadedRegistry;
  readonly expanded: ExpandedRegistry;
  /** The database after the last migration. */
  readonly database: DatabaseSchema;
  readonly report: Report;
}
