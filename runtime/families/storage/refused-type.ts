// Why a storage does not take a file in: its error names the type that is not wanted, and what says
// that it is of that type.
import { fail, type ServiceError } from "../../contract/errors.js";

/**
 * What says of which type a file is: its bytes, its name, or the request (or a handler) that names
 * a type.
 */
type Source = "bytes" | "name" | "request";

/**
 * The error for a file of a type; `bytes` is what its bytes are, where something else says that
 * type.
 */
export function refusedType(type: string, source: Source, bytes?: string): ServiceError {
  const context = { content_type: type, source };
  return fail("upload_type_unsupported", bytes === undefined ? context : { ...context, bytes });
}
