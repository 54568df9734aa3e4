// The marks that git leaves in a text where both sides of a merge changed the same lines.

/**
 * Where the first conflict begins, in characters from the start of the text; undefined without one.
 */
export function conflictAt(text: string): number | undefined {
  const begin = text.search(/^<{7} /m);
  return begin >= 0 && /^>{7} /m.test(text) ? begin : undefined;
}

/** Whether the text has conflict marks. */
export function hasConflict(text: string): boolean {
  return conflictAt(text) !== undefined;
}
