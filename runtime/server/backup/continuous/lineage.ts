// Which deltas lead to a state, and which nobody needs any more.
import { readPartName, sequenceOf, writerOf, type Delta, type StateId } from "./delta.js";

/** A delta all of whose parts are there. */
export interface WholeDelta extends Delta {
  /** The keys of its parts, in order. */
  readonly keys: readonly string[];
}

/** What a backup has. */
export interface Lineage {
  readonly deltas: readonly WholeDelta[];
  /** Keys of parts of deltas that aren't whole, with their times. */
  readonly loose: readonly { readonly key: string; readonly at: number }[];
  readonly ways: Ways;
}

/** Reads what there is from the keys of parts, in their order; each ends in the part's name. */
export function readLineage(keys: readonly string[]): Lineage {
  const found = new Map<string, { readonly delta: Delta; readonly keys: Map<number, string> }>();
  for (const key of keys) {
    const part = readPartName(key.slice(key.lastIndexOf("/") + 1));
    if (part === null) continue;
    const of = key.slice(0, key.lastIndexOf("."));
    const one = found.get(of) ?? { delta: part, keys: new Map() };
    one.keys.set(part.part, key);
    found.set(of, one);
  }
  const deltas: WholeDelta[] = [];
  const loose: { key: string; at: number }[] = [];
  for (const { delta, keys: own } of found.values()) {
    const there = [...own].toSorted(([one], [other]) => one - other).map(([, key]) => key);
    const { from, to, at, pages, parts } = delta;
    if (there.length === parts) deltas.push({ from, to, at, pages, parts, keys: there });
    else loose.push(...there.map((key) => ({ key, at })));
  }
  return { deltas, loose, ways: findWays(deltas) };
}

/** A page is read in no time; a part, in the time of so many pages. */
const pagesPerPart = 64;

/** The last step of the cheapest way to each state that can be made from nothing. */
type Ways = ReadonlyMap<StateId, { readonly last: WholeDelta; readonly cost: number }>;

/** The ways to states; what a delta is written over comes before it, as in the order of names. */
function findWays(deltas: readonly WholeDelta[]): Ways {
  const ways = new Map<StateId, { last: WholeDelta; cost: number }>();
  for (const delta of deltas) {
    const before = delta.from === null ? 0 : ways.get(delta.from)?.cost;
    if (before === undefined) continue;
    const cost = before + delta.pages + delta.parts * pagesPerPart;
    if (cost < (ways.get(delta.to)?.cost ?? Infinity)) ways.set(delta.to, { last: delta, cost });
  }
  return ways;
}

function wayTo(ways: Ways, state: StateId): readonly WholeDelta[] {
  const way: WholeDelta[] = [];
  for (let to: StateId | null = state; to !== null;) {
    const last: WholeDelta | undefined = ways.get(to)?.last;
    if (last === undefined) throw new Error(`the backup has no way to state ${to}`);
    way.push(last);
    to = last.from;
  }
  return way.toReversed();
}

/**
 * The deltas that make the newest state from nothing, in order; of those until a time, if one is
 * given. Null if there is none.
 */
export function pathToNewest({ ways }: Lineage, until = Infinity): readonly WholeDelta[] | null {
  const newest = newestOf([...ways.values()].map(({ last }) => last).filter(isBefore(until)));
  return newest === null ? null : wayTo(ways, newest.to);
}

const isBefore =
  (until: number) =>
  ({ at }: Delta): boolean =>
    at <= until;

function newestOf(deltas: readonly WholeDelta[]): WholeDelta | null {
  let newest: WholeDelta | null = null;
  for (const delta of deltas) if (newest === null || isNewer(delta, newest)) newest = delta;
  return newest;
}

/** The deltas that make a state from nothing, in order; null if the backup has no such state. */
export function pathTo({ ways }: Lineage, state: StateId): readonly WholeDelta[] | null {
  return ways.has(state) ? wayTo(ways, state) : null;
}

function isNewer(one: Delta, other: Delta): boolean {
  return one.at === other.at ? sequenceOf(one.to) > sequenceOf(other.to) : one.at > other.at;
}

/** What may be asked for. Times are milliseconds since 1970. */
export interface Retention {
  /** Every state since then. */
  readonly everySince: number;
  /** Since then, those that deltas over more than one state lead to. */
  readonly someSince: number;
  /** What isn't whole, or has no way to it yet. */
  readonly looseSince: number;
}

/** Keys that no state needs which may be asked for; the newest one always may. */
export function listExpendable(lineage: Lineage, retention: Retention): readonly string[] {
  const { ways } = lineage;
  const needed = new Set<WholeDelta>();
  const need = (state: StateId): void => {
    for (let to: StateId | null = state; to !== null;) {
      const last: WholeDelta | undefined = ways.get(to)?.last;
      if (last === undefined || needed.has(last)) return;
      needed.add(last);
      to = last.from;
    }
  };
  for (const delta of lineage.deltas)
    if (delta.at >= (isMark(delta) ? retention.someSince : retention.everySince)) need(delta.to);
  // Also the states that were the newest then, and of each writer: it goes on from there.
  for (const delta of newestOfEach(lineage.deltas))
    if (delta.at >= retention.someSince) need(delta.to);
  const there = lineage.deltas.filter(({ to }) => ways.has(to));
  for (const newest of [
    newestOf(there),
    newestOf(there.filter(isBefore(retention.everySince))),
    newestOf(there.filter(isMark).filter(isBefore(retention.someSince))),
  ])
    if (newest !== null) need(newest.to);
  const kept = (delta: WholeDelta): boolean =>
    needed.has(delta) ||
    delta.at >= retention.everySince ||
    // What it is written over may still be on its way.
    (!ways.has(delta.to) && delta.at >= retention.looseSince);
  return [
    ...lineage.deltas.filter((delta) => !kept(delta)).flatMap(({ keys }) => keys),
    ...lineage.loose.filter(({ at }) => at < retention.looseSince).map(({ key }) => key),
  ];
}

/** The newest delta of each writer. */
function newestOfEach(deltas: readonly WholeDelta[]): Iterable<WholeDelta> {
  const newest = new Map<string, WholeDelta>();
  for (const delta of deltas) {
    const writer = writerOf(delta.to);
    const known = newest.get(writer);
    if (known === undefined || isNewer(delta, known)) newest.set(writer, delta);
  }
  return newest.values();
}

/** Whether it skips states: the one that it leads to is kept for longer than those in between. */
function isMark({ from, to }: Delta): boolean {
  return from === null || sequenceOf(to) - sequenceOf(from) > 1;
}
