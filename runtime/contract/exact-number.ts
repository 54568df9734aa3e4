// Numbers as texts: which of them a double represents faithfully (RFC 7493 §2.2).

/**
 * Whether a JSON number neither overflows, nor underflows to zero, nor names an integer that a double cannot hold. It is
 * judged by its value: digits beyond the precision of a double are rounded, however many there are.
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
