// Numbers of a YAML document that no double holds: they would silently become others.
import { visit, type Document } from "yaml";
import { isExactNumber } from "../../runtime/contract/exact-number.js";

/** A number as it is written, and where, in characters from the start of the text. */
export interface InexactNumber {
  readonly written: string;
  readonly becomes: number;
  readonly offset: number;
}

/**
 * Each number that would be rounded to another integer, or to zero, as requests refuse them too.
 * Digits of a fraction beyond the precision of a double are rounded as everywhere in JSON.
 */
export function inexactNumbers(document: Document): readonly InexactNumber[] {
  const found: InexactNumber[] = [];
  visit(document, {
    Scalar(_key, node) {
      const { value, source } = node;
      if (typeof value !== "number" || !Number.isFinite(value) || source === undefined) return;
      if (!isHeld(source, value))
        found.push({ written: source, becomes: value, offset: node.range?.[0] ?? 0 });
    },
  });
  return found;
}

/**
 * Whether a double holds the number that is written: in decimal, or as an integer to the base of 8
 * or 16.
 */
function isHeld(source: string, value: number): boolean {
  const text = source.replace(/^\+/, "");
  if (/^0[ox]/.test(text)) return BigInt(text) === BigInt(value);
  return isExactNumber(text);
}
