// The documents that a member names: one, or those of a list.

/** The ids in the value of a reference. */
export function namesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((id) => typeof id === "string") : [];
}

/** Of those, the ones that another value doesn't have, if it is a list. */
export function namesGained(value: unknown, before: unknown): readonly string[] {
  const known = Array.isArray(before) ? new Set<unknown>(before) : null;
  return known === null ? namesIn(value) : namesIn(value).filter((id) => !known.has(id));
}
