// Words: how texts and queries are cut, alike in every engine. Case and accents make no difference.

import { limits } from "../contract/limits.js";

/** Characters of a word; what is longer is cut, alike in texts and queries. */
const maxWordLength = 60;

/** A word where it stands in a text. */
export interface Word {
  /** As it is compared: no accents, lower case. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Letters, digits and the marks on them make words; everything else parts them. */
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

/** The words of a text, in order. */
export function wordsOf(text: string): readonly Word[] {
  return [...text.matchAll(word)].flatMap(({ 0: found, index }) => {
    const one = folded(found);
    return one === "" ? [] : [{ text: one, start: index, end: index + found.length }];
  });
}

/** The one form of a word: compatibility forms taken apart, lower case, and nothing left but letters and digits. */
export function folded(text: string): string {
  const one = ascii.test(text) ? text.toLowerCase() : foldedLetters(text);
  // Engines drop words that are much longer, or widen the query by them.
  return one.length > maxWordLength ? [...one].slice(0, maxWordLength).join("") : one;
}

/** Most words are so, and need no more than lower case. */
const ascii = /^[A-Za-z0-9]*$/;

function foldedLetters(text: string): string {
  return (
    text
      .normalize("NFKD")
      .toLowerCase()
      // The sigma at the end of a word is the sigma within.
      .replaceAll("ς", "σ")
      .replaceAll(/[^\p{L}\p{N}\p{Co}]/gu, "")
  );
}

/** The words of texts as an index has them, in order; what exceeds the limits is not searched. */
export function indexedWords(texts: readonly string[]): readonly string[] {
  const words: string[] = [];
  let length = 0;
  for (const { text } of texts.flatMap(wordsOf)) {
    length += text.length + 1;
    if (words.length === limits.maxIndexedWords || length > limits.maxIndexedLength) break;
    words.push(text);
  }
  return words;
}

/** Words as one text, each between spaces of its own: so often a phrase stands in it, so often its words do. */
export function spaced(words: readonly string[]): string {
  return words.map((one) => ` ${one} `).join("");
}
