// Names of what is stored, or told from process to process: the first one stays, so that each
// version finds what the others have left under its own name (evolution.md "Rename").

/** First names by present ones; a name that has always been the same is not there. */
export type FirstNames = Readonly<Record<string, string>>;

/** The name under which something is stored. */
export function firstName(former: FirstNames | undefined, present: string): string {
  return former !== undefined && Object.hasOwn(former, present)
    ? (former[present] ?? present)
    : present;
}

/** What something is called now that is stored under a name. */
export function presentName(former: FirstNames | undefined, stored: string): string {
  return presentNames(former).get(stored) ?? stored;
}

/**
 * The names under which things may be stored: the first ones, and those of versions that did not
 * know them.
 */
export function storedNames(
  former: FirstNames | undefined,
  present: readonly string[],
): readonly string[] {
  return [...new Set(present.flatMap((name) => [firstName(former, name), name]))];
}

const read = new WeakMap<FirstNames, ReadonlyMap<string, string>>();
const unchanged: ReadonlyMap<string, string> = new Map();

function presentNames(former: FirstNames | undefined): ReadonlyMap<string, string> {
  if (former === undefined) return unchanged;
  const known = read.get(former);
  if (known !== undefined) return known;
  const made = new Map(Object.entries(former).map(([present, first]) => [first, present]));
  read.set(former, made);
  return made;
}
