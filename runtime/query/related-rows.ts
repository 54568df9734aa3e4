// Rows of another type of documents, as conditions name them.

/** Plain data, since cursors are bound to it. */
export interface RelatedRows {
  /** The documents, or the view of them: what is visible is a matter of it. */
  readonly name: string;
  readonly table: string;
  readonly tenant: boolean;
  readonly softDelete: boolean;
  /** See `DocumentSpec.hidesDeleted`. */
  readonly hidesDeleted?: true;
}
