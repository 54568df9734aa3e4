// Durations as a test writes them: "2 days".

const units = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
} as const;

type Unit = keyof typeof units;

/** "1 hour", "90 seconds", "2.5 days". */
export type Duration = `${number} ${Unit}` | `${number} ${Unit}s`;

/**
 * A duration in milliseconds. Throws a `RangeError` for others, such as "-1 day", which the type
 * can't exclude.
 */
export function millisOf(duration: Duration): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?) ([a-z]+?)s?$/.exec(duration) ?? [];
  if (unit === undefined || !Object.hasOwn(units, unit))
    throw new RangeError(`"${duration}" is no duration: write "2 days" or "15 minutes"`);
  // The check above has shown that `unit` is one.
  return Math.round(Number(count) * units[unit as Unit]);
}
