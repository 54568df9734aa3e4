// What is likely meant by a value whose type the registry format doesn't allow there.
import { suggestionText, type Advice } from "../diagnostics/diagnostics.js";
import { own } from "../model/records.js";
import { aliases } from "./aliases.js";
import { flowText } from "./flow-text.js";
import { isMap, jsonTypeFits, membersOf, type Adviser, type FormatShape } from "./shape.js";

/** Advice by words that are used elsewhere, written in small letters. */
export const adviseWords =
  (words: Readonly<Record<string, string>>): Adviser =>
  (given) => {
    const suggestion = typeof given === "string" ? own(words, given.toLowerCase()) : undefined;
    return suggestion === undefined ? undefined : { suggestion };
  };

/** How YAML 1.1 and people write them. */
const booleans: Readonly<Record<string, boolean>> = {
  ...aliases(true, "yes on y 1 true enabled"),
  ...aliases(false, "no off n 0 false disabled"),
};

/** What a value would be that fits, where that can be told; otherwise undefined. */
export function adviceOn(shape: FormatShape, value: unknown): Advice | undefined {
  switch (shape.kind) {
    case "any":
      return undefined;
    case "string":
    case "oneOf":
    case "name":
      return shape.advice?.(value);
    case "constant":
      return String(value) === String(shape.value) ? { suggestion: String(value) } : undefined;
    case "boolean": {
      const meant = own(booleans, String(value).toLowerCase());
      return meant === undefined ? undefined : { suggestion: String(meant) };
    }
    case "integer": {
      const digits = typeof value === "string" ? /^\d+(?!\.)/.exec(value)?.[0] : undefined;
      return digits === undefined ? undefined : { suggestion: digits };
    }
    case "number":
      // `99.9%`, or a number in quotation marks.
      return typeof value === "string" && /^[\d.]+%?$/.test(value)
        ? { suggestion: String(Number.parseFloat(value)) }
        : undefined;
    case "list":
      return adviceOnList(shape, value);
    case "map":
      return adviceOnMap(value);
    case "object":
    case "choice":
      return adviceOnObject(shape, value);
    case "either":
      return shape.advice?.(value) ?? firstOf(shape.of, value);
  }
}

function firstOf(shapes: readonly FormatShape[], value: unknown): Advice | undefined {
  for (const shape of shapes) {
    const advice = adviceOn(shape, value);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** One item, or several with commas, is a list of them. */
function adviceOnList(
  { of }: Extract<FormatShape, { kind: "list" }>,
  value: unknown,
): Advice | undefined {
  if (value === null || Array.isArray(value)) return undefined;
  const items = typeof value === "string" ? value.split(/\s*,\s*/) : [value];
  if (items.every((item) => fits(of, item))) return { suggestion: flowText(items) };
  const [only, ...others] = items.map((item) => suggestionText(adviceOn(of, item)?.suggestion));
  return only === undefined || others.length > 0 ? undefined : { suggestion: `[${only}]` };
}

/** Entries in a list, which say their names themselves, are a map of them. */
function adviceOnMap(value: unknown): Advice | undefined {
  if (!Array.isArray(value)) return undefined;
  const [first] = value as readonly unknown[];
  const name = isMap(first) ? (first["name"] ?? first["key"] ?? first["id"]) : first;
  if (typeof name !== "string") return undefined;
  return { hint: `Write a map, whose keys are the names: \`${name}: {…}\`.` };
}

function adviceOnObject(
  shape: Extract<FormatShape, { kind: "object" | "choice" }>,
  value: unknown,
): Advice | undefined {
  const members = Object.entries(membersOf(shape));
  const required = members.filter(([, { isRequired }]) => isRequired === true);
  if (value === true)
    return required.length === 0
      ? { suggestion: "{}" }
      : { hint: `Write \`{${required.map(([key]) => `${key}: …`).join(", ")}}\`.` };
  if (value === null || value === false || isMap(value)) return undefined;
  const candidates = required.length > 0 ? required : members;
  const [found] = candidates.filter(([, member]) => fits(member.shape, value));
  if (found === undefined) return undefined;
  const [key] = found;
  const others = required.filter(([name]) => name !== key).map(([name]) => `, ${name}: …`);
  const text = `{${key}: ${flowText(value)}${others.join("")}}`;
  return others.length === 0 ? { suggestion: text } : { hint: `Write \`${text}\`.` };
}

/** Whether a value would be accepted, as far as it shows. */
function fits(shape: FormatShape, value: unknown): boolean {
  if (!jsonTypeFits(shape, value)) return false;
  switch (shape.kind) {
    case "string":
      return shape.pattern?.test(String(value)) ?? true;
    case "oneOf":
      return shape.values.includes(String(value));
    case "list":
      return Array.isArray(value) && value.every((item) => fits(shape.of, item));
    case "either":
      return shape.of.some((option) => fits(option, value));
    default:
      return true;
  }
}
