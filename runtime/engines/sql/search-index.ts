// Keeps search indexes up to date with their documents, in the transaction of each write.
import type { StoredDocument } from "../../ports/documents.js";
import type { AnyDocumentSpec, SearchIndex } from "../../ports/document-spec.js";
import { indexedDocument, type IndexedDocument } from "../../ports/indexed-document.js";
import { ownerOf } from "./document-rows.js";
import type { Dialect } from "./dialect/dialect.js";
import type { IndexStatement } from "./dialect/searches.js";
import type { SqlValue } from "./dialect/values.js";
import type { SqlSession } from "./session.js";

/** Updates the search indexes of a document type when its documents are written. */
export interface SearchIndexes {
  /** Indexes a document that was inserted or replaced. */
  put(spec: AnyDocumentSpec, tenant: string, document: StoredDocument): Promise<void>;
  /**
   * Takes a document out of the indexes after its row was deleted; `key` is what `dialect.rowKey`
   * was in that row.
   */
  remove(spec: AnyDocumentSpec, tenant: string, key: SqlValue): Promise<void>;
}

/** The search indexes, within one transaction. */
export function sqlSearchIndexes(session: SqlSession): SearchIndexes {
  const { dialect } = session;
  return {
    async put(spec, tenant, { id, body }) {
      for (const search of spec.searches ?? []) {
        const document = indexedDocument(spec.tenant ? tenant : "", id, body, search);
        for (const { text, parameters } of printedOf(dialect, spec, search))
          await session.runPipelined(text, parameters(document));
      }
    },

    async remove(spec, tenant, key) {
      for (const { index } of spec.searches ?? [])
        await session.runPipelined(dialect.indexRemove(spec, index), [
          key,
          ...ownerOf(spec, tenant),
        ]);
    },
  };
}

type Statements = readonly IndexStatement<IndexedDocument>[];

/** The statements of each type and index, printed once because every write needs them. */
const printed = new WeakMap<Dialect, WeakMap<AnyDocumentSpec, Map<string, Statements>>>();

function printedOf(dialect: Dialect, spec: AnyDocumentSpec, search: SearchIndex): Statements {
  const types = printed.get(dialect) ?? new WeakMap<AnyDocumentSpec, Map<string, Statements>>();
  printed.set(dialect, types);
  const known = types.get(spec) ?? new Map<string, Statements>();
  types.set(spec, known);
  const statements = known.get(search.index) ?? dialect.indexPut(spec, search);
  known.set(search.index, statements);
  return statements;
}

/**
 * Puts documents into an index as they are now. It costs little for documents that the index
 * already has with the same words.
 */
export async function putInIndex(
  session: SqlSession,
  spec: AnyDocumentSpec,
  search: SearchIndex,
  documents: readonly IndexedDocument[],
): Promise<void> {
  const { dialect } = session;
  for (const { text, parameters } of dialect.indexPutMany(spec, search))
    await session.run(text, parameters(documents));
}
