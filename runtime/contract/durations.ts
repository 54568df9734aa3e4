// Durations as registries and authors write them: `500ms`, `5s`, `15m`, `1h`, `7d`.

/** How long something waits: a whole number with a unit. */
export type Delay = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds. Throws a `TypeError` for a text that is no duration. */
export function durationMillis(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = units[unit ?? ""];
  if (amount === undefined || factor === undefined)
    throw new TypeError(`${JSON.stringify(text)} is no duration such as 500ms, 5s, 1h or 7d`);
  return Number(amount) * factor;
}
