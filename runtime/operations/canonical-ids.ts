// Ids in bodies: UUIDs are compared in lower case on every engine, as those of paths and queries
// are.

/** The input with its members `…_id` in lower case. */
export function canonicalIds<Input extends object>(input: Input): Input {
  const entries = Object.entries(input).map(([name, value]) => [
    name,
    name.endsWith("_id") && typeof value === "string" ? value.toLowerCase() : value,
  ]);
  // The copy has the same members, and texts stay texts.
  return Object.fromEntries(entries) as Input;
}
