// Whether a secret was obviously not made at random (attack 86). This finds what people type, not
// what a bad generator makes.

/**
 * 32 random bytes have about 30 distinct values; 32 random hex digits have about 14, and fewer than
 * 10 once in 10 000 times.
 */
const fewestDistinct = 8;

/**
 * Whether bytes have few distinct values, repeat themselves, or mostly go up or down by the same
 * step.
 */
export function isGuessable(bytes: Buffer): boolean {
  return new Set(bytes).size < fewestDistinct || isPeriodic(bytes) || isSequence(bytes);
}

/** Whether the bytes repeat their first half, or less of them. */
function isPeriodic(bytes: Buffer): boolean {
  for (let period = 1; period <= bytes.length / 2; period += 1)
    if (bytes.subarray(period).equals(bytes.subarray(0, bytes.length - period))) return true;
  return false;
}

/**
 * Whether most bytes differ from the one before by the same step, as in 0, 1, 2 or in an alphabet.
 */
function isSequence(bytes: Buffer): boolean {
  const times = new Map<number, number>();
  for (let at = 1; at < bytes.length; at += 1) {
    const step = ((bytes[at] ?? 0) - (bytes[at - 1] ?? 0)) & 0xff;
    times.set(step, (times.get(step) ?? 0) + 1);
  }
  return Math.max(...times.values()) > (bytes.length - 1) / 2;
}
