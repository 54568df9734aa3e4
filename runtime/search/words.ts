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
  const one = text
    .normalize("NFKD")
    .toLowerCase()
    // The sigma at the end of a word is the sigma within.
    .replaceAll("ς", "σ")
    .replaceAll(/[^\p{L}\p{N}\p{Co}]/gu, "");
  // Engines drop words that are much longer, or widen the query by them.
  return one.length > maxWordLength ? [...one].slice(0, maxWordLength).join("") : one;
}

/** The words of texts as an engine's index holds them, with a space between; what exceeds the limits is not searched. */
export function indexedText(texts: readonly string[]): string {
  const words: string[] = [];
  let length = 0;
  for (const { text } of texts.flatMap(wordsOf)) {
    length += text.length + 1;
    if (words.length === limits.maxIndexedWords || length > limits.maxIndexedLength) break;
    words.push(text);
  }
  return words.join(" ");
}
