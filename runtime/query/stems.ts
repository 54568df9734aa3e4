// Stems: what the forms of a word have in common, by the stemmer of a language, alike in every
// engine.
import { createRequire } from "node:module";
import { stemmers, type StemmedLanguage } from "../contract/search-languages.js";
import { foldWord, maxWordLength } from "./words.js";

/** The stem of a lower-case word. */
type Stemmer = (word: string) => string;

const loaded = new Map<StemmedLanguage, Stemmer>();
const require = createRequire(import.meta.url);

/** Loaded when it is first asked for: a service has one language, seldom two. */
function stemmerOf(language: StemmedLanguage): Stemmer {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const { stemmer } = require(`@orama/stemmers/${stemmers[language]}`) as {
    readonly stemmer: Stemmer;
  };
  loaded.set(language, stemmer);
  return stemmer;
}

/**
 * The stems of a word as it is written: of the word with its accents, which endings are told by in
 * many languages, and of the one without, so that both ways of writing meet.
 */
export function stemsOf(written: string, language: StemmedLanguage): readonly string[] {
  // No language has words so long: they are identifiers, and would only cost time.
  if (written.length > maxWordLength) return [foldWord(written)];
  const stem = stemmerOf(language);
  const plain = foldWord(written);
  const accented = written.normalize("NFKC").toLowerCase();
  const of = (word: string): string => foldWord(stem(word)) || plain;
  return accented === plain ? [of(plain)] : [...new Set([of(accented), of(plain)])];
}
