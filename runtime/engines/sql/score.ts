// The score of a document that matches: counted from its own words and those of the query, and from nothing else, by one
// expression on every engine. So no other document, and no other tenant, has a part in it.
import { phrases, type Match, type Phrase } from "../../query/match.js";
import { spaced } from "../../query/words.js";
import type { ParameterSink } from "./session.js";

/** A field that is looked at: the column of its words (`spaced`), and what it counts for. */
export interface ScoredText {
  readonly column: string;
  /** The column of their stems, where the search has a language. */
  readonly stems: string | null;
  readonly weight: number;
}

/** How many other spellings of a word count, the nearest first; by the others a document is found only. */
const countedSpellings = 4;

/**
 * The score as an expression over the columns. Each phrase adds, for each field, its weight times a share below 1 that
 * grows with its occurrences and is less in longer texts. `isSpelt` tells whether the words as they are spelt match, or
 * is null where all are: the score is below 1 where only other spellings are found, else above.
 */
export function score(
  match: Match,
  texts: readonly ScoredText[],
  isSpelt: string | null,
  parameters: ParameterSink,
): string {
  // A field of weight 0 finds, but does not rank.
  const counted = texts
    .filter(({ weight }) => weight > 0)
    .map((one) => ({ ...one, weight: double(parameters.add(one.weight)) }));
  // PostgreSQL refuses a parameter that nothing uses.
  const ranking = counted.length === 0 ? [] : distinct(phrases(match));
  const hasStems = texts.some(({ stems }) => stems !== null);
  const terms = ranking.flatMap((phrase) => {
    const forms = formsOf(phrase).map((form) => text(parameters.add(form)));
    const stemForms = hasStems ? stemsOf(phrase).map((form) => text(parameters.add(form))) : [];
    return counted.map(({ column, stems, weight }) => {
      const found = [
        ...forms.map((form) => occurrences(column, form)),
        ...(stems === null ? [] : stemForms.map((form) => occurrences(stems, form))),
      ].join(" + ");
      const dampening = dampeningOf(column);
      return `${weight} * (1 - ${dampening} / (${found} + ${dampening}))`;
    });
  });
  const rank = terms.length === 0 ? double("0") : `(${terms.join(" + ")})`;
  if (isSpelt === null) return rank;
  return `CASE WHEN ${isSpelt} THEN 1 + ${rank} ELSE 1 - 1 / (1 + ${rank}) END`;
}

/** The texts whose occurrences count as the phrase. */
function formsOf({ words, isPrefix, spellings }: Phrase): readonly string[] {
  const form = spaced(words);
  return [
    isPrefix ? form.slice(0, -1) : form,
    ...spellings.slice(0, countedSpellings).map(({ word }) => spaced([word])),
  ];
}

/** The stems that count as the phrase: a word counts as it is spelt, and once more by its stem. */
function stemsOf({ stems = [], spellings }: Phrase): readonly string[] {
  const counted = [...stems, ...spellings.slice(0, countedSpellings).flatMap((one) => one.stems)];
  return [...new Set(counted)].map((stem) => spaced([stem]));
}

function occurrences(column: string, form: string): string {
  return `(length(${column}) - length(replace(${column}, ${form}, ''))) / length(${form})`;
}

/** From 1 for a short text to 5 for a long one: what occurrences are measured by. */
function dampeningOf(column: string): string {
  return `(5 - ${double("4000")} / (1000 + length(${column})))`;
}

function distinct(all: readonly Phrase[]): readonly Phrase[] {
  return [...new Map(all.map((phrase) => [JSON.stringify(phrase), phrase])).values()];
}

/** Both engines know the types of standard SQL. */
function double(value: string): string {
  return `CAST(${value} AS double precision)`;
}

function text(placeholder: string): string {
  return `CAST(${placeholder} AS text)`;
}
