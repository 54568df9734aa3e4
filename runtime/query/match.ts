// What a search asks for, as data: words, phrases and beginnings of words (decisions.md "Search").
import { wordsOf } from "./words.js";

/** Words that follow each other; of the last one it may be the beginning. */
export interface Phrase {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
  /** Of a single word: other words that count as it. */
  readonly spellings: readonly string[];
}

/** A text matches where all phrases of one of the groups occur in it, or of all groups. */
export interface Match {
  readonly combine: "any" | "all";
  readonly groups: readonly (readonly Phrase[])[];
}

/**
 * Reads query texts: each is a group of words that must all occur; `"…"` is a phrase, and a `*` behind a word makes it
 * a beginning. Null where no text has a word: then nothing is searched for.
 */
export function parseMatch(texts: readonly string[], combine: "any" | "all"): Match | null {
  const groups = unique(texts.map((text) => unique(phrasesOf(text)))).filter(
    (group) => group.length > 0,
  );
  return groups.length === 0 ? null : { combine, groups };
}

/** Values without repetitions, by what they say. */
function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** How many words a match has in all. */
export function wordCount(match: Match): number {
  return phrases(match).reduce((sum, { words }) => sum + words.length, 0);
}

function phrasesOf(text: string): readonly Phrase[] {
  // Every second part stands between quotes; a quote that is not closed opens nothing.
  const parts = text.split('"');
  const isClosed = parts.length % 2 === 1;
  return parts.flatMap((part, index): readonly Phrase[] => {
    const words = wordsOf(part);
    if (words.length === 0) return [];
    const isPhrase = index % 2 === 1 && (isClosed || index < parts.length - 1);
    if (isPhrase)
      return [{ words: words.map((found) => found.text), isPrefix: false, spellings: [] }];
    return words.map(({ text: found, end }) => ({
      words: [found],
      isPrefix: part[end] === "*",
      spellings: [],
    }));
  });
}

/** The match without other spellings, or null where it has none. */
export function asSpelt(match: Match): Match | null {
  if (phrases(match).every(({ spellings }) => spellings.length === 0)) return null;
  const groups = match.groups.map((group) =>
    group.map((phrase): Phrase => ({ ...phrase, spellings: [] })),
  );
  return { ...match, groups };
}

/** Every phrase of a match. */
export function phrases({ groups }: Match): readonly Phrase[] {
  return groups.flat();
}
