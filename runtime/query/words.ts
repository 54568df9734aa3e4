// Words: how texts and queries are cut, alike in every engine. Case and accents make no difference.
// Chinese, Japanese and Korean are cut into pairs of characters, each overlapping the next, so that
// every part of a text is found.

/** Characters of a word; what is longer is cut, alike in texts and queries. */
export const maxWordLength = 60;
/**
 * Code units of a word, and of a character, that are looked at: putting the marks on a letter into
 * order takes the square of their number, and a text may be marks alone (UAX #15 §1.3).
 */
const maxWritten = 8 * maxWordLength;
const maxMarked = 32;

/** A word where it stands in a text. */
export interface Word {
  /** As it is compared: no accents, lower case. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /**
   * Where the first character ends, of a pair, and of the single character that closes a run of
   * pairs.
   */
  readonly head?: number;
}

/** Letters, digits and the marks on them make words; everything else parts them. */
const written = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

const paired = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}`;
/** Runs of characters that are cut into pairs, and runs of others. */
const runs = new RegExp(`[${paired}][${paired}\\p{M}]*|[^${paired}]+`, "gu");
const isPaired = new RegExp(`^[${paired}]`, "u");
/**
 * A syllable that is written as its letters, or a character with the marks on it, those of half
 * width too.
 */
const character =
  /[\u1100-\u115F\uA960-\uA97C][\u1160-\u11A7\uD7B0-\uD7C6]*[\u11A8-\u11FF\uD7CB-\uD7FB]*|.[\p{M}\uFF9E\uFF9F]*/gu;

/**
 * The words of a text, in order, cut while they are asked for: whoever needs some of a long text
 * takes no more.
 */
export function* wordsOf(text: string): Generator<Word> {
  for (const { 0: found, index } of text.matchAll(written)) yield* cut(found, index);
}

/** What stands between two separators, each as the words that it is cut into; most are one. */
export function writtenWords(text: string): readonly (readonly Word[])[] {
  return [...text.matchAll(written)].map(({ 0: found, index }) => [...cut(found, index)]);
}

function* cut(found: string, start: number): Generator<Word> {
  if (isPlain.test(found)) {
    yield wordAt(found, start);
    return;
  }
  for (const { 0: run, index } of found.matchAll(runs)) {
    const words = isPaired.test(run) ? pairsOf(run, start + index) : [wordAt(run, start + index)];
    for (const word of words) if (word.text !== "") yield word;
  }
}

function wordAt(run: string, start: number): Word {
  return { text: foldWord(run), start, end: start + run.length };
}

/** A run as its pairs, and its last character. */
function* pairsOf(run: string, start: number): Generator<Word> {
  let before: Word | undefined;
  for (const next of charactersOf(run, start)) {
    if (before !== undefined) yield pairOf(before, next);
    before = next;
  }
  if (before !== undefined) yield { ...before, head: before.end };
}

function pairOf(one: Word, next: Word): Word {
  return { ...one, text: one.text + next.text, end: next.end, head: one.end };
}

function* charactersOf(run: string, start: number): Generator<Word> {
  for (const { 0: found, index } of run.matchAll(character)) {
    const at = start + index;
    for (const text of foldedCharacter(found)) yield { text, start: at, end: at + found.length };
  }
}

/** Words that follow each other, and whether the last is the beginning of one. */
export interface Sought {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/** What is asked for by words: a run of pairs may go on behind the last, and need not end there. */
export function soughtBy(words: readonly Word[]): Sought {
  const texts = words.map(({ text }) => text);
  const [before, last] = words.slice(-2);
  if (words.length > 1 && isClosing(last) && before?.head !== undefined && !isClosing(before))
    return { words: texts.slice(0, -1), isPrefix: false };
  return { words: texts, isPrefix: isClosing(words.at(-1)) };
}

/** Whether a word is the character that a run of pairs ends with. */
export function isClosing(word: Word | undefined): boolean {
  return word?.head !== undefined && [...word.text].length === 1;
}

/**
 * The one form of a word: compatibility forms taken apart, lower case, and nothing left but letters
 * and digits.
 */
export function foldWord(text: string): string {
  const seen = text.slice(0, maxWritten);
  const one = isPlain.test(seen) ? seen.toLowerCase() : foldedLetters(seen);
  // Engines drop words that are much longer, or widen the query by them.
  return one.length > maxWordLength ? [...one].slice(0, maxWordLength).join("") : one;
}

/** Most words are so, and need no more than lower case. */
const isPlain = /^[A-Za-z0-9]*$/;

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

/** A character of a pair: the marks of voiced kana tell words apart, and syllables stay whole. */
function foldedCharacter(text: string): string {
  return text
    .slice(0, maxMarked)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{Co}\u3099\u309A]/gu, "")
    .normalize("NFC")
    .replaceAll(/[\u3099\u309A]/gu, "");
}

/**
 * Words as one text, each between spaces of its own: so often a phrase stands in it, so often its
 * words do.
 */
export function spaceWords(words: readonly string[]): string {
  return words.map((one) => ` ${one} `).join("");
}
