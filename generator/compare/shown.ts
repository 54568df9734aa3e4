// What types show of documents: an answer that had a view may have the whole document from now on.

export interface Shown {
  readonly document: string;
  readonly members: readonly string[];
}

/** What types show, by their names, of the registry before and of the one after. */
export type ShownTypes = readonly ReadonlyMap<string, Shown>[];

/**
 * Members that the second of two types shows of the document of which the first showed others; none
 * if it isn't the same one.
 */
export function shownMore(
  [before, after]: ShownTypes,
  from: string,
  to: string,
): readonly string[] {
  const [was, is] = [before?.get(from), after?.get(to)];
  if (was === undefined || is === undefined || was.document !== is.document) return [];
  return is.members.filter((member) => !was.members.includes(member));
}
