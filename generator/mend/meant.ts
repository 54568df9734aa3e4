// What a value of the wrong type or spelling means where the format asks for a shape: as text, if
// it can only be one thing.
import { checkShape } from "../load/check-shape.js";
import { alternativeOf, isMap, membersOf, type FormatShape } from "../load/shape.js";
import { nameLike } from "./names.js";
import { respelt } from "./spellings.js";
import { plainOrQuoted } from "./yaml-text.js";

/** A value, and how it is written in YAML, between brackets as well. */
export interface Meant {
  readonly value: unknown;
  readonly text: string;
}

/**
 * The only value that can be meant, or undefined if there are none or several. `source` is the
 * value as it is written.
 */
export function meant(shape: FormatShape, value: unknown, source: string): Meant | undefined {
  const found = new Map(
    readings(shape, value, source)
      .filter((reading) => fits(shape, reading.value))
      .map((reading) => [JSON.stringify(reading.value), reading] as const),
  );
  const [only, ...others] = found.values();
  return others.length > 0 ? undefined : only;
}

export function fits(shape: FormatShape, value: unknown): boolean {
  return checkShape(shape, value, { file: "", path: [] }, () => undefined);
}

/** All that a value could be read as. Those that don't fit the shape are left out later. */
function readings(shape: FormatShape, value: unknown, source: string): readonly Meant[] {
  switch (shape.kind) {
    case "string":
      return [...asText(shape, value, source), ...asOnlyEntry(shape, value)];
    case "boolean":
      return asBoolean(value);
    case "integer":
      return asInteger(value);
    case "number":
      return asNumber(value);
    case "constant":
      return asConstant(shape.value, value);
    case "name":
    case "oneOf":
      return asOnlyEntry(shape, value);
    case "list":
      return asList(shape, value, source);
    case "object":
      return asObject(shape, value, source);
    case "either": {
      // The type says already which alternative it is.
      const alternative = alternativeOf(shape, value);
      if (alternative !== undefined && typeof value !== "string")
        return readings(alternative, value, source);
      // A number may say how many, as in `history: 1`, and not whether.
      const options = shape.of.filter(
        (option) =>
          typeof value !== "number" || option.kind !== "boolean" || !shape.of.some(hasCount),
      );
      // Alternatives are ordered: the first one is the usual way to say it.
      return (
        options
          .map((option) => readings(option, value, source))
          .find((read) => read.some((reading) => fits(shape, reading.value))) ?? []
      );
    }
    default:
      return [];
  }
}

function hasCount(shape: FormatShape): boolean {
  const members = shape.kind === "object" ? Object.values(membersOf(shape)) : [];
  return members.some((member) => member.shape.kind === "integer");
}

function asText(
  shape: Extract<FormatShape, { kind: "string" }>,
  value: unknown,
  source: string,
): readonly Meant[] {
  const isScalar = ["string", "number", "boolean"].includes(typeof value);
  if (!isScalar) return [];
  const text = typeof value === "string" ? value : source;
  if (shape.form !== undefined)
    return respelt(shape.form, text)
      .filter((spelt) => spelt !== value)
      .map(writePlain);
  // A number or a word of YAML, without quotation marks around it.
  return typeof value === "string" ? [] : [{ value: source, text: JSON.stringify(source) }];
}

const yes = /^(?:true|yes|y|on|1|enabled)$/i;
const no = /^(?:false|no|n|off|0|disabled)$/i;

function asBoolean(value: unknown): readonly Meant[] {
  if (typeof value !== "string" && value !== 0 && value !== 1) return [];
  const isYes = yes.test(String(value));
  return isYes || no.test(String(value)) ? [{ value: isYes, text: String(isYes) }] : [];
}

function asConstant(constant: string | number | boolean, value: unknown): readonly Meant[] {
  if (typeof constant === "boolean")
    return asBoolean(value).filter((reading) => reading.value === constant);
  const isAlike = String(value).toLowerCase() === String(constant).toLowerCase();
  return isAlike ? [{ value: constant, text: plainOrQuoted(String(constant)) }] : [];
}

function asInteger(value: unknown): readonly Meant[] {
  const digits = typeof value === "string" ? value.trim().replaceAll("_", "") : "";
  return /^-?(?:0|[1-9]\d{0,14})$/.test(digits) ? [{ value: Number(digits), text: digits }] : [];
}

/** `99.9%`, and a number in quotation marks. */
function asNumber(value: unknown): readonly Meant[] {
  const [, digits = ""] =
    /^\s*((?:0|[1-9]\d{0,14})(?:\.\d{1,9})?)\s*%?\s*$/.exec(
      typeof value === "string" ? value : "",
    ) ?? [];
  return digits === "" ? [] : [{ value: Number(digits), text: digits }];
}

/** `[staff]` where one is asked for. */
function asOnlyEntry(shape: FormatShape, value: unknown): readonly Meant[] {
  if (!Array.isArray(value) || value.length !== 1) return [];
  const only: unknown = value[0];
  return typeof only === "string" && fits(shape, only) ? [writePlain(only)] : [];
}

/** One entry for a list of one, and texts with commas between them. */
function asList(
  shape: Extract<FormatShape, { kind: "list" }>,
  value: unknown,
  source: string,
): readonly Meant[] {
  if (value === null || value === undefined || Array.isArray(value)) return [];
  const parts = typeof value === "string" ? value.split(",").map((part) => part.trim()) : [];
  if (parts.length > 1 && parts.every((part) => /^[\w.{}/-]+$/.test(part)))
    return [{ value: parts, text: `[${parts.map(plainOrQuoted).join(", ")}]` }];
  const entry = fits(shape.of, value)
    ? { value, text: typeof value === "string" ? plainOrQuoted(value) : source }
    : meant(shape.of, value, source);
  return entry === undefined ? [] : [{ value: [entry.value], text: `[${entry.text}]` }];
}

/** A value for an object that needs nothing else: `/notes` for `{at: /notes}`. */
function asObject(
  shape: Extract<FormatShape, { kind: "object" }>,
  value: unknown,
  source: string,
): readonly Meant[] {
  if (isMap(value) || value === null || value === undefined) return [];
  const required = Object.entries(membersOf(shape)).filter(([, { isRequired }]) => isRequired);
  const [only, ...others] = required;
  if (only === undefined || others.length > 0) return [];
  const [key, member] = only;
  if (!fits(member.shape, value)) return [];
  const text = typeof value === "string" ? plainOrQuoted(value) : source;
  return [{ value: { [key]: value }, text: `{${key}: ${text}}` }];
}

function writePlain(text: string): Meant {
  return { value: text, text: plainOrQuoted(text) };
}

/** The key that is meant by one that is not spelt as the keys of a map are, or undefined. */
export function meantKey(
  shape: Extract<FormatShape, { kind: "map" }>,
  key: string,
): string | undefined {
  const [only, ...others] = [...new Set(nameLike(key))].filter((name) => shape.key.test(name));
  return others.length > 0 ? undefined : only;
}
