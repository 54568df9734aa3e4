// The words of a field as an index has them: as they are spelt, and their stems where the search
// has a language.
import { limits } from "../contract/limits.js";
import type { StemmedLanguage } from "../contract/search-languages.js";
import { stemsOf } from "./stems.js";
import { wordsOf } from "./words.js";

export interface IndexedText {
  /** In order. */
  readonly words: readonly string[];
  /** Of each word, with the word's place in `words`; none if the search has no language. */
  readonly stems: readonly IndexedStem[];
}

export interface IndexedStem {
  readonly text: string;
  readonly at: number;
}

/** The words of texts, and their stems; what exceeds the limits is not searched. */
export function indexedText(
  texts: readonly string[],
  language: StemmedLanguage | null,
): IndexedText {
  const words: string[] = [];
  const stems: IndexedStem[] = [];
  let length = 0;
  for (const whole of texts) {
    for (const { text, start, end, head } of wordsOf(whole)) {
      const found =
        language === null || head !== undefined ? [] : stemsOf(whole.slice(start, end), language);
      length += [text, ...found].reduce((sum, one) => sum + one.length + 1, 0);
      if (words.length === limits.maxIndexedWords || length > limits.maxIndexedLength)
        return { words, stems };
      stems.push(...found.map((stem) => ({ text: stem, at: words.length })));
      words.push(text);
    }
  }
  return { words, stems };
}
