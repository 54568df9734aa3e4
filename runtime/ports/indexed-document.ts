// A document in the form that a search index stores, on every engine.
import { textsAt } from "./searched-texts.js";
import type { SearchIndex } from "./document-spec.js";
import { indexedText, type IndexedText } from "../query/indexed-texts.js";

export interface IndexedDocument {
  /** "" if the document type has no tenants. */
  readonly tenant: string;
  readonly id: string;
  /** One per searched field, in the order of `SearchIndex.fields`. */
  readonly texts: readonly IndexedText[];
}

/**
 * Makes the indexed form of a stored document: the words of its searched fields. `body` is JSON.
 */
export function indexedDocument(
  tenant: string,
  id: string,
  body: string,
  { fields, language }: SearchIndex,
): IndexedDocument {
  const document: unknown = JSON.parse(body);
  return {
    tenant,
    id,
    texts: fields.map((path) => indexedText(textsAt(document, path), language ?? null)),
  };
}

/** The distinct words of a document. */
export function differentWords({ texts }: IndexedDocument): readonly string[] {
  return [...new Set(texts.flatMap(({ words }) => words))];
}

/** The distinct words of each tenant, sorted. */
export function wordsByTenant(
  documents: readonly IndexedDocument[],
): readonly (readonly [tenant: string, words: readonly string[]])[] {
  const tenants = new Map<string, Set<string>>();
  for (const document of documents) {
    const { tenant } = document;
    const known = tenants.get(tenant) ?? new Set<string>();
    tenants.set(tenant, known);
    for (const word of differentWords(document)) known.add(word);
  }
  return [...tenants].map(([tenant, words]) => [tenant, [...words].sort()]);
}

/**
 * A tenant's id as one word of an index: in hexadecimal, so that it has letters and digits only.
 */
export function ownerWord(tenant: string): string {
  return Buffer.from(tenant).toString("hex");
}
