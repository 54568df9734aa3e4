// What the hook of a scope is called, so that two registries compare whom it restricts.

/** `scope own_rows`, or `scope own_rows unless admin` where permissions lift it. */
export function scopeId(name: string, override: readonly string[]): string {
  return override.length === 0 ? `scope ${name}` : `scope ${name} unless ${override.join(" or ")}`;
}
