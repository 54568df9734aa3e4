// What a continuous backup consists of: deltas, each the pages that differ between two states of a
// database, in one or more parts. Nothing in a backup is ever overwritten.

/**
 * A state of a database: its number, which grows, and whoever wrote it down, so that two who go on
 * from one state don't meet.
 */
export type StateId = string;

export function stateId(sequence: number, writer: string): StateId {
  return `${String(sequence).padStart(10, "0")}-${writer}`;
}

export function sequenceOf(state: StateId): number {
  return Number.parseInt(state, 10);
}

/** A delta as its name says it. */
export interface Delta {
  /** The state that its pages are written over; null if it has all pages. */
  readonly from: StateId | null;
  readonly to: StateId;
  /** Everything that was committed before this time is in `to`; milliseconds since 1970. */
  readonly at: number;
  /** How many pages it has. */
  readonly pages: number;
  readonly parts: number;
}

/** The name of a part of a delta; the first is 1. */
export function partName({ from, to, at, pages, parts }: Delta, part: number): string {
  return [to, from ?? "nothing", compactTime(at), `${pages}p`, `${part}of${parts}`].join(".");
}

const name =
  /^(\d{10}-[0-9a-f]{8})\.(\d{10}-[0-9a-f]{8}|nothing)\.(\d{8}T\d{9}Z)\.(\d+)p\.(\d+)of(\d+)$/;

/** The part that a name is of; null if it is no such name. */
export function readPartName(text: string): (Delta & { readonly part: number }) | null {
  const found = name.exec(text);
  if (found === null) return null;
  const [, to = "", from = "", time = "", pages, part, parts] = found;
  const at = Date.parse(time.replace(/^(....)(..)(..T)(..)(..)(..)(...Z)$/, "$1-$2-$3$4:$5:$6.$7"));
  return {
    from: from === "nothing" ? null : from,
    to,
    at,
    pages: Number(pages),
    part: Number(part),
    parts: Number(parts),
  };
}

/** ISO 8601 without punctuation, to the millisecond. */
function compactTime(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:.]/g, "");
}
