// Members that get running numbers when a document is created, as invoices and tickets have them.
import { readNumberFormat, type NumberPart } from "../contract/running-numbers.js";

/** A member that gets the next number. */
export interface NumberRule {
  readonly member: string;
  /** The parts of its text; null if the member is the number itself. */
  readonly format: readonly NumberPart[] | null;
  /** Fields and parts of the date with each of whose values numbers begin anew. */
  readonly per: readonly string[];
  /** The first number. */
  readonly start: number;
  /** The time zone in which days, months and years begin. */
  readonly timezone: string;
  /**
   * Whether numbers may be left out: then writers take them in blocks, and don't wait for each
   * other.
   */
  readonly hasGaps: boolean;
}

/** What generated documents say of a rule. */
export interface NumberOptions {
  /** A text such as `INV-{year}-{0000}`. */
  readonly format?: string;
  readonly per?: readonly string[];
  readonly start?: number;
  readonly timezone?: string;
  readonly hasGaps?: boolean;
}

/** A member that gets the next number when a document is created. */
export function numberedBy(member: string, options: NumberOptions = {}): NumberRule {
  const { format, per = [], start = 1, timezone = "UTC", hasGaps = false } = options;
  const parts = format === undefined ? null : readNumberFormat(format);
  return { member, format: parts, per, start, timezone, hasGaps };
}
