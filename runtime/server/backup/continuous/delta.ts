// What a continuous backup consists of: deltas, each the pages that differ between two states of a
// database, in one or more parts. Nothing in a backup is ever overwritten.

/**
 * A state of a database: its number, which grows, and whoever wrote it down, so that two who go on
 * from one state don't meet.
 */
export type StateId = string;

export function stateId(sequence: number, writer: string): StateId {
  return `${String(sequence).padStart(sequenceDigits, "0")}-${writer}`;
}

const sequenceDigits = 12;
/** More than there are half seconds in a thousand years, and room for as many more. */
export const mostSequence = 10 ** (sequenceDigits - 1);

export function sequenceOf(state: StateId): number {
  return Number.parseInt(state, 10);
}

export function writerOf(state: StateId): string {
  return state.slice(state.indexOf("-") + 1);
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
  /^(\d{12}-[0-9a-f]{8})\.(\d{12}-[0-9a-f]{8}|nothing)\.(\d{8}T\d{9}Z)\.(\d{1,10})p\.(\d{1,8})of(\d{1,8})$/;

/** The part that a name is of; null if it is no such name. */
export function readPartName(text: string): (Delta & { readonly part: number }) | null {
  const found = name.exec(text);
  if (found === null) return null;
  const [, to = "", from = "", time = "", pages, part, parts] = found;
  const at = Date.parse(time.replace(/^(....)(..)(..T)(..)(..)(..)(...Z)$/, "$1-$2-$3$4:$5:$6.$7"));
  const read = { pages: Number(pages), part: Number(part), parts: Number(parts) };
  if (Number.isNaN(at) || read.part < 1 || read.part > read.parts) return null;
  return { from: from === "nothing" ? null : from, to, at, ...read };
}

/** ISO 8601 without punctuation, to the millisecond. */
function compactTime(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:.]/g, "");
}
