// What a search asks for, as data: words, phrases and beginnings of words (decisions.md "Search").
import type { StemmedLanguage } from "../contract/search-languages.js";
import { stemsOf } from "./stems.js";
import { soughtBy, writtenWords, type Sought, type Word } from "./words.js";

/** Words that follow each other; of the last one it may be the beginning. */
export interface Phrase extends Sought {
  /**
   * Of a single word: what it has in common with its other forms, where the search has a language.
   * Cursors are bound to it.
   */
  readonly stems?: readonly string[];
  /**
   * In a fuzzy search: it stood in quotes, so it gets no other spellings. Absent elsewhere, because
   * cursors are bound to it.
   */
  readonly isQuoted?: true;
  /** Of a single word: other words that count as it. */
  readonly spellings: readonly Spelling[];
}

/** Another word that counts as one that is searched for, with all its forms. */
export interface Spelling {
  readonly word: string;
  readonly stems: readonly string[];
}

/** How texts are read. */
export interface MatchReading {
  readonly combine: "any" | "all";
  /** The language by which words are stemmed. */
  readonly language: StemmedLanguage | null;
  /** Whether words may get other spellings afterwards. */
  readonly isFuzzy: boolean;
}

/** A text matches where all phrases of one of the groups occur in it, or of all groups. */
export interface Match {
  readonly combine: "any" | "all";
  readonly groups: readonly (readonly Phrase[])[];
}

/**
 * Reads query texts: each is a group of words that must all occur; `"…"` is a phrase, and a `*`
 * behind a word makes it a beginning. Null where no text has a word: then nothing is searched for.
 */
export function parseMatch(texts: readonly string[], reading: MatchReading): Match | null {
  const groups = unique(texts.map((text) => unique(phrasesOf(text, reading)))).filter(
    (group) => group.length > 0,
  );
  return groups.length === 0 ? null : { combine: reading.combine, groups };
}

/** Values without repetitions, by what they say. */
function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** How many words a match has in all. */
export function wordCount(match: Match): number {
  return phrases(match).reduce((sum, { words }) => sum + words.length, 0);
}

function phrasesOf(text: string, { language, isFuzzy }: MatchReading): readonly Phrase[] {
  // Every second part stands between quotes; a quote that is not closed opens nothing.
  const parts = text.split('"');
  const isClosed = parts.length % 2 === 1;
  return parts.flatMap((part, index): readonly Phrase[] => {
    const written = writtenWords(part).filter((words) => words.length > 0);
    if (written.length === 0) return [];
    const isPhrase = index % 2 === 1 && (isClosed || index < parts.length - 1);
    // What stands between quotes is taken as it is spelt.
    return isPhrase
      ? [{ ...soughtBy(written.flat()), ...(isFuzzy ? { isQuoted: true } : {}), spellings: [] }]
      : written.map((words) => phraseOf(part, words, language));
  });
}

/** What is written without a separator: one word, or several that follow each other. */
function phraseOf(
  part: string,
  written: readonly Word[],
  language: StemmedLanguage | null,
): Phrase {
  const { words, isPrefix } = soughtBy(written);
  const [only, ...others] = written;
  const last = written.at(-1);
  if (only === undefined || last === undefined) return { words, isPrefix, spellings: [] };
  // A part of a run of pairs is found wherever it stands.
  const isBeginning = last.head === undefined && part[last.end] === "*";
  const hasStems = others.length === 0 && only.head === undefined && !isBeginning;
  const phrase = { words, isPrefix: isPrefix || isBeginning, spellings: [] };
  if (!hasStems || language === null) return phrase;
  return { ...phrase, stems: stemsOf(part.slice(only.start, only.end), language) };
}

/** The match without other spellings, or null if it has none. */
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
