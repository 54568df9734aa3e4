// Highlights: the words that were found, marked in the text, which is escaped as HTML before (decisions.md "Search").
import type { Phrase } from "../../query/match.js";
import { wordsOf, type Word } from "../../query/words.js";

export interface HighlightOptions {
  readonly preTag: string;
  readonly postTag: string;
  /** Characters of a fragment, roughly: it ends with a word. */
  readonly fragmentSize: number;
  readonly maxFragments: number;
}

/** Fragments of a text around the words that match, in order; none where nothing does. */
export function highlight(
  text: string,
  phrases: readonly Phrase[],
  options: HighlightOptions,
): readonly string[] {
  const words = wordsOf(text);
  const found = matchedWords(words, phrases);
  if (found.size === 0) return [];
  const fragments: string[] = [];
  for (let at = 0; at < words.length && fragments.length < options.maxFragments;) {
    if (!found.has(at)) {
      at += 1;
      continue;
    }
    const [first, last] = windowAround(words, at, options.fragmentSize);
    fragments.push(marked(text, words, found, first, last, options));
    at = last + 1;
  }
  return fragments;
}

/** The positions of words that are part of a phrase that matches. */
function matchedWords(words: readonly Word[], phrases: readonly Phrase[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { words: wanted, isPrefix, spellings } of phrases) {
    for (let at = 0; at + wanted.length <= words.length; at += 1) {
      const matches = wanted.every((text, offset) => {
        const word = words[at + offset]?.text ?? "";
        if (spellings.includes(word)) return true;
        return isPrefix && offset === wanted.length - 1 ? word.startsWith(text) : word === text;
      });
      if (matches) for (let offset = 0; offset < wanted.length; offset += 1) found.add(at + offset);
    }
  }
  return found;
}

/** The words of a fragment: from a little before the word that was found to where the size is reached. */
function windowAround(words: readonly Word[], at: number, size: number): readonly [number, number] {
  const from = words[at]?.start ?? 0;
  let first = at;
  while (first > 0 && from - (words[first - 1]?.start ?? 0) <= size / 4) first -= 1;
  const start = words[first]?.start ?? 0;
  let last = at;
  while (last + 1 < words.length && (words[last + 1]?.end ?? 0) - start <= size) last += 1;
  return [first, last];
}

function marked(
  text: string,
  words: readonly Word[],
  found: ReadonlySet<number>,
  first: number,
  last: number,
  { preTag, postTag }: HighlightOptions,
): string {
  let result = "";
  let at = first === 0 ? 0 : (words[first]?.start ?? 0);
  for (let index = first; index <= last; index += 1) {
    const word = words[index];
    if (word === undefined || !found.has(index)) continue;
    result += `${escaped(text.slice(at, word.start))}${preTag}${escaped(text.slice(word.start, word.end))}${postTag}`;
    at = word.end;
  }
  const end = last === words.length - 1 ? text.length : (words[last]?.end ?? text.length);
  return result + escaped(text.slice(at, end));
}

/** Text as HTML, for element content and for attributes. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
