// What the documents that a page refers to are called.
import type { Api, Json } from "../api.js";
import { idsIn } from "./named.js";
import { documentKind, titleMember, titleOf, type DocumentKind } from "./document.js";

/** The titles of documents, by id. */
export type ReferenceTitles = ReadonlyMap<string, string>;

/**
 * Reads the titles of what the hits refer to: a call for each member that is a reference. What the
 * caller may not read has none.
 */
export async function readReferenceTitles(
  api: Api,
  { references }: DocumentKind,
  hits: readonly Json[],
): Promise<ReferenceTitles> {
  const found = await Promise.all(
    Object.entries(references).map(([member, to]) => {
      const ids = new Set(hits.flatMap((hit) => idsIn(hit[member])));
      return readTitles(api, to, [...ids]);
    }),
  );
  return new Map(found.flat());
}

async function readTitles(
  api: Api,
  name: string,
  ids: readonly string[],
): Promise<readonly (readonly [id: string, title: string])[]> {
  const kind = documentKind(api, name);
  const { list, operators } = kind;
  const isFound = titleMember(kind) !== null && operators["id"]?.includes("$in") === true;
  if (ids.length === 0 || list === null || !isFound) return [];
  const query = { filters: { $values: { id: { $in: ids } } }, size: ids.length };
  try {
    const { hits } = await api.call<{ readonly hits: readonly Json[] }>(list, query);
    return hits.map((hit) => [String(hit["id"]), titleOf(kind, hit)]);
  } catch {
    return [];
  }
}
