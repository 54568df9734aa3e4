// Full text on PostgreSQL: tsvector and GIN (manual 12), with one table per search and one weight
// label per field.
import { asSpelt, type Match, type Phrase } from "../../query/match.js";
import {
  differentWords,
  ownerWord,
  wordsByTenant,
  type IndexedDocument,
} from "../../ports/indexed-document.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { spaceWords } from "../../query/words.js";
import type { AnyDocumentSpec, SearchIndex } from "../../ports/document-spec.js";
import { score } from "../sql/score.js";
import type { IndexStatement } from "../sql/dialect/searches.js";
import type { ParameterSink } from "../sql/dialect/values.js";
import { quoteName } from "../sql/session.js";

/** The labels of a tsvector. There are only four, so a search has at most four fields. */
const labels = ["A", "B", "C", "D"] as const;

/**
 * Prints what to select matching documents from: their rows joined with those of the index, `s`,
 * which has the "score".
 */
export function matchText(
  spec: SearchSpec,
  tenant: string,
  match: Match,
  weights: Readonly<Record<string, number>>,
  parameters: ParameterSink,
): string {
  const fields = Object.keys(spec.text);
  const texts = fields.flatMap((name, at) =>
    name in weights
      ? [
          {
            label: labels[at] ?? "",
            column: `"t${at}"`,
            stems: spec.language === undefined ? null : `"s${at}"`,
            weight: weights[name] ?? 0,
          },
        ]
      : [],
  );
  const looked = texts.map(({ label }) => label).join("");
  // GIN must check the rows again for labels, so they are left out if every field is searched.
  const ofWords = texts.length === fields.length ? "" : looked;
  const { table, tenant: isOwned } = spec.document;
  const owner = isOwned ? `'=${ownerWord(tenant)}' & ` : "";
  const queryOf = (wanted: Match): string =>
    `${parameters.add(`${owner}(${printMatch(wanted, ofWords, looked)})`)}::tsquery`;
  const query = queryOf(match);
  const spelt = asSpelt(match);
  const isSpelt = spelt === null ? null : `"texts" @@ ${queryOf(spelt)}`;
  const owned = isOwned ? ` AND "tenant_id" = ${parameters.add(tenant)}` : "";
  const scored = `SELECT "id" AS "match_id", ${score(match, texts, isSpelt, parameters)} AS "score"`;
  const matches = `${scored} FROM ${quoteName(spec.index)} WHERE "texts" @@ ${query}${owned}`;
  return `(${matches}) s JOIN ${quoteName(table)} ON ${quoteName(table)}."id" = s."match_id"`;
}

/**
 * Prints the match as a tsquery. Words consist of letters and digits only, but are quoted all the
 * same.
 */
function printMatch({ combine, groups }: Match, ofWords: string, looked: string): string {
  const printed = groups.map(
    (group) => `(${group.map((phrase) => printPhrase(phrase, ofWords, looked)).join(" & ")})`,
  );
  return printed.join(combine === "any" ? " | " : " & ");
}

/**
 * Fields follow each other in one tsvector. To not match across them, a phrase of several words is
 * asked for per field.
 */
function printPhrase(phrase: Phrase, ofWords: string, looked: string): string {
  const { words, isPrefix, stems = [], spellings } = phrase;
  const printed = (label: string): string =>
    words
      .map((word, at) => `'${word}':${isPrefix && at === words.length - 1 ? "*" : ""}${label}`)
      .join(" <-> ");
  if (words.length === 1) {
    const others = [
      ...spellings.map(({ word }) => `'${word}':${ofWords}`),
      ...[...stems, ...spellings.flatMap((one) => one.stems)].map(
        (stem) => `'${stemWord(stem)}':${ofWords}`,
      ),
    ];
    return others.length === 0
      ? printed(ofWords)
      : `(${[printed(ofWords), ...others].join(" | ")})`;
  }
  return `(${[...looked].map((label) => `(${printed(label)})`).join(" | ")})`;
}

/** A stem, told apart from words by a character that no word contains. */
function stemWord(stem: string): string {
  return `~${stem}`;
}

