// The languages that a search may have, by their tags (BCP 47).

/**
 * The stemmer of each language, by its name in the library; null for languages whose words have no
 * endings.
 */
export const stemmers = {
  ar: "arabic",
  bg: "bulgarian",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  ja: null,
  ko: null,
  lt: "lithuanian",
  // Not "no", which YAML 1.1 reads as false.
  nb: "norwegian",
  nl: "dutch",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  tr: "turkish",
  uk: "ukrainian",
  zh: null,
} as const;

export type SearchLanguage = keyof typeof stemmers;

/** A language whose words have stems. */
export type StemmedLanguage = {
  [Tag in SearchLanguage]: (typeof stemmers)[Tag] extends string ? Tag : never;
}[SearchLanguage];

/** In the order of the alphabet. */
export const searchLanguages = Object.keys(stemmers) as readonly SearchLanguage[] as readonly [
  SearchLanguage,
  ...SearchLanguage[],
];

export function isStemmed(language: SearchLanguage): language is StemmedLanguage {
  return stemmers[language] !== null;
}
