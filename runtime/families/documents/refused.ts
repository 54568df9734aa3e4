// What goes on where something is refused, such as one of many documents.
import { ServiceError } from "../../contract/errors.js";

/** What the work gives, or the other value if it is refused; faults of the service are thrown. */
export async function unlessRefused<T, Otherwise>(
  work: () => Promise<T>,
  otherwise: Otherwise,
): Promise<T | Otherwise> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return otherwise;
    throw error;
  }
}

/** What is made of a payload, or null for one that is refused: done alone, each is told why. */
export function unlessInvalid<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