/** The statement that puts one document into the index and its words into the table of words. */
export function indexPut(
  { tenant }: AnyDocumentSpec,
  search: SearchIndex,
): readonly IndexStatement<IndexedDocument>[] {
  const { index } = search;
  const columns = columnsOf(search);
  const typed = columns.map(typeOf);
  const own = tenant ? ["$3", "$2"] : ["$2"];
  const values = columns.map((_column, at) => `$${own.length + at + 2}`);
  return [
    {
      text: printPut(
        { tenant, index, columns },
        `SELECT ${own.map((place) => (place === "$2" ? "$2::uuid" : `${place}::text`)).join(", ")}, ${values.map((place, at) => `${place}::${typed[at]}`).join(", ")}`,
        `SELECT ${tenant ? "$3::text" : "NULL"}, unnest($1::text[])`,
      ),
      parameters: (document) => [
        differentWords(document),
        document.id,
        ...(tenant ? [document.tenant] : []),
        ...valuesOf(search, document),
        vectorOf(tenant, document),
      ],
    },
  ];
}

/** As `indexPut`, for many documents in one statement. */
export function indexPutMany(
  { tenant }: AnyDocumentSpec,
  search: SearchIndex,
): readonly IndexStatement<readonly IndexedDocument[]>[] {
  const { index } = search;
  const columns = columnsOf(search);
  const keys = tenant ? `"tenant_id", "id", ` : `"id", `;
  const types = [
    `"tenant_id" text, "id" uuid`,
    ...columns.map((column) => `${column} ${typeOf(column)}`),
  ];
  return [
    {
      text: printPut(
        { tenant, index, columns },
        `SELECT ${keys}${columns.join(", ")} FROM json_to_recordset($1::json) AS r(${types.join(", ")})`,
        "SELECT * FROM unnest($2::text[], $3::text[])",
      ),
      parameters: (documents) => {
        const words = wordsByTenant(documents);
        return [
          JSON.stringify(documents.map((document) => recordOf(tenant, search, document))),
          words.flatMap(([owner, some]) => some.map(() => owner)),
          words.flatMap(([, some]) => some),
        ];
      },
    },
  ];
}

/** The column that is searched. Those before it are only for the score. */
const vector = `"texts"`;

function columnsOf({ fields, language }: SearchIndex): readonly string[] {
  return [
    ...fields.map((_field, at) => `"t${at}"`),
    ...(language === undefined ? [] : fields.map((_field, at) => `"s${at}"`)),
    vector,
  ];
}

function typeOf(column: string): string {
  return column === vector ? "tsvector" : "text";
}

/** The values of the columns for the score. */
function valuesOf({ language }: SearchIndex, { texts }: IndexedDocument): readonly string[] {
  return [
    ...texts.map(({ words }) => spaceWords(words)),
    ...(language === undefined
      ? []
      : texts.map(({ stems }) => spaceWords(stems.map(({ text }) => text)))),
  ];
}

function recordOf(tenant: boolean, search: SearchIndex, document: IndexedDocument): object {
  const values = [...valuesOf(search, document), vectorOf(tenant, document)];
  const members = columnsOf(search).map((column, at) => [column.slice(1, -1), values[at]]);
  return { tenant_id: document.tenant, id: document.id, ...Object.fromEntries(members) };
}

/** The words as a tsvector, field after field, and the tenant as a word that no text contains. */
function vectorOf(tenant: boolean, { tenant: owner, texts }: IndexedDocument): string {
  let before = 1;
  const found = texts.flatMap(({ words, stems }, at) => {
    const first = before;
    before += words.length;
    return [
      ...words.map((word, place) => `'${word}':${first + place}${labels[at]}`),
      ...stems.map(({ text, at: place }) => `'${stemWord(text)}':${first + place}${labels[at]}`),
    ];
  });
  return [...(tenant ? [`'=${ownerWord(owner)}'`] : []), ...found].join(" ");
}

