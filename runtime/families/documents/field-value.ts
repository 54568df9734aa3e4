// Values of fields in bodies.
import type { SomeValues } from "../../ports/overlap-rules.js";
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

/** Whether each of these fields of a body has one of its values. */
export function hasOneOf(body: unknown, where: SomeValues = {}): boolean {
  return Object.entries(where).every(([path, values]) => values.includes(valueAt(body, path)));
}
