// The indexes of searches: each belongs to the texts and the language that it was made for, and
// stays where older versions may still write it.
import { isDeepStrictEqual } from "node:util";
import type { Shape } from "../../runtime/contract/shapes.js";
import { storedField } from "../../runtime/contract/stored-members.js";
import { indexName } from "./names.js";
import { own, sortedRecord } from "./records.js";
import type { StemmedLanguage } from "../../runtime/contract/search-languages.js";
import type { DatabaseSchema, TableSchema } from "./stored-tables.js";

/**
 * The layout that this version makes. 1 had texts on SQLite and vectors on PostgreSQL; 2 has texts
 * on both, to compute scores from, and the words of each tenant.
 */
export const searchLayout = 2;

/** The part of a table that is about its search indexes. */
type SearchIndexes = Pick<TableSchema, "searches" | "languages" | "searchesOf">;

/** What an index is made for. */
interface IndexedSearch {
  readonly name: string;
  readonly was: string | null;
  readonly language: StemmedLanguage | null;
  readonly text: Readonly<Record<string, number>>;
}

/** Gives searches their indexes: see `searchIndexes`. */
export type IndexGiver = (
  searches: readonly IndexedSearch[],
  shape: Shape,
  before: TableSchema | undefined,
) => SearchIndexes;

/**
 * Gives the searches of a table their indexes, table by table. A search keeps its index while its
 * texts and its language stay the same; otherwise it gets another one, and the old one stays until
 * it is purged: processes of the version before go on writing it.
 */
export function searchIndexes(database: DatabaseSchema, purges: boolean): IndexGiver {
  const { tables, searchLayout: layout = 1 } = database;
  const taken = new Set(Object.values(tables).flatMap(({ searches }) => Object.keys(searches)));
  return (searches, shape, before) => {
    const known: SearchIndexes = before ?? { searches: {} };
    const given = searches.map((search) => {
      const { name, was, language, text } = search;
      const texts = Object.keys(text).map((path) => storedField(shape, path).path);
      const same = [name, ...(was == null ? [] : [was])]
        .flatMap((called) => indexOf(known, called) ?? [])
        .find(
          (index) =>
            layout === searchLayout &&
            isDeepStrictEqual([known.searches[index], languageOf(known, index)], [texts, language]),
        );
      const index = same ?? freeName(indexName(name), taken);
      taken.add(index);
      return { name, index, texts, language };
    });
    const made = given.map(({ index, texts }) => [index, texts] as const);
    const stemmed = given.flatMap(({ index, language }) =>
      language === null ? [] : [[index, language] as const],
    );
    const stays = purges ? {} : known.searches;
    const all = sortedRecord(new Map([...Object.entries(stays), ...made]));
    const languages = sortedRecord(
      new Map([...Object.entries(purges ? {} : (known.languages ?? {})), ...stemmed]),
    );
    const isUsual =
      Object.keys(all).length === given.length &&
      given.every(({ name, index }) => index === indexName(name));
    return {
      searches: all,
      ...(Object.keys(languages).length === 0 ? {} : { languages }),
      ...(isUsual
        ? {}
        : { searchesOf: Object.fromEntries(given.map(({ name, index }) => [name, index])) }),
    };
  };
}

/** The index of a search in a table; undefined if it has none, or no longer. */
export function indexOf(
  { searches, searchesOf }: Pick<SearchIndexes, "searches" | "searchesOf">,
  name: string,
): string | undefined {
  if (searchesOf !== undefined) return own(searchesOf, name);
  return Object.hasOwn(searches, indexName(name)) ? indexName(name) : undefined;
}

/** Indexes of a table that no search has any more. */
export function retiredIndexes({ searches, searchesOf }: SearchIndexes): readonly string[] {
  if (searchesOf === undefined) return [];
  const used = Object.values(searchesOf);
  return Object.keys(searches).filter((index) => !used.includes(index));
}

function languageOf({ languages = {} }: SearchIndexes, index: string): string | null {
  return own(languages, index) ?? null;
}

/** The index of a search, in the table of what it searches. */
export function indexOfSearch(table: TableSchema | undefined, name: string): string {
  return (table === undefined ? undefined : indexOf(table, name)) ?? indexName(name);
}

/** The name, or the first free one with a number: `articles_index_2`. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}_${number}`)) number += 1;
  return `${wanted}_${number}`;
}
