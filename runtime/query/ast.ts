// A query after parsing: every field is declared, every value has the type of its field.
import type { FieldReference } from "./fields.js";
import type { Scalar } from "./scalar.js";

export type Filter =
  | { readonly kind: "all"; readonly filters: readonly Filter[] }
  | { readonly kind: "equals"; readonly field: FieldReference; readonly value: Scalar }
  | { readonly kind: "in"; readonly field: FieldReference; readonly values: readonly Scalar[] }
  | { readonly kind: "isNull"; readonly field: FieldReference };

/** The filter that every row passes. */
export const everything: Filter = { kind: "all", filters: [] };

export interface SortKey {
  readonly field: FieldReference;
  readonly direction: "asc" | "desc";
  readonly nulls: "first" | "last";
}

/** Where a page begins: the sort values of one row, in the order of the sort keys. */
export type Position = readonly (Scalar | null)[];
