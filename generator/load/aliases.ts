// Tables of words: many names, one meaning.

/** A record in which each of the names, which stand in one text, leads to the same. */
export function aliases<Of>(of: Of, names: string): Readonly<Record<string, Of>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, of]));
}
