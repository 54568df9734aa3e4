// The port of queries that authors write in SQL of their own: for reading, within a tenant.
import type { FieldType } from "../contract/fields.js";
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
  /** The rows of a query, `limit` at most, with the values of its columns as their types have them. It can only read. */
  rows(
    pieces: readonly QueryPiece[],
    columns: Readonly<Record<string, FieldType>>,
    tenant: string,
    limit: number,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
}
