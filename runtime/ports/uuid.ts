// UUID version 7 (RFC 9562 §5.7): time-ordered identifiers, monotonic within one process.
import { randomFillSync } from "node:crypto";
import { epochMillis } from "./ambient.js";

const hex = Buffer.from("0123456789abcdef");
const pool = new Uint8Array(10 * 256);
let offset = pool.length;
/** The last id. A concatenated string would be as fast to make, but slower to send. */
const text = Buffer.from("00000000-0000-7000-8000-000000000000");
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
  const now = epochMillis();
  if (now > lastMillis) {
    begin(now);
    sequence = ((byte(at) << 8) | byte(at + 1)) & 0x7ff;
  } else if (sequence === 0xfff) {
    begin(lastMillis + 1);
    sequence = 0;
  } else {
    sequence += 1;
  }
  put(14, 0x70 | (sequence >>> 8));
  put(16, sequence & 255);
  put(19, 0x80 | (byte(at + 2) & 0x3f));
  put(21, byte(at + 3));
  for (let index = 0; index < 6; index += 1) put(24 + 2 * index, byte(at + 4 + index));
  return text.toString("latin1");
}

/** Writes the time in front. */
function begin(millis: number): void {
  lastMillis = millis;
  const high = Math.floor(millis / 0x10000);
  const low = millis % 0x10000;
  put(0, high >>> 24);
  put(2, (high >>> 16) & 255);
  put(4, (high >>> 8) & 255);
  put(6, high & 255);
  put(9, low >>> 8);
  put(11, low & 255);
}

/** Writes a byte as two digits. */
function put(at: number, value: number): void {
  text[at] = hex[value >>> 4] ?? 0;
  text[at + 1] = hex[value & 15] ?? 0;
}

function byte(index: number): number {
  return pool[index] ?? 0;
}
