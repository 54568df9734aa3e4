// The score of a matching document, by one expression on every engine. It depends only on the words
// of the document and of the query, so no other document, and no other tenant, influences it.
import { phrases, type Match, type Phrase } from "../../query/match.js";
import { spaceWords } from "../../query/words.js";
import type { ParameterSink } from "./dialect/values.js";

/**
 * A field that is searched: the column with its words (as `spaced` joins them), and the weight of
 * the field.
 */
export interface ScoredText {
  readonly column: string;
  /** The column with the words' stems; null if the search has no language. */
  readonly stems: string | null;
  readonly weight: number;
}

/**
 * How many other spellings of a word add to the score, the nearest first. Further ones find a
 * document, but don't rank it.
 */
const countedSpellings = 4;

/**
 * The score as an expression over the columns. For each field, each phrase adds the weight of the
 * field times a share below 1, which grows with the phrase's occurrences and is smaller in longer
 * texts. `isSpelt` is the condition that the words match as they are spelt; then the score is 1 or
 * more, and below 1 if only other spellings match. It is null if the match has no other spellings;
 * then the score is just that sum.
 */
export function score(
  match: Match,
  texts: readonly ScoredText[],
  isSpelt: string | null,
  parameters: ParameterSink,
): string {
  // A field of weight 0 finds documents, but doesn't rank them.
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

/** The texts that count as occurrences of the phrase. */
function formsOf({ words, isPrefix, spellings }: Phrase): readonly string[] {
  const form = spaceWords(words);
  return [
    isPrefix ? form.slice(0, -1) : form,
    ...spellings.slice(0, countedSpellings).map(({ word }) => spaceWords([word])),
  ];
}

/**
 * The stems that count as occurrences of the phrase. A word counts as it is spelt, and once more by
 * its stem.
 */
function stemsOf({ stems = [], spellings }: Phrase): readonly string[] {
  const counted = [...stems, ...spellings.slice(0, countedSpellings).flatMap((one) => one.stems)];
  return [...new Set(counted)].map((stem) => spaceWords([stem]));
}

function occurrences(column: string, form: string): string {
  return `(length(${column}) - length(replace(${column}, ${form}, ''))) / length(${form})`;
}

/** How much occurrences are dampened: from 1 for an empty text to nearly 5 for a very long one. */
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
