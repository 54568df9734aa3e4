// A document as an index of a search takes it, whatever the engine.
import { textsAt } from "./texts.js";
import type { SearchIndex } from "../../ports/document-spec.js";
import { indexedText, type IndexedText } from "../../query/indexed-texts.js";

export interface IndexedDocument {
  /** "" where the type has no tenants. */
  readonly tenant: string;
  readonly id: string;
  /** Of each field. */
  readonly texts: readonly IndexedText[];
}

/** A stored document with the words of the fields that a search looks at. */
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

/** The different words of a document. */
export function differentWords({ texts }: IndexedDocument): readonly string[] {
  return [...new Set(texts.flatMap(({ words }) => words))];
}

/** The different words of each tenant, in order. */
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

/** A tenant as one word of an index: letters and digits, whatever its id is. */
export function ownerWord(tenant: string): string {
  return Buffer.from(tenant).toString("hex");
}
