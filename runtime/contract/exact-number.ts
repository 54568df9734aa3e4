// Numbers as texts: which of them a double represents faithfully (RFC 7493 §2.2), and how decimals
// add up.

/**
 * Whether a JSON number neither overflows, nor underflows to zero, nor names an integer that a
 * double cannot hold. It is judged by its value: digits beyond the precision of a double are
 * rounded, however many there are.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/[1-9]/.test(literal.split(/[eE]/)[0] ?? "");
  return (
    Math.abs(value) <= Number.MAX_SAFE_INTEGER ||
    significand(literal) === significand(String(value)) ||
    isExactInteger(literal, value)
  );
}

/** The significant digits of a number, without sign, point, exponent and outer zeros. */
function significand(literal: string): string {
  const [mantissa = ""] = literal.split(/[eE]/);
  const digits = mantissa.replaceAll(/[-.]/g, "");
  let [start, end] = [0, digits.length];
  while (digits[start] === "0") start += 1;
  while (end > start && digits[end - 1] === "0") end -= 1;
  return digits.slice(start, end);
}

/** Finite values have at most 309 digits before the point, so that these are few. */
function isExactInteger(literal: string, value: number): boolean {
  const [, whole] = /^(-?\d+)(?:\.0+)?$/.exec(literal) ?? [];
  return whole !== undefined && BigInt(whole) === BigInt(value);
}

/** The number as `digits` × 10 to the power of `exponent`, as it is written. */
export function decimal(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * The double next to the exact sum of the decimals that the numbers are written as: 0.1 and 0.2
 * make 0.3.
 */
export function decimalSum(values: readonly number[]): number {
  const finite = values.filter(Number.isFinite);
  if (finite.length < values.length) return values.reduce((sum, value) => sum + value, 0);
  const decimals = finite.map(decimal);
  const exponent = decimals.reduce((least, one) => Math.min(least, one.exponent), 0);
  const digits = decimals.reduce(
    (sum, one) => sum + one.digits * 10n ** BigInt(one.exponent - exponent),
    0n,
  );
  return Number(`${digits}e${exponent}`);
}
