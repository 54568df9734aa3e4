// Keeping the indexes of searches with the documents, in the transaction of each write.
import type { StoredDocument } from "../../documents/port.js";
import type { DocumentDeclaration } from "../../documents/spec.js";
import { textsAt } from "../../search/texts.js";
import { indexedText } from "../../search/words.js";
import { ownerOf } from "./document-rows.js";
import type { SqlSession, SqlValue } from "./session.js";

/** What the indexes of a document type are told of its writes. */
export interface SearchIndexes {
  /** The document is there, or has another body. */
  put(spec: DocumentDeclaration, tenant: string, document: StoredDocument): Promise<void>;
  /** Takes a document out that has just been removed; `key` is what its row was known by. */
  remove(spec: DocumentDeclaration, tenant: string, key: SqlValue): Promise<void>;
}

/** The indexes as one transaction keeps them. */
export function sqlSearchIndexes(session: SqlSession): SearchIndexes {
  const { dialect } = session;
  return {
    async put(spec, tenant, document) {
      if (spec.searches === undefined) return;
      const body: unknown = JSON.parse(document.body);
      for (const { index, fields } of spec.searches) {
        const texts = fields.map((path) => indexedText(textsAt(body, path)));
        await session.run(dialect.indexPut(spec, index, fields.length), [
          ...ownerOf(spec, tenant),
          document.id,
          ...texts,
        ]);
      }
    },

    async remove(spec, tenant, key) {
      for (const { index } of spec.searches ?? [])
        await session.run(dialect.indexRemove(spec, index), [key, ...ownerOf(spec, tenant)]);
    },
  };
}
