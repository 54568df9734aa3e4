// Ranges of documents that may not overlap, such as bookings of a room.

/** Fields, each with values of which a document has one; null is absent as well. */
export type SomeValues = Readonly<Record<string, readonly (string | number | boolean | null)[]>>;

/** Of the documents with the same values in `per`, no two ranges overlap. */
export interface OverlapRule {
  /** The fields that documents share whose ranges exclude each other; null in one exempts. */
  readonly per: readonly string[];
  /** The field where the range begins; where it is null there is no range. */
  readonly from: string;
  /** The field before which the range ends; where it is null the range does not end. */
  readonly to: string;
  /** Only documents count whose fields have one of these values. */
  readonly where?: SomeValues;
}
