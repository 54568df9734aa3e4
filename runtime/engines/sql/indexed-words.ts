// The words of a search index: those that are like another, and those that documents of a query
// have.
import type { DocumentQuery } from "../../ports/documents.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import type { FieldReference } from "../../query/fields.js";
import { whereOf } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import type { SqlSession } from "./session.js";

/** A word of a list, as a field. */
const listed: FieldReference = { path: "", type: "string", isColumn: false, isElement: true };

/** See `SearchStore.wordsLike`. */
export async function wordsLike(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  word: string,
  edits: number,
): Promise<readonly string[]> {
  const { dialect } = session;
  const { trigrams } = dialect;
  const hasTrigrams = trigrams !== null && (await session.all(trigrams, [])).length > 0;
  const parameters = new SqlParameters(dialect);
  const length = [...word].length;
  const letters = [length - edits, length + edits] as const;
  const text = dialect.wordsLike(spec, tenant, word, letters, parameters, hasTrigrams);
  const rows = await session.scan(text, parameters.values, { stored: ["word"] });
  return rows.map((row) => String(row["word"]));
}

/** See `SearchStore.wordsWithin`. */
export async function wordsWithin(
  session: SqlSession,
  spec: SearchSpec,
  tenant: string,
  query: DocumentQuery,
  words: readonly string[],
): Promise<readonly string[]> {
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const [from, word] = dialect.listRows(listed, parameters.add(dialect.list(words)));
  const having = dialect.havingWord(spec, tenant, word, parameters);
  const where = whereOf(spec.document, tenant, query, dialect, parameters);
  const rows = await session.scan(
    `SELECT ${word} AS "word" FROM ${from} WHERE EXISTS (SELECT 1 FROM ${having}${where})`,
    parameters.values,
    { stored: ["word"] },
  );
  return rows.map((row) => String(row["word"]));
}
