// The port of queries that authors write in SQL of their own: for reading, within a tenant.
import type { Filter } from "../query/ast.js";
import type { FieldReference } from "../query/fields.js";
import type { DocumentDeclaration } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** A value that SQL is given. */
export type QueryValue = string | number | boolean | null;

/** A piece of a query: its text, visible documents as a table, a field of such a table, or a value. */
export type QueryPiece =
  | { readonly text: string }
  | { readonly of: DocumentDeclaration; readonly filter: Filter }
  | { readonly field: FieldReference }
  | { readonly value: QueryValue };

/** The key of the store below. */
export const ownQueryStore = storeKey<OwnQueryStore>("own-queries");

export interface OwnQueryStore {
  /** The rows of a query by the names of its columns, `limit` at most. It can only read. */
  rows(
    pieces: readonly QueryPiece[],
    columns: readonly string[],
    tenant: string,
    limit: number,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
}
