// Names in SQL that are derived from others, such as that of an index from its table's and its
// fields'.
import { createHash } from "node:crypto";

/** PostgreSQL truncates longer names, so that two could become one. */
export const maxSqlNameBytes = 63;

/**
 * A derived name as it is, or if it is too long its beginning and a hash of the whole. The same
 * name always has the same result, because databases keep it. `suffixBytes` is the room for what is
 * appended to it.
 */
export function derivedSqlName(name: string, suffixBytes = 0): string {
  const room = maxSqlNameBytes - suffixBytes;
  if (Buffer.byteLength(name) <= room) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${cutToBytes(name, room - hash.length - 1)}_${hash}`;
}

/** As many whole characters as fit into some bytes. */
function cutToBytes(text: string, bytes: number): string {
  let kept = "";
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}

/** The table with the revisions of a document's table. */
export function historyTableName(table: string): string {
  return derivedSqlName(`${table}_history`);
}
