// The SQL that engines print differently, by its roles: who prints one kind asks for that alone.
import type { AggregateDialect } from "./aggregates.js";
import type { FieldDialect } from "./fields.js";
import type { LockDialect } from "./locks.js";
import type { RowDialect } from "./rows.js";
import type { SearchDialect } from "./searches.js";
import type { ValueDialect } from "./values.js";

export interface Dialect
  extends FieldDialect, ValueDialect, RowDialect, LockDialect, AggregateDialect, SearchDialect {
  /**
   * The expression of the engine's own clock in epoch milliseconds, the same throughout a
   * statement.
   */
  readonly now: string;
}