/** A statement that puts rows into an index, and their words into its table of words. */
function printPut(
  of: { readonly tenant: boolean; readonly index: string; readonly columns: readonly string[] },
  rows: string,
  found: string,
): string {
  const { tenant, index, columns } = of;
  const [owner, keys] = tenant ? [`"tenant_id", `, `"tenant_id", "id"`] : ["", `"id"`];
  const given = columns.map((column) => `excluded.${column}`).join(", ");
  const known = columns.map((column) => `x.${column}`).join(", ");
  const words = quoteName(`${index}_words`);
  const owned = tenant ? ` AND known."tenant_id" = w."tenant_id"` : "";
  return (
    // If two transactions add a word at once, it is stored twice. That costs less than one waiting
    // for the other.
    `WITH w("tenant_id", "word") AS (${found}), added AS (` +
    `INSERT INTO ${words} (${owner}"word") SELECT ${owner}"word" FROM w ` +
    // A count per word is one lookup in the index; for NOT EXISTS the planner may read the whole
    // table.
    `WHERE (SELECT count(*) FROM ${words} known WHERE known."word" = w."word" COLLATE "C"${owned}) = 0) ` +
    `INSERT INTO ${quoteName(index)} AS x (${keys}, ${columns.join(", ")}) ${rows} ` +
    `ON CONFLICT (${keys}) DO UPDATE SET (${columns.join(", ")}) = ROW(${given}) ` +
    `WHERE (${known}) IS DISTINCT FROM (${given})`
  );
}

/**
 * Prints what to select documents from that have the word of the expression in any field of the
 * search.
 */
export function havingWord(
  { index, document: { table, tenant: isOwned } }: SearchSpec,
  tenant: string,
  word: string,
  parameters: ParameterSink,
): string {
  const owner = isOwned ? `${parameters.add(`'=${ownerWord(tenant)}' & `)}::text || ` : "";
  const owned = isOwned ? ` AND "tenant_id" = ${parameters.add(tenant)}` : "";
  const query = `(${owner}quote_literal(${word}))::tsquery`;
  // OFFSET keeps the planner from looking through rows until one has the word: it would read all of
  // them if none has.
  const having = `SELECT "id" AS "match_id" FROM ${quoteName(index)} WHERE "texts" @@ ${query}${owned} OFFSET 0`;
  return `(${having}) s JOIN ${quoteName(table)} ON ${quoteName(table)}."id" = s."match_id"`;
}

/**
 * Prints whether any row of the index contains the word of the row `words` in the table of words.
 */
export function isWordUsed(
  { tenant }: AnyDocumentSpec,
  { index }: SearchIndex,
  words: string,
): string {
  const owner = `'=' || encode(convert_to(${words}."tenant_id", 'UTF8'), 'hex')`;
  const owned = tenant ? `quote_literal(${owner}) || ' & ' || ` : "";
  const query = `(${owned}quote_literal(${words}."word"))::tsquery`;
  return `EXISTS (SELECT 1 FROM ${quoteName(index)} WHERE "texts" @@ ${query})`;
}

/**
 * Prints a query for the tenant's words that may be spellings of `word`: those in the range of
 * lengths that begin with the same letter and, with trigrams (pg_trgm), similar ones that begin
 * with another.
 */
export function wordsLike(
  { index, document }: SearchSpec,
  tenant: string,
  word: string,
  [shortest, longest]: readonly [number, number],
  parameters: ParameterSink,
  hasTrigrams: boolean,
): string {
  const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
  const owned = document.tenant ? ` AND "tenant_id" = ${parameters.add(tenant)}` : "";
  const [least, most] = [parameters.add(shortest), parameters.add(longest)];
  const select =
    `SELECT "word" FROM ${quoteName(`${index}_words`)} ` +
    `WHERE char_length("word") BETWEEN ${least}::int AND ${most}::int${owned} AND `;
  const range = `"word" >= ${parameters.add(first)}::text AND "word" < ${parameters.add(`${first}\u{10FFFF}`)}::text`;
  if (!hasTrigrams) return `SELECT DISTINCT "word" FROM (${select}${range}) AS found`;
  return `${select}${range} UNION ${select}"word" % ${parameters.add(word)}::text`;
}

/** The statement that removes a document's row, by id and tenant. */
export function indexRemove(spec: AnyDocumentSpec, index: string): string {
  const condition = spec.tenant ? `"id" = $1 AND "tenant_id" = $2` : `"id" = $1`;
  return `DELETE FROM ${quoteName(index)} WHERE ${condition}`;
}
