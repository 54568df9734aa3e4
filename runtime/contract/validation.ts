// What compiled validators call at run time: formats, string length, deep equality (JSON Schema
// 2020-12 validation).
import { decimal } from "./exact-number.js";
import { limits } from "./limits.js";
import { pointer } from "./json-pointer.js";
import { forgetItems } from "./repeated-items.js";

/**
 * One fault found by a validator: where (JSON Pointer), which keyword, and a sentence without the
 * value.
 */
export interface ValidationFault {
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
}

/** An error object as Ajv's standalone code makes it. */
export interface AjvError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * A function compiled by Ajv: returns whether the data is valid and leaves its errors on itself.
 */
export interface CompiledValidator {
  (data: unknown): boolean;
  errors?: readonly AjvError[] | null;
}

/**
 * A compiled check that carries the type it proves. Returns the faults, or null if the data is a
 * `T`.
 */
export interface Validator<T> {
  (data: unknown): readonly ValidationFault[] | null;
  /** Never set; it only keeps `T` in the type. */
  readonly proves?: T;
}

/**
 * Wraps Ajv's standalone function `check` as a validator of `T`, reporting at most `maxFaults`
 * faults.
 */
export function validator<T>(
  check: CompiledValidator,
  maxFaults: number = limits.maxReportedErrors,
): Validator<T> {
  return (data) => {
    forgetItems();
    if (check(data)) return null;
    return (check.errors ?? []).slice(0, maxFaults).map(toFault);
  };
}

/** Appends errors of one check to those of another, until there are as many as are reported. */
export function joinErrors(
  errors: AjvError[] | null,
  further: readonly AjvError[],
): readonly AjvError[] {
  const joined = errors ?? [];
  for (const error of further) {
    if (joined.length >= limits.maxReportedErrors) break;
    joined.push(error);
  }
  return joined;
}

function toFault(error: AjvError): ValidationFault {
  const member = error.params["missingProperty"] ?? error.params["additionalProperty"];
  const path =
    typeof member === "string" ? pointer(error.instancePath, member) : error.instancePath;
  return { path, keyword: error.keyword, message: error.message ?? "is not valid" };
}

/**
 * A fault for each text and each member name of a JSON value, at any depth, that contains U+0000;
 * only the first of many.
 */
export function nulFaults(value: unknown): readonly ValidationFault[] {
  const faults: ValidationFault[] = [];
  const places: { readonly path: string; readonly value: unknown }[] = [{ path: "", value }];
  // Authors' code may pass on what leads back to itself.
  const seen = new Set<object>();
  for (const place of places) {
    if (faults.length >= limits.maxReportedErrors) break;
    if (typeof place.value === "string") {
      if (place.value.includes("\0")) faults.push(nulFault(place.path));
      continue;
    }
    if (typeof place.value !== "object" || place.value === null) continue;
    if (seen.has(place.value)) continue;
    seen.add(place.value);
    for (const [name, member] of Object.entries(place.value)) {
      const path = pointer(place.path, name);
      if (name.includes("\0")) faults.push(nulFault(path));
      else places.push({ path, value: member });
    }
  }
  return faults;
}

/** The fault of a text with U+0000, which PostgreSQL can't store. */
export function nulFault(path: string): ValidationFault {
  return { path, keyword: "pattern", message: "must NOT contain U+0000" };
}

/** Length in Unicode code points, as JSON Schema counts `minLength` and `maxLength`. */
export function codePointLength(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) index += 1;
    }
    length += 1;
  }
  return length;
}

/**
 * Whether a number is a multiple, in decimals: 0.07 is one of 0.01, although doubles have no whole
 * quotient there.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [one, other] = [decimal(value), decimal(divisor)];
  const scale = 10n ** BigInt(Math.abs(one.exponent - other.exponent));
  return one.exponent >= other.exponent
    ? (one.digits * scale) % other.digits === 0n
    : one.digits % (other.digits * scale) === 0n;
}

/** Deep equality of JSON values, for `const`, `enum` and `uniqueItems`. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return false;
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      jsonEqual((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}

const dateTimePattern =
  /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const firstInstant = Date.parse("0001-01-01T00:00:00Z");
const lastInstant = Date.parse("9999-12-31T23:59:59.999Z");
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  // PostgreSQL has no year 0, and neither has the calendar that people use.
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !text.startsWith("0000") && isCalendarDate(text);
}

/** Whether the text begins with an existing day, given that it begins with the digits of a date. */
function isCalendarDate(text: string): boolean {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 && isLeap ? 29 : (monthDays[month - 1] ?? 0));
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}

function isDateTime(text: string): boolean {
  if (text.length > 40 || !dateTimePattern.test(text) || !isCalendarDate(text)) return false;
  // It is stored in UTC, so the year must have four digits there too.
  const century = twoDigits(text, 0);
  if (century !== 0 && century !== 99) return true;
  const at = Date.parse(text);
  return at >= firstInstant && at <= lastInstant;
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64 || text.length > 254) return false;
  return (
    /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+$/.test(text.slice(0, at)) &&
    !/^\.|\.\.|\.$/.test(text.slice(0, at)) &&
    isHostname(text.slice(at + 1))
  );
}

function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false;
  return text
    .split(".")
    .every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label));
}

function isUri(text: string): boolean {
  return (
    text.length <= 8192 && /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\u0000-\u001f<>"\\^`{|}]*$/.test(text)
  );
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return (
    parts.length === 4 &&
    parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  );
}

/** The formats that a registry may name; every one is asserted, not only annotated. */
export const formats = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  date: isDate,
  "date-time": isDateTime,
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  uri: isUri,
} as const;

export type FormatName = keyof typeof formats;
