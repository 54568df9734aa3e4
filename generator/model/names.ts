// Names that follow from other names: types from operation keys, identifiers from both.
import { derivedSqlName } from "../../runtime/contract/sql-names.js";

const pascalCases = new Map<string, string>();

/** `tasks.raw_list` → `TasksRawList`. Cached, because every emitter asks for the same names. */
export function pascalCase(text: string): string {
  const known = pascalCases.get(text);
  if (known !== undefined) return known;
  const name = text.replaceAll(/(?:[^A-Za-z0-9]+|^)([A-Za-z0-9]?)/g, (_separator, first: string) =>
    first.toUpperCase(),
  );
  pascalCases.set(text, name);
  return name;
}

/** `tasks.raw_list` → `tasksRawList`. */
export function camelCase(text: string): string {
  const name = pascalCase(text);
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** The name of a spec in emitted modules: `tasks` → `tasksSpec`. */
export function specName(of: string): string {
  return `${camelCase(of)}Spec`;
}

/** `tasks.raw_list` → `Raw list tasks`. */
export function sentenceCase(operation: string, namespace: string): string {
  const words = `${operation.replaceAll("_", " ")} ${namespace.replaceAll("_", " ")}`;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What is made of a search's index beside itself; the last ones are tables that FTS5 keeps. */
export const indexSuffixes = [
  "_by_texts",
  "_words",
  "_words_by_word",
  "_words_by_trigrams",
  "_data",
  "_idx",
  "_content",
  "_docsize",
  "_config",
] as const;

/** The name of a search's index in SQL. */
export function indexName(search: string): string {
  return derivedSqlName(
    `${search}_index`,
    Math.max(...indexSuffixes.map((suffix) => suffix.length)),
  );
}

/** The name of the index of a table's rows that were deleted. */
export function deletedIndexName(table: string): string {
  return derivedSqlName(`${table}_deleted`);
}

/**
 * The name, or if it is taken the first free one with a number: `wanted#2`. For names in rows,
 * which never change.
 */
export function numberedName(
  wanted: string,
  isTaken: (name: string) => boolean,
  numbered = (number: number): string => `${wanted}#${number}`,
): string {
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = numbered(number);
  return name;
}
