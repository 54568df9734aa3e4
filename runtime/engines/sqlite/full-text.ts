// Full text on SQLite: FTS5 (https://www.sqlite.org/fts5.html), one index per search, with the
// documents' rowids.
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
  const index = quoteName(spec.index);
  const looked = Object.keys(spec.text).flatMap((name, at) =>
    name in weights
      ? [
          {
            column: `"t${at}"`,
            // A process of the previous version may have written a row without stems.
            stems: spec.language === undefined ? null : `coalesce("s${at}", '')`,
            weight: weights[name] ?? 0,
            at,
          },
        ]
      : [],
  );
  const columnsOf = (kind: "t" | "s"): string =>
    `{${looked.map(({ at }) => `"${kind}${at}"`).join(" ")}}`;
  const owned = spec.document.tenant ? `"owner" : "${ownerWord(tenant)}" AND ` : "";
  const queryOf = (wanted: Match): string =>
    parameters.add(`${owned}(${printMatch(wanted, columnsOf("t"), columnsOf("s"))})`);
  const query = queryOf(match);
  const spelt = asSpelt(match);
  const isSpelt =
    spelt === null
      ? null
      : `rowid IN (SELECT rowid FROM ${index} WHERE ${index} MATCH ${queryOf(spelt)})`;
  const scored = `SELECT rowid AS "match_row", ${score(match, looked, isSpelt, parameters)} AS "score"`;
  const table = quoteName(spec.document.table);
  // SQLite doesn't reorder a cross join. If it expected few rows for the tenant, it would look up
  // each of them in the index.
  return `(${scored} FROM ${index} WHERE ${index} MATCH ${query}) s CROSS JOIN ${table} ON ${table}.rowid = s."match_row"`;
}

/**
 * Prints the match in FTS5's language. Words consist of letters and digits only, but are quoted all
 * the same.
 */
function printMatch({ combine, groups }: Match, inWords: string, inStems: string): string {
  const printed = groups.map(
    (group) => `(${group.map((one) => printPhrase(one, inWords, inStems)).join(" AND ")})`,
  );
  return printed.join(combine === "any" ? " OR " : " AND ");
}

function printPhrase(phrase: Phrase, inWords: string, inStems: string): string {
  const { words, isPrefix, stems = [], spellings } = phrase;
  const spelt = [
    `"${words.join(" ")}"${isPrefix ? " *" : ""}`,
    ...spellings.map(({ word }) => `"${word}"`),
  ];
  const formed = [...stems, ...spellings.flatMap((one) => one.stems)].map((stem) => `"${stem}"`);
  const asSpelt = `${inWords} : (${spelt.join(" OR ")})`;
  return formed.length === 0 ? asSpelt : `(${asSpelt} OR ${inStems} : (${formed.join(" OR ")}))`;
}

/**
 * Prints a query for the tenant's words that may be spellings of `word`: in the range of lengths,
 * with the same first letter.
 */
export function wordsLike(
  { index, document }: SearchSpec,
  tenant: string,
  word: string,
  [shortest, longest]: readonly [number, number],
  parameters: ParameterSink,
): string {
  const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
  const owned = document.tenant ? `"tenant_id" = ${parameters.add(tenant)} AND ` : "";
  return (
    `SELECT "word" FROM ${quoteName(`${index}_words`)} WHERE ${owned}` +
    `"word" >= ${parameters.add(first)} AND "word" < ${parameters.add(`${first}\u{10FFFF}`)} ` +
    `AND length("word") BETWEEN ${parameters.add(shortest)} AND ${parameters.add(longest)}`
  );
}

/** The statements that put one document into the index and its words into the table of words. */
export function indexPut(
  { table, tenant }: AnyDocumentSpec,
  search: SearchIndex,
): readonly IndexStatement<IndexedDocument>[] {
  const { index } = search;
  const columns = columnsOf(tenant, search);
  const [condition, used] = ofDocument(tenant);
  const values = columns.map((_column, at) => `?${used + at + 1}`).join(", ");
  const keyOf = ({ tenant: owner, id }: IndexedDocument) => (tenant ? [owner, id] : [id]);
  const words = tenant ? [`"tenant_id", "word"`, `?2, "value"`] : [`"word"`, `"value"`];
  return [
    {
      text:
        `INSERT OR REPLACE INTO ${quoteName(index)} (rowid, ${columns.join(", ")}) ` +
        `SELECT rowid, ${values} FROM ${quoteName(table)} WHERE ${condition}`,
      parameters: (document) => [...keyOf(document), ...valuesOf(tenant, search, document)],
    },
    {
      text: `INSERT OR IGNORE INTO ${quoteName(`${index}_words`)} (${words[0]}) SELECT ${words[1]} FROM json_each(?1)`,
      parameters: (document) => [
        JSON.stringify(differentWords(document)),
        ...(tenant ? [document.tenant] : []),
      ],
    },
  ];
}

