// Full text on PostgreSQL: tsvector and GIN (manual 12), one table a search; each field has a weight label of its own.
import type { Match, Phrase } from "../../search/match.js";
import type { SearchSpec } from "../../search/spec.js";
import type { DocumentDeclaration } from "../../documents/spec.js";
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
  const query = `to_tsquery('simple', ${parameters.add(printMatch(match, ofWords, looked))}::text)`;
  const rank = `ts_rank(${parameters.add(ranks)}::float4[], "texts", ${query})::float8`;
  const { table, tenant: isOwned } = spec.document;
  const owned = isOwned ? ` AND "tenant_id" = ${parameters.add(tenant)}` : "";
  return {
    query: `SELECT "id" AS "match_id", ${rank} AS "score" FROM ${quoted(spec.index)} WHERE "texts" @@ ${query}${owned}`,
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
function printPhrase({ words, isPrefix }: Phrase, ofWords: string, looked: string): string {
  const printed = (label: string): string =>
    words
      .map((word, at) => `'${word}':${isPrefix && at === words.length - 1 ? "*" : ""}${label}`)
      .join(" <-> ");
  if (words.length === 1) return printed(ofWords);
  return `(${[...looked].map((label) => `(${printed(label)})`).join(" | ")})`;
}

export function indexPut(
  spec: DocumentDeclaration,
  index: string,
  texts: number,
): readonly { readonly text: string; readonly takesTexts: boolean }[] {
  const used = spec.tenant ? 2 : 1;
  const key = spec.tenant ? `"tenant_id", "id"` : `"id"`;
  const keyValues = spec.tenant ? "$1, $2" : "$1";
  const vector = labels
    .slice(0, texts)
    .map((label, at) => `setweight(to_tsvector('simple', $${used + at + 1}::text), '${label}')`)
    .join(" || ");
  return [
    {
      text:
        `INSERT INTO ${quoted(index)} (${key}, "texts") VALUES (${keyValues}, ${vector}) ` +
        `ON CONFLICT (${key}) DO UPDATE SET "texts" = excluded."texts"`,
      takesTexts: true,
    },
  ];
}

export function indexRemove(spec: DocumentDeclaration, index: string): string {
  const condition = spec.tenant ? `"id" = $1 AND "tenant_id" = $2` : `"id" = $1`;
  return `DELETE FROM ${quoted(index)} WHERE ${condition}`;
}
