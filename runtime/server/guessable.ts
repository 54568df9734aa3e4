// Whether a secret was plainly not drawn at random (attack 86). It finds what people type, not what a bad generator makes.

/** Of 32 random bytes about 30 differ, of 32 random hexadecimal digits about 14: one in 10 000 times fewer than 10. */
const fewestDistinct = 8;

/** Whether bytes have few distinct values, repeat themselves, or go up or down by one step. */
export function isGuessable(bytes: Buffer): boolean {
  return new Set(bytes).size < fewestDistinct || isPeriodic(bytes) || isSequence(bytes);
}

/** Whether the first half or less, said again and again, gives the whole. */
function isPeriodic(bytes: Buffer): boolean {
  for (let period = 1; period <= bytes.length / 2; period += 1)
    if (bytes.subarray(period).equals(bytes.subarray(0, bytes.length - period))) return true;
  return false;
}

/** Whether most bytes follow the one before by the same step, as in 0, 1, 2 or in an alphabet. */
function isSequence(bytes: Buffer): boolean {
  const times = new Map<number, number>();
  for (let at = 1; at < bytes.length; at += 1) {
    const step = ((bytes[at] ?? 0) - (bytes[at - 1] ?? 0)) & 0xff;
    times.set(step, (times.get(step) ?? 0) + 1);
  }
  return Math.max(...times.values()) > (bytes.length - 1) / 2;
}
