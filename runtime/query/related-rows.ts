// Rows of another type of documents, as conditions name them.

/** Plain data, since cursors are bound to it. */
export interface RelatedRows {
  readonly name: string;
  readonly table: string;
  readonly tenant: boolean;
  readonly softDelete: boolean;
}
