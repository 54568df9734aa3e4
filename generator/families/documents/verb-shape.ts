// What the tables of document verbs say of each.
import type { RouteMethod } from "../../kernel/family.js";

export interface VerbShape {
  /** The method and the path below the mount, in each style. */
  readonly rest: readonly [RouteMethod, string];
  readonly rpc: readonly [RouteMethod, string];
  /** 200 where it is left out. */
  readonly status?: number;
  readonly errors: readonly string[];
  /** What its input asks of rows: a filter alone, or anything that the query language says. */
  readonly asks?: "filter" | "query";
}
