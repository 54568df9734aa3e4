// Placeholders of paths: `{id}`, and `{+key}`, which takes the rest of the path.

/** The names in a path, in order. */
export function placeholdersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{\+?([^{}]*)\}/g)].map((match) => match[1] ?? "");
}
