// How a duration, a rate or a size that somebody wrote in another way is written here.
import { suggestionText, type Advice } from "../diagnostics/diagnostics.js";

/** Seconds of a unit, by each of its names. */
const seconds: Readonly<Record<string, number>> = Object.fromEntries(
  [
    ["ms msec millisecond milliseconds", 0.001],
    ["s sec secs second seconds", 1],
    ["m min mins minute minutes", 60],
    ["h hr hrs hour hours", 3_600],
    ["d day days", 86_400],
    ["w week weeks", 7 * 86_400],
    ["month months", 30 * 86_400],
    ["y year years", 365 * 86_400],
  ].flatMap(([names, length]) =>
    String(names)
      .split(" ")
      .map((name): [string, number] => [name, Number(length)]),
  ),
);

/** The largest unit first. */
const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
  ["ms", 0.001],
] as const;

/** `90 days` → `90d`, `1.5h` → `90m`, `PT5M` → `5m`, 5 → `5s`. */
export function durationAdvice(given: unknown): Advice | undefined {
  if (typeof given === "number" && given > 0)
    return { suggestion: durationText(given), hint: "A duration has a unit: ms, s, m, h or d." };
  if (typeof given !== "string") return undefined;
  const [, days, ofTime = ""] = /^P(?:(\d+)D)?(?:T(\d+[HMS]))?$/.exec(given) ?? [];
  const text = days === undefined ? ofTime || given : `${days}d`;
  const [, amount, unit = "s"] = /^([\d.]+)\s*([a-z]+)?$/i.exec(text.trim()) ?? [];
  const length = Number(amount) * (seconds[unit.toLowerCase()] ?? Number.NaN);
  return length > 0 ? { suggestion: durationText(length) } : undefined;
}

function durationText(length: number): string {
  const [unit, size] = units.find(([, one]) => Number.isInteger(length / one)) ?? ["ms", 0.001];
  // A day is shown as one, and 36 hours as hours.
  return `${Math.round(length / size)}${unit}`;
}

/** `100/min` and `100 per minute` → `100/1m`. */
export function rateAdvice(given: unknown): Advice | undefined {
  const text = String(given);
  const [, calls, amount, unit] =
    /^(\d+)\s*(?:(?:\/|per)\s*(\d*)\s*([a-z]+))?$/i.exec(text.trim()) ?? [];
  if (calls === undefined) return undefined;
  if (unit === undefined)
    return {
      suggestion: `${calls}/1m`,
      hint: "A rate says in which time: `100/1m` is 100 calls a minute.",
    };
  const window = suggestionText(durationAdvice(`${amount || "1"}${unit}`)?.suggestion);
  return window === undefined ? undefined : { suggestion: `${calls}/${window}` };
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** `1MB` and `1 mib` → `1MiB`, `1.5MiB` → `1536KiB`, 1000000 → `1000000B`. */
export function byteSizeAdvice(given: unknown): Advice | undefined {
  const [, amount, letter, isBinary, ending] =
    /^([\d_,]*\.?\d+)\s*([kmgt]?)(i?)(b(?:ytes?)?)?$/i.exec(String(given).trim()) ?? [];
  if (amount === undefined || letter === undefined) return undefined;
  const power = "kmgt".indexOf(letter.toLowerCase() || "-") + 1;
  const count = Number(amount.replaceAll(/[_,]/g, ""));
  const bytes = count * 1024 ** power;
  if (!Number.isInteger(bytes) || bytes <= 0) return undefined;
  // A size with a fraction is one of smaller units.
  const fitting = Number.isInteger(count) ? power : Math.max(...divisors(bytes));
  const suggestion = `${bytes / 1024 ** fitting}${sizes[fitting] ?? "B"}`;
  const exact = count * 1000 ** power;
  const isDecimal = power > 0 && isBinary === "" && ending !== undefined && Number.isInteger(exact);
  return isDecimal
    ? {
        suggestion,
        hint: `${suggestion} is ${bytes} bytes; for ${exact} bytes write \`${exact}B\`.`,
      }
    : { suggestion };
}

/** The units of which a size is a whole number. */
function divisors(bytes: number): readonly number[] {
  return sizes.map((_, power) => power).filter((power) => Number.isInteger(bytes / 1024 ** power));
}
