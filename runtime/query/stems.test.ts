// Stems are stored: what a stemmer makes of a word must stay, or indexes would have to be made
// anew.
import fc from "fast-check";
import { expect, test } from "vitest";
import { isStemmed, searchLanguages } from "../contract/search-languages.js";
import { stemsOf } from "./stems.js";

test.each([
  ["ar", "الكتب", ["كتب"]],
  ["bg", "градовете", ["град"]],
  ["da", "raketter", ["raket"]],
  ["de", "Möglichkeiten", ["moglich"]],
  ["el", "βιβλία", ["βιβλ"]],
  ["en", "Rockets", ["rocket"]],
  ["es", "canciones", ["cancion"]],
  ["fi", "raketit", ["raket"]],
  ["fr", "éléphants", ["eleph"]],
  ["hu", "házakban", ["haz"]],
  ["it", "abbandonata", ["abbandon"]],
  ["nb", "raketter", ["rakett"]],
  ["nl", "raketten", ["raket"]],
  ["pt", "corações", ["coraco"]],
  ["ro", "rachete", ["rachet"]],
  ["ru", "красивые", ["красив"]],
  ["sv", "flickorna", ["flick"]],
  ["tr", "kitaplar", ["kitap"]],
  ["uk", "ракети", ["ракет"]],
] as const)("%s: %s", (language, word, stems) => {
  expect(stemsOf(word, language)).toEqual(stems);
});

test.each(searchLanguages.filter(isStemmed))(
  "%s: every word has a stem of letters and digits, and one in common with the word without accents",
  (language) => {
    const words = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
      .filter((text) => /^[\p{L}\p{N}\p{M}]+$/u.test(text));
    fc.assert(
      fc.property(fc.oneof(words, fc.stringMatching(/^[a-zäöüéèçñåøðıі]{1,15}$/)), (word) => {
        const stems = stemsOf(word, language);
        for (const stem of stems) expect(stem).toMatch(/^[\p{L}\p{N}]*$/u);
        const plain = word.normalize("NFKD").replaceAll(/\p{M}/gu, "");
        expect(stems).toEqual(expect.arrayContaining([...stemsOf(plain, language)]));
      }),
    );
  },
);
