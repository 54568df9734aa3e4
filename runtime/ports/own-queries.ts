// The port of queries that authors write in SQL themselves. They only read, within one tenant.
import type { FieldType } from "../contract/fields.js";
import type { Filter } from "../query/ast.js";
import type { FieldReference } from "../query/fields.js";
import type { AnyDocumentSpec } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** A value that is passed to SQL as a parameter. */
export type QueryValue = string | number | boolean | null;

/**
 * A piece of a query: SQL text, the visible documents of a type as a table, a field of such a
 * table, or a value.
 */
export type QueryPiece =
  | { readonly text: string }
  | { readonly of: AnyDocumentSpec; readonly filter: Filter }
  | { readonly field: FieldReference }
  | { readonly value: QueryValue };

/** The key of the store below. */
export const ownQueryStore = storeKey<OwnQueryStore>("own-queries");

export interface OwnQueryStore {
  /**
   * Up to `limit` rows of a query, with the values of `columns` in their types. The query can only
   * read.
   */
  rows(
    pieces: readonly QueryPiece[],
    columns: Readonly<Record<string, FieldType>>,
    tenant: string,
    limit: number,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
}
