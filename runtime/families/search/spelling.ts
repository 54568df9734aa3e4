// Other spellings: words of the index that are a typing error or two away from a searched one
// (decisions.md "Search": fuzzy).
import { fail } from "../../contract/errors.js";
import { editDistance } from "../../contract/edit-distance.js";
import { limits } from "../../contract/limits.js";
import type { StemmedLanguage } from "../../contract/search-languages.js";
import type { Match, Phrase, Spelling } from "../../query/match.js";
import { stemsOf } from "../../query/stems.js";

/**
 * Finds words of an index that may be at most `edits` edits away from `word`; others may be among
 * them.
 */
export type WordsLike = (word: string, edits: number) => Promise<readonly string[]>;

/** Those of the words that some document has which the caller may see, in any order. */
export type WordsSeen = (words: readonly string[]) => Promise<readonly string[]>;

/** How many words one statement looks for among the documents. */
const wordsPerLook = 64;

/**
 * Adds other spellings to each single word of the match; phrases of several words and prefixes are
 * left as they are spelt. Which spellings a word gets depends on nothing that the caller may not
 * see, however many words there are. Throws `query_too_complex` if more than `limits.maxFuzzyWords`
 * words can have other spellings.
 */
export async function withSpellings(
  match: Match,
  language: StemmedLanguage | null,
  wordsLike: WordsLike,
  wordsSeen: WordsSeen,
): Promise<Match> {
  const wanted = new Set(
    match.groups
      .flat()
      .filter(hasEdits)
      .map(({ words }) => words[0] ?? ""),
  );
  if (wanted.size > limits.maxFuzzyWords)
    throw fail("query_too_complex", { path: "/query", limit: limits.maxFuzzyWords });
  const spellings = new Map<string, readonly Spelling[]>();
  for (const word of wanted) {
    const edits = editsOf(word);
    const others = await firstSeen(nearest(word, await wordsLike(word, edits), edits), wordsSeen);
    spellings.set(
      word,
      others.map((other) => ({
        word: other,
        stems: language === null ? [] : stemsOf(other, language),
      })),
    );
  }
  const respelt = (phrase: Phrase): Phrase =>
    hasEdits(phrase)
      ? { ...phrase, spellings: spellings.get(phrase.words[0] ?? "") ?? [] }
      : phrase;
  return { ...match, groups: match.groups.map((group) => group.map(respelt)) };
}

function hasEdits({ words, isPrefix, isQuoted }: Phrase): boolean {
  return words.length === 1 && !isPrefix && isQuoted !== true && editsOf(words[0] ?? "") > 0;
}

/**
 * How many edits a word may have: none below four letters or with digits, one up to seven letters,
 * else two.
 */
export function editsOf(word: string): number {
  const { length } = [...word];
  if (length < 4 || /\p{N}/u.test(word)) return 0;
  return length < 8 ? 1 : 2;
}

/** The nearest words, by distance and then by code unit, without the word itself. */
function nearest(word: string, candidates: readonly string[], edits: number): readonly string[] {
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate, edits) }))
    .filter(({ distance }) => distance > 0 && distance <= edits)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .map(({ candidate }) => candidate);
}

/**
 * The first words that the caller may see, at most `limits.maxSpellings`. All are looked at until
 * there are enough: with a limit of looks, words that are hidden would displace others.
 */
async function firstSeen(
  words: readonly string[],
  wordsSeen: WordsSeen,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let at = 0; at < words.length && found.length < limits.maxSpellings; at += wordsPerLook) {
    const some = words.slice(at, at + wordsPerLook);
    const seen = new Set(await wordsSeen(some));
    found.push(...some.filter((word) => seen.has(word)));
  }
  return found.slice(0, limits.maxSpellings);
}
