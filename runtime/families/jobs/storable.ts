// Texts and times as every engine stores them, whoever has written them.

/** The last millisecond of the year 9999: later times have no RFC 3339 text. */
export const lastTime = 253_402_300_799_999;

/** Characters that are kept of a reason. */
const longestReason = 500;

/**
 * The text without what PostgreSQL doesn't store: NUL, and halves of characters. Cut to what is
 * kept of a reason.
 */
export function storableText(text: string): string {
  return text.slice(0, longestReason).replaceAll("\0", "\uFFFD").toWellFormed();
}

/** Whether a text has up to so many characters, none of them NUL or half of one. */
export function isStorable(text: string, longest: number): boolean {
  return text !== "" && text.length <= longest && !text.includes("\0") && text.isWellFormed();
}

/** A time so many milliseconds later. Throws a `TypeError` for one behind the year 9999. */
export function later(now: number, millis: number): number {
  return checkedTime(now + millis);
}

/** The time, in epoch milliseconds. Throws a `TypeError` for one that no text says. */
export function checkedTime(time: number): number {
  if (!(Math.abs(time) <= lastTime)) throw new TypeError("a run begins before the year 10000");
  return time;
}
