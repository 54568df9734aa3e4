// A query after parsing: every field is declared, every value has the type of its field.
import type { OrderOperator, Quantifier, SetOperator } from "../contract/query-operators.js";
import type { FieldReference } from "./fields.js";
import type { Pattern } from "./pattern.js";
import type { RelatedRows } from "./related-rows.js";
import type { Scalar } from "./scalar.js";

/**
 * A condition on a row. It holds or it does not: a comparison with a field that is null or absent
 * does not hold, and `not` holds exactly where its filter does not.
 */
export type Filter =
  | { readonly kind: "all"; readonly filters: readonly Filter[] }
  | { readonly kind: "any"; readonly filters: readonly Filter[] }
  | { readonly kind: "not"; readonly filter: Filter }
  | {
      readonly kind: "compare";
      readonly field: FieldReference;
      readonly operator: "$eq" | "$neq" | OrderOperator;
      readonly value: Scalar;
    }
  | {
      readonly kind: "compareFields";
      readonly field: FieldReference;
      readonly operator: "$eq" | "$neq" | OrderOperator;
      readonly other: FieldReference;
    }
  | {
      readonly kind: "in";
      readonly field: FieldReference;
      readonly isNegated: boolean;
      readonly values: readonly Scalar[];
    }
  | { readonly kind: "null"; readonly field: FieldReference; readonly isNull: boolean }
  /**
   * SQL's LIKE with `%`, `_` and `\`; one of the patterns matches. Without case, the letters A to Z
   * alone.
   */
  | {
      readonly kind: "like";
      readonly field: FieldReference;
      readonly patterns: readonly string[];
      readonly ignoresCase: boolean;
    }
  | {
      readonly kind: "matches";
      readonly field: FieldReference;
      readonly patterns: readonly Pattern[];
    }
  /** Dotted paths as values: `a.b` is below `a` and at `a.b`. */
  | {
      readonly kind: "hierarchy";
      readonly field: FieldReference;
      readonly relation: "below" | "above";
      readonly path: string;
    }
  | { readonly kind: "empty"; readonly field: FieldReference; readonly isEmpty: boolean }
  | {
      readonly kind: "set";
      readonly field: FieldReference;
      readonly operator: SetOperator;
      readonly values: readonly Scalar[];
    }
  /** `filter` is about one element of the array. */
  | {
      readonly kind: "quantified";
      readonly field: FieldReference;
      readonly quantifier: Quantifier;
      readonly filter: Filter;
    }
  /**
   * One of other rows that has as `theirs` what this row has as `ours` is there, is visible, and
   * passes: the one that this row names (theirs is the id), one that names it (ours is the id), or
   * one that names what this row names. Until it is said what is visible, no engine takes it.
   */
  | {
      readonly kind: "related";
      readonly ours: FieldReference;
      readonly theirs: FieldReference;
      readonly rows: RelatedRows;
      readonly visible: Filter | null;
      readonly filter: Filter;
    };

/** The filter that every row passes. */
export const everything: Filter = { kind: "all", filters: [] };

/** What passes all of these filters. */
export function allOf(...filters: readonly Filter[]): Filter {
  return { kind: "all", filters };
}

export interface SortKey {
  /** A field of the row; of what it names where there is a way. */
  readonly field: FieldReference;
  readonly via?: Via;
  readonly direction: "asc" | "desc";
  readonly nulls: "first" | "last";
}

/** The way to the row whose field sorts: what `member` names, as far as it is visible. */
export interface Via {
  readonly member: FieldReference;
  readonly rows: RelatedRows;
  readonly visible: Filter | null;
}

/** Where a page begins: the sort values of one row, in the order of the sort keys. */
export type Position = readonly (Scalar | null)[];
