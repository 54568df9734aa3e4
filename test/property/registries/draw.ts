// Choices of a random registry, each from one number of fast-check's.
import fc from "fast-check";

export interface Draw {
  /** From 0, below `end`. */
  below(end: number): number;
  /** Whether something happens that does so `percent` times of a hundred. */
  chance(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Different entries, `most` at most, in any order. */
  some<T>(list: readonly T[], least: number, most: number): readonly T[];
}

/** Thrown where a list is empty of which one is picked. */
export class NothingToPick extends Error {}

/** Every number is as likely as any other: fast-check prefers small ones otherwise. */
function number(max: number): fc.Arbitrary<number> {
  return fc.noBias(fc.nat(max));
}

/** Values that are made by choices. */
export function drawn<T>(make: (draw: Draw) => T): fc.Arbitrary<T> {
  return fc.gen().map((choose) => {
    const below = (end: number): number => choose(number, Math.max(0, end - 1));
    const pick = <Item>(list: readonly Item[]): Item => {
      const item = list[below(list.length)];
      if (item === undefined) throw new NothingToPick("there is nothing to choose from");
      return item;
    };
    return make({
      below,
      chance: (percent) => below(100) < percent,
      pick,
      some: (list, least, most) => {
        const left = [...list];
        const count = Math.min(left.length, least + below(most - least + 1));
        return Array.from({ length: count }, () => left.splice(below(left.length), 1)).flat();
      },
    });
  });
}
