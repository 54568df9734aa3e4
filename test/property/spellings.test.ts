// Other spellings of a word are the nearest that the caller sees, whatever else is near, and looked for in bounded steps.
import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "../../runtime/contract/limits.js";
import { withSpellings } from "../../runtime/families/search/spelling.js";
import { parseMatch } from "../../runtime/query/match.js";

const word = "telescope";
const letter = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz");
const near = fc
  .tuple(fc.nat({ max: 8 }), letter, fc.nat({ max: 8 }), letter)
  .map(([at, one, then, other]) => {
    const changed = [...word];
    changed[at] = one;
    changed[then] = other;
    return changed.join("");
  });
const words = fc.uniqueArray(near, { minLength: 100, maxLength: 400 });

/** The spellings that the word gets, and how many words each look was for. */
async function spelt(candidates: readonly string[], isSeen: (candidate: string) => boolean) {
  const match = parseMatch([word], { combine: "any", language: null, isFuzzy: true });
  if (match === null) throw new TypeError("no word");
  const looks: number[] = [];
  const respelt = await withSpellings(
    match,
    null,
    async () => candidates,
    async (some) => {
      looks.push(some.length);
      return some.filter(isSeen).toReversed();
    },
  );
  const found = respelt.groups.flat().flatMap(({ spellings }) => spellings.map((one) => one.word));
  return { found, looks };
}

test("words that the caller doesn't see change nothing, however many they are", async () => {
  await fc.assert(
    fc.asyncProperty(words, fc.nat({ max: 60 }), async (candidates, count) => {
      const seen = new Set(candidates.slice(0, count));
      const isSeen = (one: string): boolean => seen.has(one);
      const { found, looks } = await spelt(candidates, isSeen);
      expect(found).toEqual((await spelt([...seen], isSeen)).found);
      const others = [...seen].filter((one) => one !== word);
      expect(found).toHaveLength(Math.min(limits.maxSpellings, others.length));
      expect(Math.max(...looks)).toBeLessThanOrEqual(64);
      expect(looks.length).toBeLessThanOrEqual(Math.ceil(candidates.length / 64));
    }),
    { numRuns: 50 },
  );
});

test("the search ends with the look that finds enough", async () => {
  await fc.assert(
    fc.asyncProperty(words, async (candidates) => {
      expect((await spelt(candidates, () => true)).looks).toHaveLength(1);
    }),
    { numRuns: 20 },
  );
});
