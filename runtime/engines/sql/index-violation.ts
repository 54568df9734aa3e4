// A row that an index over what is unique has refused. Whoever knows what the index is about says so to the caller.
import { errors, ServiceError } from "../../contract/errors.js";

export class IndexViolation extends ServiceError {
  /** The index, or its columns in their order where the engine names these. */
  readonly index: string | readonly string[];

  constructor(index: string | readonly string[], cause: unknown) {
    super("core.infrastructure", errors["core.infrastructure"], {}, { cause });
    this.index = index;
  }
}
