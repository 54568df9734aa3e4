// The score of a match with other spellings: below 1 where only they are found.

/** Of a rank from 0 up; `isSpelt` tells whether the words as they are spelt match, or is null where all are. */
export function score(rank: string, isSpelt: string | null): string {
  if (isSpelt === null) return rank;
  return `CASE WHEN ${isSpelt} THEN 1 + ${rank} ELSE ${rank} / (1 + ${rank}) END`;
}
