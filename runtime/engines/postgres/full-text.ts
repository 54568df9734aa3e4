// Full text on PostgreSQL: tsvector and GIN (manual 12), one table a search; each field has a weight label of its own.
import { asSpelt, type Match, type Phrase } from "../../search/match.js";
import type { SearchSpec } from "../../search/spec.js";
import type { DocumentDeclaration } from "../../documents/spec.js";
import { score } from "../sql/score.js";
import { quoted, type ParameterSink } from "../sql/session.js";

/** The labels that a tsvector has; a search has no more fields than these. */
const labels = ["A", "B", "C", "D"] as const;

/** Documents of the tenant that match, ranked by ts_rank. */
export function matching(
  spec: SearchSpec,
  tenant: string,
  match: Match,
  weights: Readonly<Record<string, number>>,
  parameters: ParameterSink,
): { readonly query: string; readonly join: string } {
  const fields = Object.keys(spec.text);
  const highest = Math.max(...Object.values(weights), Number.MIN_VALUE);
  const used = labels.slice(0, fields.length);
  const looked = used.filter((_label, at) => (fields[at] ?? "") in weights).join("");
  // Labels make the index look at the rows again; where every field counts, words do without.
  const ofWords = looked.length === fields.length ? "" : looked;
  // ts_rank takes weights from 0 to 1, those of the labels D, C, B and A.
  const ranks = [3, 2, 1, 0].map((at) => {
    const share = (weights[fields[at] ?? ""] ?? 0) / highest;
    // What is less does not fit into a float4, and counts for nothing.
    return share < 1e-6 ? 0 : share;
  });
  const queryOf = (wanted: Match): string =>
    `to_tsquery('simple', ${parameters.add(printMatch(wanted, ofWords, looked))}::text)`;
  const query = queryOf(match);
  const spelt = asSpelt(match);
  const isSpelt = spelt === null ? null : `"texts" @@ ${queryOf(spelt)}`;
  const rank = `ts_rank(${parameters.add(ranks)}::float4[], "texts", ${query})::float8`;
  const { table, tenant: isOwned } = spec.document;
  const owned = isOwned ? ` AND "tenant_id" = ${parameters.add(tenant)}` : "";
  return {
    query: `SELECT "id" AS "match_id", ${score(rank, isSpelt)} AS "score" FROM ${quoted(spec.index)} WHERE "texts" @@ ${query}${owned}`,
    join: `${quoted(table)}."id" = s."match_id"`,
  };
}

/** The match in the language of tsquery. Words are letters and digits alone, and stand in quotes all the same. */
function printMatch({ combine, groups }: Match, ofWords: string, looked: string): string {
  const printed = groups.map(
    (group) => `(${group.map((phrase) => printPhrase(phrase, ofWords, looked)).join(" & ")})`,
  );
  return printed.join(combine === "any" ? " | " : " & ");
}

/** Fields stand one behind the other in a tsvector: a phrase of several words is asked for in each of them. */
function printPhrase(phrase: Phrase, ofWords: string, looked: string): string {
  const { words, isPrefix, spellings } = phrase;
  const printed = (label: string): string =>
    words
      .map((word, at) => `'${word}':${isPrefix && at === words.length - 1 ? "*" : ""}${label}`)
      .join(" <-> ");
  if (words.length === 1) {
    const others = spellings.map((word) => `'${word}':${ofWords}`);
    return others.length === 0
      ? printed(ofWords)
      : `(${[printed(ofWords), ...others].join(" | ")})`;
  }
  return `(${[...looked].map((label) => `(${printed(label)})`).join(" | ")})`;
}

export function indexPut(spec: DocumentDeclaration, index: string, texts: number): string {
  const used = spec.tenant ? 2 : 1;
  const key = spec.tenant ? `"tenant_id", "id"` : `"id"`;
  const keyValues = spec.tenant ? "$1, $2" : "$1";
  const vector = labels
    .slice(0, texts)
    .map((label, at) => `setweight(to_tsvector('simple', $${used + at + 1}::text), '${label}')`)
    .join(" || ");
  const words = quoted(`${index}_words`);
  const tenantColumn = spec.tenant ? `"tenant_id", ` : "";
  const isKnown = `known."word" = w."word"${spec.tenant ? ` AND known."tenant_id" = $1` : ""}`;
  // Words that two transactions add at once stand there twice, which costs less than one waiting for the other.
  return (
    `WITH made AS (SELECT ${vector} AS "texts"), added AS (` +
    `INSERT INTO ${words} (${tenantColumn}"word") SELECT ${spec.tenant ? "$1, " : ""}w."word" ` +
    `FROM made, unnest(tsvector_to_array("texts")) AS w("word") ` +
    `WHERE NOT EXISTS (SELECT 1 FROM ${words} known WHERE ${isKnown})) ` +
    `INSERT INTO ${quoted(index)} (${key}, "texts") SELECT ${keyValues}, "texts" FROM made ` +
    `ON CONFLICT (${key}) DO UPDATE SET "texts" = excluded."texts"`
  );
}

/** The words of the tenant; where there are trigrams (pg_trgm), also those that are alike but begin otherwise. */
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
    `SELECT "word" FROM ${quoted(`${index}_words`)} ` +
    `WHERE char_length("word") BETWEEN ${least}::int AND ${most}::int${owned} AND `;
  const range = `"word" >= ${parameters.add(first)}::text AND "word" < ${parameters.add(`${first}\u{10FFFF}`)}::text`;
  if (!hasTrigrams) return `SELECT DISTINCT "word" FROM (${select}${range}) AS found`;
  return `${select}${range} UNION ${select}"word" % ${parameters.add(word)}::text`;
}

export function indexClear(index: string): readonly string[] {
  return [index, `${index}_words`].map((table) => `DELETE FROM ${quoted(table)}`);
}

export function indexRemove(spec: DocumentDeclaration, index: string): string {
  const condition = spec.tenant ? `"id" = $1 AND "tenant_id" = $2` : `"id" = $1`;
  return `DELETE FROM ${quoted(index)} WHERE ${condition}`;
}
