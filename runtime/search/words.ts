// Words: how texts and queries are cut, alike in every engine. Case and accents make no difference.

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
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{Co}]/gu, "");
}

/** The words of a text as an engine's index holds them, with a space between. */
export function indexedText(text: string): string {
  return wordsOf(text)
    .map((found) => found.text)
    .join(" ");
}
