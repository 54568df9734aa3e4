// Full text on SQLite: FTS5 (https://www.sqlite.org/fts5.html), one index a search, its rows those of the documents.
import { asSpelt, type Match, type Phrase } from "../../search/match.js";
import type { SearchSpec } from "../../search/spec.js";
import type { DocumentDeclaration } from "../../documents/spec.js";
import { score } from "../sql/score.js";
import { quoted, type ParameterSink } from "../sql/session.js";

/** Rows that match, ranked by bm25. The tenant is a condition on the documents, which are joined by row. */
export function matching(
  spec: SearchSpec,
  _tenant: string,
  match: Match,
  weights: Readonly<Record<string, number>>,
  parameters: ParameterSink,
): { readonly query: string; readonly join: string } {
  const index = quoted(spec.index);
  const fields = Object.keys(spec.text);
  const looked = fields.flatMap((name, at) => (name in weights ? [`t${at}`] : []));
  // A field of weight 0 finds, but does not rank.
  const ranks = fields.map((name) => parameters.add(weights[name] ?? 0)).join(", ");
  const columns = `{${looked.join(" ")}}`;
  const query = parameters.add(`${columns} : (${printMatch(match)})`);
  const rank = `-bm25(${index}, ${ranks})`;
  const spelt = asSpelt(match);
  const isSpelt =
    spelt === null
      ? null
      : `rowid IN (SELECT rowid FROM ${index} WHERE ${index} MATCH ${parameters.add(`${columns} : (${printMatch(spelt)})`)})`;
  return {
    query: `SELECT rowid AS "match_row", ${score(rank, isSpelt)} AS "score" FROM ${index} WHERE ${index} MATCH ${query}`,
    join: `${quoted(spec.document.table)}.rowid = s."match_row"`,
  };
}

/** The match in FTS5's language. Words are letters and digits alone, and stand in quotes all the same. */
function printMatch({ combine, groups }: Match): string {
  const printed = groups.map((group) => `(${group.map(printPhrase).join(" AND ")})`);
  return printed.join(combine === "any" ? " OR " : " AND ");
}

function printPhrase({ words, isPrefix, spellings }: Phrase): string {
  const phrase = `"${words.join(" ")}"${isPrefix ? " *" : ""}`;
  return spellings.length === 0
    ? phrase
    : `(${[phrase, ...spellings.map((word) => `"${word}"`)].join(" OR ")})`;
}

/** The words of the index, of every tenant: a word that is no spelling of the tenant's rows matches none of them. */
export function wordsLike(
  { index }: SearchSpec,
  _tenant: string,
  word: string,
  [shortest, longest]: readonly [number, number],
  parameters: ParameterSink,
): string {
  const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
  return (
    `SELECT "term" AS "word" FROM ${quoted(`${index}_words`)} ` +
    `WHERE "term" >= ${parameters.add(first)} AND "term" < ${parameters.add(`${first}\u{10FFFF}`)} ` +
    `AND length("term") BETWEEN ${parameters.add(shortest)} AND ${parameters.add(longest)}`
  );
}

export function indexPut(spec: DocumentDeclaration, index: string, texts: number): string {
  const [condition, used] = ofDocument(spec);
  const columns = Array.from({ length: texts }, (_, at) => `"t${at}"`).join(", ");
  const values = Array.from({ length: texts }, (_, at) => `?${used + at + 1}`).join(", ");
  return (
    `INSERT OR REPLACE INTO ${quoted(index)} (rowid, ${columns}) ` +
    `SELECT rowid, ${values} FROM ${quoted(spec.table)} WHERE ${condition}`
  );
}

export function indexClear(index: string): readonly string[] {
  return [`DELETE FROM ${quoted(index)}`];
}

/** The owner's columns are given as well, and say nothing more. */
export function indexRemove({ tenant }: DocumentDeclaration, index: string): string {
  return `DELETE FROM ${quoted(index)} WHERE rowid = ?1${tenant ? " AND ?2 IS NOT NULL" : ""}`;
}

/** The condition on one document, and how many parameters it takes. */
function ofDocument({ tenant }: DocumentDeclaration): readonly [string, number] {
  return tenant ? [`"tenant_id" = ?1 AND "id" = ?2`, 2] : [`"id" = ?1`, 1];
}
