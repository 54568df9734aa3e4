// Other spellings: words of the index that are a typing error or two away from a searched one (decisions.md "Search": fuzzy).
import { fail } from "../../contract/errors.js";
import { editDistance } from "../../contract/edit-distance.js";
import { limits } from "../../contract/limits.js";
import type { StemmedLanguage } from "../../contract/search-languages.js";
import type { Match, Phrase, Spelling } from "../../query/match.js";
import { stemsOf } from "../../query/stems.js";

/** Finds words of an index that may be at most `edits` edits away from `word`; others may be among them. */
export type WordsLike = (word: string, edits: number) => Promise<readonly string[]>;

/**
 * Adds other spellings to each single word of the match; phrases of several words and prefixes are left as they are spelt.
 * Throws `query_too_complex` if more than `limits.maxFuzzyWords` words can have other spellings.
 */
export async function withSpellings(
  match: Match,
  language: StemmedLanguage | null,
  wordsLike: WordsLike,
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
    const others = nearest(word, await wordsLike(word, edits), edits);
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

/** How many edits a word may have: none below four letters or with digits, one up to seven letters, else two. */
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
    .slice(0, limits.maxSpellings)
    .map(({ candidate }) => candidate);
}
