// The error of a row that a unique index refused. A store that knows what the index is for
// translates it for the caller.
import { errors, ServiceError } from "../../contract/errors.js";

export class IndexViolation extends ServiceError {
  /**
   * The name of the index. SQLite names the columns instead, in their order, unless the index is
   * over expressions.
   */
  readonly index: string | readonly string[];

  constructor(index: string | readonly string[], cause: unknown) {
    super("core.infrastructure", errors["core.infrastructure"], {}, { cause });
    this.index = index;
  }
}
