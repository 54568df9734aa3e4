// UUID version 7 (RFC 9562 §5.7): time-ordered identifiers, monotonic within one process.
import { randomFillSync } from "node:crypto";

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const pool = new Uint8Array(10 * 256);
let offset = pool.length;
let lastMillis = 0;
let sequence = 0;

/** A new UUIDv7 as lower-case text. Later calls in this process sort after earlier ones. */
export function uuidv7(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const at = offset;
  offset += 10;
  const now = Date.now();
  if (now > lastMillis) {
    lastMillis = now;
    sequence = ((byte(at) << 8) | byte(at + 1)) & 0x7ff;
  } else if (sequence === 0xfff) {
    lastMillis += 1;
    sequence = 0;
  } else {
    sequence += 1;
  }
  const high = Math.floor(lastMillis / 0x10000);
  const low = lastMillis % 0x10000;
  return (
    pair(high >>> 24) +
    pair((high >>> 16) & 255) +
    pair((high >>> 8) & 255) +
    pair(high & 255) +
    "-" +
    pair(low >>> 8) +
    pair(low & 255) +
    "-" +
    pair(0x70 | (sequence >>> 8)) +
    pair(sequence & 255) +
    "-" +
    pair(0x80 | (byte(at + 2) & 0x3f)) +
    pair(byte(at + 3)) +
    "-" +
    pair(byte(at + 4)) +
    pair(byte(at + 5)) +
    pair(byte(at + 6)) +
    pair(byte(at + 7)) +
    pair(byte(at + 8)) +
    pair(byte(at + 9))
  );
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the text is a UUID of any version in its canonical form. */
export function isUuid(text: string): boolean {
  return text.length === 36 && uuidPattern.test(text);
}

function byte(index: number): number {
  return pool[index] ?? 0;
}

function pair(value: number): string {
  return hex[value & 255] ?? "00";
}
