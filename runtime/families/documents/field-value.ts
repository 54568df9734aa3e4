// Values of fields in bodies.
import type { Scalar } from "../../query/scalar.js";

/** The scalar at a dotted path of a body; null if there is none. */
export function valueAt(body: unknown, path: string): Scalar | null {
  let value = body;
  for (const step of path.split(".")) {
    const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, step);
    value = isObject ? (value as Readonly<Record<string, unknown>>)[step] : null;
  }
  const isScalar = ["string", "number", "boolean"].includes(typeof value);
  return isScalar ? (value as Scalar) : null;
}