/** As `indexPut`, for many documents at once. Rows that are up to date are left alone. */
export function indexPutMany(
  { table, tenant }: AnyDocumentSpec,
  search: SearchIndex,
): readonly IndexStatement<readonly IndexedDocument[]>[] {
  const { index } = search;
  const columns = columnsOf(tenant, search);
  const values = columns.map((_column, at) => `r."value" ->> ${at + 2}`);
  const isSame = columns.map((column, at) => `f.${column} = ${values[at]}`).join(" AND ");
  const owned = tenant ? `d."tenant_id" = r."value" ->> 0 AND ` : "";
  const words = tenant
    ? [`"tenant_id", "word"`, `g."value" ->> 0, w."value"`]
    : [`"word"`, `w."value"`];
  return [
    {
      // The cross join keeps this order: the given rows, then each document by its key. Otherwise
      // the whole table would be read.
      text:
        `INSERT OR REPLACE INTO ${quoteName(index)} (rowid, ${columns.join(", ")}) ` +
        `SELECT d.rowid, ${values.join(", ")} FROM json_each(?1) r CROSS JOIN ${quoteName(table)} d ` +
        `ON ${owned}d."id" = r."value" ->> 1 ` +
        `WHERE NOT EXISTS (SELECT 1 FROM ${quoteName(index)} f WHERE f.rowid = d.rowid AND ${isSame})`,
      parameters: (documents) => [
        JSON.stringify(
          documents.map((document) => [
            document.tenant,
            document.id,
            ...valuesOf(tenant, search, document),
          ]),
        ),
      ],
    },
    {
      text:
        `INSERT OR IGNORE INTO ${quoteName(`${index}_words`)} (${words[0]}) ` +
        `SELECT ${words[1]} FROM json_each(?1) g, json_each(g."value", '$[1]') w`,
      parameters: (documents) => [JSON.stringify(wordsByTenant(documents))],
    },
  ];
}

/** The columns of an index besides the rowid; `valuesOf` has a document's values for them. */
function columnsOf(tenant: boolean, { fields, language }: SearchIndex): readonly string[] {
  return [
    ...fields.map((_field, at) => `"t${at}"`),
    ...(language === undefined ? [] : fields.map((_field, at) => `"s${at}"`)),
    ...(tenant ? [`"owner"`] : []),
  ];
}

function valuesOf(
  tenant: boolean,
  { language }: SearchIndex,
  { tenant: owner, texts }: IndexedDocument,
): readonly string[] {
  return [
    ...texts.map(({ words }) => spaceWords(words)),
    ...(language === undefined
      ? []
      : texts.map(({ stems }) => spaceWords(stems.map(({ text }) => text)))),
    ...(tenant ? [ownerWord(owner)] : []),
  ];
}

/** The condition on one document, and how many parameters it takes. */
function ofDocument(tenant: boolean): readonly [string, number] {
  return tenant ? [`"tenant_id" = ?1 AND "id" = ?2`, 2] : [`"id" = ?1`, 1];
}

/**
 * Prints what to select documents from that have the word of the expression in any field of the
 * search.
 */
export function havingWord(
  { index, document, text }: SearchSpec,
  tenant: string,
  word: string,
  parameters: ParameterSink,
): string {
  const columns = Object.keys(text).map((_field, at) => `"t${at}"`);
  const owned = document.tenant ? `"owner" : "${ownerWord(tenant)}" AND ` : "";
  const query = `${parameters.add(`${owned}{${columns.join(" ")}} : "`)} || ${word} || '"'`;
  const having = `SELECT rowid AS "match_row" FROM ${quoteName(index)} WHERE ${quoteName(index)} MATCH ${query}`;
  const table = quoteName(document.table);
  return `(${having}) s CROSS JOIN ${table} ON ${table}.rowid = s."match_row"`;
}

/**
 * Prints whether any row of the index contains the word of the row `words` in the table of words.
 */
export function isWordUsed(
  { tenant }: AnyDocumentSpec,
  { index, fields }: SearchIndex,
  words: string,
): string {
  const columns = fields.map((_field, at) => `"t${at}"`).join(" ");
  const owned = tenant ? `'"owner" : "' || lower(hex(${words}."tenant_id")) || '" AND ` : "'";
  const query = `${owned}{${columns}} : "' || ${words}."word" || '"'`;
  return `EXISTS (SELECT 1 FROM ${quoteName(index)} WHERE ${quoteName(index)} MATCH ${query})`;
}

/**
 * The statement that removes a row by its rowid. It also takes the tenant, as on every engine, but
 * does not need it.
 */
export function indexRemove({ tenant }: AnyDocumentSpec, index: string): string {
  return `DELETE FROM ${quoteName(index)} WHERE rowid = ?1${tenant ? " AND ?2 IS NOT NULL" : ""}`;
}
