// Highlights: parts of a text, escaped as HTML, in which the words that were found are marked
// (decisions.md "Search").
import { limits } from "../../contract/limits.js";
import type { StemmedLanguage } from "../../contract/search-languages.js";
import type { Phrase } from "../../query/match.js";
import { stemsOf } from "../../query/stems.js";
import { wordsOf, type Word } from "../../query/words.js";

export interface HighlightOptions {
  readonly preTag: string;
  readonly postTag: string;
  /** Approximate number of characters per fragment, which always ends with a whole word. */
  readonly fragmentSize: number;
  readonly maxFragments: number;
}

/** Fragments of a text around the words that match, in order, as HTML. None if nothing matches. */
export function highlight(
  text: string,
  phrases: readonly Phrase[],
  language: StemmedLanguage | null,
  options: HighlightOptions,
): readonly string[] {
  const words = searchedWords(text);
  const found = new Map([
    ...matchedWords(words, phrases),
    ...matchedForms(text, words, phrases, language),
  ]);
  if (found.size === 0) return [];
  const fragments: string[] = [];
  for (let at = 0; at < words.length && fragments.length < options.maxFragments;) {
    if (!found.has(at)) {
      at += 1;
      continue;
    }
    const [first, last] = windowAround(words, at, options.fragmentSize);
    fragments.push(markWords(text, words, found, first, last, options));
    at = last + 1;
  }
  return fragments;
}

/** The first words of a text, as many as an index has of a field. */
function searchedWords(text: string): readonly Word[] {
  const words: Word[] = [];
  for (const word of wordsOf(text)) {
    words.push(word);
    if (words.length === limits.maxIndexedWords) break;
  }
  return words;
}

/**
 * The words that were found: for each position in the list of words, where its mark ends in the
 * text.
 */
type Found = ReadonlyMap<number, number>;

/** Words that are part of a phrase, as it is spelt or in one of its other spellings. */
function matchedWords(words: readonly Word[], phrases: readonly Phrase[]): Found {
  const found = new Map<number, number>();
  for (const { words: wanted, isPrefix, spellings } of phrases) {
    for (let at = 0; at + wanted.length <= words.length; at += 1) {
      const matches = wanted.every((text, offset) => {
        const word = words[at + offset]?.text ?? "";
        if (spellings.some((other) => other.word === word)) return true;
        return isPrefix && offset === wanted.length - 1 ? word.startsWith(text) : word === text;
      });
      if (!matches) continue;
      for (const [offset, text] of wanted.entries()) {
        const word = words[at + offset];
        if (word === undefined) continue;
        found.set(at + offset, Math.max(found.get(at + offset) ?? 0, markedEnd(word, text)));
      }
    }
  }
  return found;
}

/**
 * Where the mark of a word ends. If only the first character of a pair was searched for, the mark
 * ends after that.
 */
function markedEnd({ text, end, head }: Word, wanted: string): number {
  return head !== undefined && text !== wanted ? head : end;
}

/** Words that have a stem in common with a searched word or one of its spellings. */
function matchedForms(
  text: string,
  words: readonly Word[],
  phrases: readonly Phrase[],
  language: StemmedLanguage | null,
): Found {
  const found = new Map<number, number>();
  const wanted = new Set(
    phrases.flatMap(({ stems = [], spellings }) => [
      ...stems,
      ...spellings.flatMap((one) => one.stems),
    ]),
  );
  if (language === null || wanted.size === 0) return found;
  for (const [at, { start, end, head }] of words.entries()) {
    const stems = head === undefined ? stemsOf(text.slice(start, end), language) : [];
    if (stems.some((stem) => wanted.has(stem))) found.set(at, end);
  }
  return found;
}

/**
 * The first and last word of a fragment: it begins a little before the word at `at`, and ends when
 * the size is reached.
 */
function windowAround(words: readonly Word[], at: number, size: number): readonly [number, number] {
  const from = words[at]?.start ?? 0;
  let first = at;
  while (first > 0 && from - (words[first - 1]?.start ?? 0) <= size / 4) first -= 1;
  const start = words[first]?.start ?? 0;
  let last = at;
  while (last + 1 < words.length && (words[last + 1]?.end ?? 0) - start <= size) last += 1;
  return [first, last];
}

function markWords(
  text: string,
  words: readonly Word[],
  found: Found,
  first: number,
  last: number,
  { preTag, postTag }: HighlightOptions,
): string {
  let result = "";
  let at = first === 0 ? 0 : (words[first]?.start ?? 0);
  for (const [start, end] of marksOf(words, found, first, last)) {
    result += `${escapeHtml(text.slice(at, start))}${preTag}${escapeHtml(text.slice(start, end))}${postTag}`;
    at = end;
  }
  const isWhole = last === words.length - 1 && words.length < limits.maxIndexedWords;
  const end = isWhole ? text.length : (words[last]?.end ?? text.length);
  return result + escapeHtml(text.slice(at, Math.max(at, end)));
}

/** The ranges of the text to mark in a fragment. Pairs overlap, so they are merged. */
function marksOf(
  words: readonly Word[],
  found: Found,
  first: number,
  last: number,
): readonly (readonly [start: number, end: number])[] {
  const marks: [number, number][] = [];
  for (let index = first; index <= last; index += 1) {
    const [word, end] = [words[index], found.get(index)];
    if (word === undefined || end === undefined) continue;
    const before = marks.at(-1);
    if (before !== undefined && word.start <= before[1]) before[1] = Math.max(before[1], end);
    else marks.push([word.start, end]);
  }
  return marks;
}

/** Escapes text for HTML, both in element content and in attributes. */
function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
