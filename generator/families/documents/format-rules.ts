// Rules of fields, as `documents:` declares them: what the service sets, and ranges.
import { adviseWords } from "../../load/shape-advice.js";
import { aliases } from "../../load/aliases.js";
import { listOf, optional, reference, required, timezone } from "../../load/format-parts.js";
import type { FormatShape } from "../../load/shape.js";
import { numberWords, overlapWords, stateWords } from "./other-words.js";

/** The name of a field. */
export const aField = {
  kind: "string",
  what: "a field",
  example: "title",
} as const satisfies FormatShape;

/** Fields, each with values of which it has one. */
export const someValues = {
  kind: "map",
  of: listOf({ kind: "any", what: "a value", example: "confirmed" }, 1),
  key: /^/,
  keyIs: "a field",
  keyExample: "status",
} as const satisfies FormatShape;

/** Ranges that exclude each other, such as bookings of a room. */
export const overlapRule = {
  kind: "object",
  otherWords: overlapWords,
  members: {
    per: optional(
      listOf(aField, 1),
      "Fields that documents share whose ranges exclude each other.",
    ),
    range: required(
      listOf(aField, 2),
      "The field where a range begins, and the one before which it ends; null there is for ever.",
      ["starts_at", "ends_at"],
    ),
    where: optional(someValues, "Only documents count whose fields have one of these values."),
  },
} as const satisfies FormatShape;

const state = {
  kind: "string",
  what: "a state",
  example: "closed",
} as const satisfies FormatShape;
const states = listOf(state, 1);

export const move = {
  kind: "object",
  members: {
    to: required(states, "The states that may follow.", ["closed"]),
    by: optional(
      { kind: "name", of: "policies" },
      "The policy of whoever makes the move; whoever may write the document where left out.",
    ),
  },
} as const satisfies FormatShape;

/** Which values of a field may follow each other. */
export const stateRules = {
  kind: "object",
  otherWords: stateWords,
  members: {
    field: required(aField, "The field, one with a fixed list of values.", "status"),
    initial: optional(
      states,
      "States that new documents may have; the default of the field where left out, or any.",
      ["open"],
    ),
    from: required(
      {
        kind: "map",
        of: { kind: "either", of: [move, listOf({ kind: "either", of: [state, move] }, 1)] },
        key: /^/,
        keyIs: "a state",
        keyExample: "open",
      },
      "The states that may follow each; none where one is left out.",
      { open: ["closed"] },
    ),
  },
} as const satisfies FormatShape;

const computedPath = {
  kind: "string",
  what: "a path such as lines[].price",
  example: "lines[].price",
} as const satisfies FormatShape;

/** The writer, its profile, the time, or the result of a pure function of the document. */
const setText = {
  kind: "either",
  of: [
    { kind: "constant", value: "$caller" },
    { kind: "constant", value: "$profile" },
    { kind: "constant", value: "$now" },
    reference,
  ],
} as const satisfies FormatShape;

/** A running number: how it reads, and with what it begins anew. */
export const runningNumber = {
  kind: "object",
  otherWords: numberWords,
  members: {
    format: optional(
      {
        kind: "string",
        what: "a text with the number in braces, such as INV-{year}-{0000}",
        example: "INV-{year}-{0000}",
      },
      "The text: `{0000}` is the number with at least four digits, `{year}`, `{month}`, `{day}` and the fields of `per` are replaced by their values; the number itself where left out.",
    ),
    per: optional(
      listOf({ kind: "string", what: "year, month, day or a field", example: "year" }, 1),
      "What numbers begin anew with: `year`, `month`, `day`, and fields. They always count within a tenant.",
    ),
    start: optional(
      { kind: "integer", minimum: 0, maximum: 1e15 },
      "The first number; 1 where left out.",
    ),
    timezone: optional(timezone, "Where years, months and days begin; UTC where left out."),
    gaps: optional(
      { kind: "boolean" },
      "true lets numbers be left out, so that writers don't wait for each other.",
    ),
  },
} as const satisfies FormatShape;

/** What the service sets a field to. */
export const setRule = {
  kind: "either",
  advice: adviseWords({
    ...aliases("$caller", "$user $me $owner $principal $current_user user caller owner"),
    ...aliases("$now", "now now() $date $timestamp current_timestamp"),
    handler: "$handler",
    profile: "$profile",
  }),
  of: [
    { kind: "constant", value: "$handler" },
    ...setText.of,
    {
      kind: "choice",
      members: {
        from: optional(setText, "`$caller`, `$profile`, `$now`, or a function as file#export."),
        $sum: optional(
          { kind: "either", of: [computedPath, listOf(computedPath, 1)] },
          "Numbers that are added up.",
        ),
        $count: optional(computedPath, "The array whose elements are counted."),
        $number: optional(runningNumber, "The next number, when the document is created."),
      },
      beside: {
        on: optional(
          { kind: "oneOf", values: ["create", "write", "absent"] },
          "create sets it once, write whenever the document is written, absent once if whoever creates the document leaves it out.",
        ),
      },
    },
  ],
} as const satisfies FormatShape;
