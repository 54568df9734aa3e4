// The pauses before another try: at random between bounds of which the upper one grows (full
// jitter).

export const leastPauseMillis = 500;
const mostPauseMillis = 20_000;

/** A pause after so many failures in a row, in milliseconds. */
export function pauseMillis(failures: number): number {
  const most = Math.min(mostPauseMillis, 2 * leastPauseMillis * 2 ** failures);
  return leastPauseMillis + Math.random() * (most - leastPauseMillis);
}
