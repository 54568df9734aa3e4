// A document as an index of a search takes it, whatever the engine.
import { textsAt } from "./texts.js";
import { indexedWords } from "../../query/words.js";

export interface IndexedDocument {
  /** "" where the type has no tenants. */
  readonly tenant: string;
  readonly id: string;
  /** The words of each field, in order. */
  readonly words: readonly (readonly string[])[];
}

/** A stored document with the words of the fields that a search looks at, by dotted path. */
export function indexedDocument(
  tenant: string,
  id: string,
  body: string,
  fields: readonly string[],
): IndexedDocument {
  const document: unknown = JSON.parse(body);
  return { tenant, id, words: fields.map((path) => indexedWords(textsAt(document, path))) };
}

/** The different words of each tenant, in order. */
export function wordsByTenant(
  documents: readonly IndexedDocument[],
): readonly (readonly [tenant: string, words: readonly string[]])[] {
  const tenants = new Map<string, Set<string>>();
  for (const { tenant, words } of documents) {
    const known = tenants.get(tenant) ?? new Set<string>();
    tenants.set(tenant, known);
    for (const word of words.flat()) known.add(word);
  }
  return [...tenants].map(([tenant, words]) => [tenant, [...words].sort()]);
}

/** A tenant as one word of an index: letters and digits, whatever its id is. */
export function ownerWord(tenant: string): string {
  return Buffer.from(tenant).toString("hex");
}
