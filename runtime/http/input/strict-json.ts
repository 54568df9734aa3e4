// JSON bodies, read strictly: RFC 8259 text in UTF-8, I-JSON's limits (RFC 7493 §2), nothing
// silently changed.
import { isUtf8 } from "node:buffer";
import { fail } from "../../contract/errors.js";
import { limits } from "../../contract/limits.js";
import { isExactNumber } from "../../contract/exact-number.js";
import { nulFaults } from "../../contract/validation.js";

/**
 * Parses a JSON body. Throws `json_malformed` (bad UTF-8 or syntax, lone surrogates),
 * `json_duplicate_key`, `json_too_deep`, `json_too_complex`, `number_not_exact`, whose context has
 * the character offset where it is known, and `core.validation` with the pointers of texts that
 * hold U+0000, which PostgreSQL cannot store.
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw fail("json_malformed", { reason: "not UTF-8" });
  const text = bytes.toString("utf8");
  const { keys, isPlain } = scan(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's message may quote the input, which is never sent back.
    throw fail("json_malformed", { reason: "not JSON" });
  }
  // A repeated key is in the text, but not in the value.
  if (isPlain && (keys < 2 || keysOf(value) === keys)) return value;
  inspect(text);
  const faults = nulFaults(value);
  if (faults.length > 0) throw fail("core.validation", { errors: faults });
  return value;
}

const quote = 0x22;
const backslash = 0x5c;

interface Scan {
  /** How many keys there are, repeated ones included. */
  readonly keys: number;
  /** Whether there is certainly nothing to refuse besides repeated keys, as in most bodies. */
  readonly isPlain: boolean;
}

/**
 * Looks through text before it is parsed, and allocates nothing. Throws `json_too_deep` where
 * brackets stand too deep, be the rest JSON or not: parsing a megabyte of them takes 150 ms.
 */
function scan(text: string): Scan {
  const hasEscapes = text.includes("\\");
  let isPlain = !hasEscapes || !text.includes("\\u");
  let depth = 0;
  let keys = 0;
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = hasEscapes ? endOfPlainString(text, index) : text.indexOf('"', index + 1);
        // Parsing will say that the string has no end.
        if (index < 0) return { keys, isPlain: false };
        values += 1;
        break;
      case 0x3a: // :
        keys += 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        values += 1;
        if (depth > limits.maxJsonDepth)
          throw fail("json_too_deep", { limit: limits.maxJsonDepth });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x74: // true
      case 0x66: // false
      case 0x6e: // null
        values += 1;
        break;
      case 0x2d: // -
      case 0x30:
      case 0x31:
      case 0x32:
      case 0x33:
      case 0x34:
      case 0x35:
      case 0x36:
      case 0x37:
      case 0x38:
      case 0x39: {
        const start = index;
        index = endOfNumber(text, start);
        isPlain &&= isExactAt(text, start, index);
        values += 1;
        break;
      }
      default:
        break;
    }
  }
  return { keys, isPlain: isPlain && values - keys <= limits.maxJsonValues };
}

/** The index of the closing quote, or -1 if there is none. */
function endOfPlainString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index;
    index += unit === backslash ? 2 : 1;
  }
  return -1;
}

/** How many members the objects of a JSON value have, at all depths. */
function keysOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += keysOf(item);
    return keys;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) keys += 1 + keysOf(members[key]);
  return keys;
}

/** Walks through JSON text and refuses what JSON.parse accepts but we don't. */
function inspect(text: string): void {
  const keys: (Set<string> | null)[] = [];
  let depth = 0;
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case quote: {
        const start = index;
        index = endOfString(text, start);
        const after = skipSpace(text, index + 1);
        if (text.charCodeAt(after) === 0x3a) {
          noteKey(keys[depth - 1], text, start, index);
          index = after;
        } else {
          values += 1;
        }
        break;
      }
      case 0x7b: // {
        keys[depth] = new Set();
        depth += 1;
        values += 1;
        break;
      case 0x5b: // [
        keys[depth] = null;
        depth += 1;
        values += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x74: // true
      case 0x66: // false
      case 0x6e: // null
        values += 1;
        index += text.charCodeAt(index) === 0x66 ? 4 : 3;
        break;
      case 0x2d: // -
      case 0x30:
      case 0x31:
      case 0x32:
      case 0x33:
      case 0x34:
      case 0x35:
      case 0x36:
      case 0x37:
      case 0x38:
      case 0x39: {
        const start = index;
        index = endOfNumber(text, start);
        values += 1;
        if (!isExactAt(text, start, index)) throw fail("number_not_exact", { offset: start });
        break;
      }
      default:
        break;
    }
    if (values > limits.maxJsonValues)
      throw fail("json_too_complex", { limit: limits.maxJsonValues });
  }
}

function noteKey(
  seen: Set<string> | null | undefined,
  text: string,
  start: number,
  end: number,
): void {
  const raw = text.slice(start, end + 1);
  const key = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  if (seen?.has(key) === true) throw fail("json_duplicate_key", { offset: start });
  seen?.add(key);
}

/** The index of the closing quote; refuses escapes that make half a character. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text.charCodeAt(index) !== quote) {
    if (text.charCodeAt(index) !== backslash) {
      index += 1;
    } else if (text.charCodeAt(index + 1) !== 0x75) {
      index += 2;
    } else {
      index = endOfEscape(text, index);
    }
  }
  return index;
}

function endOfEscape(text: string, start: number): number {
  const unit = Number.parseInt(text.slice(start + 2, start + 6), 16);
  if (unit < 0xd800 || unit > 0xdfff) return start + 6;
  const low = Number.parseInt(text.slice(start + 8, start + 12), 16);
  const isPair =
    unit <= 0xdbff && text.startsWith("\\u", start + 6) && low >= 0xdc00 && low <= 0xdfff;
  if (!isPair) throw fail("json_malformed", { reason: "lone surrogate", offset: start });
  return start + 12;
}

function skipSpace(text: string, start: number): number {
  let index = start;
  while (index < text.length && text.charCodeAt(index) <= 0x20) index += 1;
  return index;
}

function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    const continues =
      (unit >= 0x30 && unit <= 0x39) ||
      unit === 0x2e ||
      unit === 0x65 ||
      unit === 0x45 ||
      unit === 0x2b ||
      unit === 0x2d;
    if (!continues) break;
    index += 1;
  }
  return index - 1;
}

/** Whether the number between two indices is one that a double holds. */
function isExactAt(text: string, start: number, end: number): boolean {
  let hasExponent = false;
  for (let index = start; index < end; index += 1)
    if ((text.charCodeAt(index) | 0x20) === 0x65) hasExponent = true;
  if (end - start < 15 && !hasExponent) return true;
  return isExactNumber(text.slice(start, end + 1));
}
