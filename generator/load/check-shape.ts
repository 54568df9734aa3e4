// Holding a value against a shape: every fault is reported, each cause once, with what is likely
// meant.
import { didYouMean, meantOrNearest } from "../diagnostics/did-you-mean.js";
import {
  inside,
  suggestionText,
  type Advice,
  type Origin,
  type Report,
} from "../diagnostics/diagnostics.js";
import { camelCase, pascalCase } from "../model/names.js";
import { own } from "../model/records.js";
import { adviceOn } from "./shape-advice.js";
import {
  alternativeOf,
  describe,
  isMap,
  membersOf,
  listNames,
  type FormatShape,
  type Member,
} from "./shape.js";

type Members = Readonly<Record<string, Member>>;
type Json = Readonly<Record<string, unknown>>;

/** An object that a value stands in, at some depth. */
interface Around {
  readonly members: Members;
  /** How many steps lead to it from the root. */
  readonly depth: number;
  /** Members that were found where they don't belong, and so are not missing here. */
  readonly misplaced: Set<string>;
}

interface Context {
  readonly report: Report;
  /** The objects around the value, the closest first. */
  readonly around: readonly Around[];
}

/** Checks a value against a shape and reports every fault. Returns whether there was none. */
export function checkShape(
  shape: FormatShape,
  value: unknown,
  at: Origin,
  report: Report,
): boolean {
  return check(shape, value, at, { report, around: [] });
}

function check(shape: FormatShape, value: unknown, at: Origin, context: Context): boolean {
  const { report } = context;
  switch (shape.kind) {
    case "any":
      return true;
    case "string":
    case "name":
      return checkString(shape, value, at, report);
    case "boolean":
      return typeof value === "boolean" || wrongType(shape, value, at, report);
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value))
        return wrongType(shape, value, at, report);
      return isWithin(shape, value, at, report);
    case "number":
      if (typeof value !== "number") return wrongType(shape, value, at, report);
      return isWithin(shape, value, at, report);
    case "constant":
      if (value === shape.value) return true;
      report({ code: "OPW013", message: `must be ${String(shape.value)}`, at });
      return false;
    case "oneOf":
      return checkOneOf(shape, value, at, report);
    case "list":
      if (!Array.isArray(value)) return wrongType(shape, value, at, report);
      if (value.length < (shape.minItems ?? 0)) {
        report({ code: "OPW013", message: `needs at least ${shape.minItems} entries`, at });
        return false;
      }
      return value
        .map((item, index) => check(shape.of, item, inside(at, index), context))
        .every(Boolean);
    case "map":
      return isMap(value)
        ? checkMap(shape, value, at, context)
        : wrongType(shape, value, at, report);
    case "object":
      return isMap(value)
        ? checkObject(shape, value, at, context)
        : wrongType(shape, value, at, report);
    case "choice":
      if (!isMap(value)) return wrongType(shape, value, at, report);
      return checkChoice(shape, value, at, context);
    case "either": {
      const alternative = alternativeOf(shape, value);
      if (alternative === undefined) return wrongType(shape, value, at, report);
      const advice = shape.advice?.(value);
      if (advice === undefined) return check(alternative, value, at, context);
      // What the whole knows of a value, its alternatives don't.
      const advised = {
        ...context,
        report: (finding: Parameters<Report>[0]) => report({ ...finding, ...advice }),
      };
      return check(alternative, value, at, advised);
    }
  }
}

function checkString(
  shape: Extract<FormatShape, { kind: "string" | "name" }>,
  value: unknown,
  at: Origin,
  report: Report,
): boolean {
  if (typeof value !== "string") return wrongType(shape, value, at, report);
  if (shape.kind === "name" || shape.pattern === undefined || shape.pattern.test(value))
    return true;
  const message = `${JSON.stringify(value)} is not ${shape.what}`;
  report({ code: "OPW013", message, at, ...adviceOn(shape, value) });
  return false;
}

function checkOneOf(
  shape: Extract<FormatShape, { kind: "oneOf" }>,
  value: unknown,
  at: Origin,
  report: Report,
): boolean {
  const { values } = shape;
  if (typeof value === "string" && values.includes(value)) return true;
  const given = value === null ? "nothing is given: " : "";
  report({
    code: typeof value === "string" ? "OPW013" : "OPW011",
    message: `${given}must be one of ${values.join(", ")}`,
    at,
    suggestion: typeof value === "string" ? didYouMean(value, values) : undefined,
    ...adviceOn(shape, value),
  });
  return false;
}

function checkMap(
  shape: Extract<FormatShape, { kind: "map" }>,
  value: Json,
  at: Origin,
  context: Context,
): boolean {
  const { report } = context;
  if (shape.of.kind === "object" && lacksNames(shape.of.members, value, at, report)) return false;
  let isSound = true;
  for (const [key, item] of Object.entries(value)) {
    if (!shape.key.test(key)) {
      report({
        code: "OPW013",
        message: `${JSON.stringify(key)} is not ${shape.keyIs}`,
        at: keyOf(at, key),
        ...nameAdvice(key, shape.key),
      });
      isSound = false;
    }
    isSound = check(shape.of, item, inside(at, key), context) && isSound;
  }
  return isSound;
}

/** The name in the way in which the registry writes such names, if there is one. */
function nameAdvice(name: string, pattern: RegExp): Advice | undefined {
  const snake = snakeCase(name);
  const suggestion = [snake, pascalCase(name), name.toLowerCase()].find(
    (candidate) => candidate !== name && pattern.test(candidate),
  );
  if (suggestion !== undefined) return { suggestion };
  const pair = `task.${snake}`;
  return pattern.test(pair)
    ? { hint: `Say before it what it is about, with a dot between: \`${pair}\`.` }
    : undefined;
}

/** Reports a map of entries that is one entry itself: what it would be called is missing. */
function lacksNames(members: Members, value: Json, at: Origin, report: Report): boolean {
  const keys = Object.keys(value).filter((key) => Object.hasOwn(members, key));
  const [first] = keys;
  if (first === undefined || keys.every((key) => isMap(value[key]))) return false;
  report({
    code: "OPW011",
    message: `${JSON.stringify(first)} is a key of an entry, and not the name of one`,
    at: keyOf(at, first),
    hint: `Put a name above it: \`<name>: {${first}: …}\`.`,
  });
  return true;
}

function checkChoice(
  shape: Extract<FormatShape, { kind: "choice" }>,
  value: Json,
  at: Origin,
  context: Context,
): boolean {
  const members = membersOf(shape);
  const { otherWords = {} } = shape;
  if (!checkObject({ kind: "object", members, otherWords }, value, at, context)) return false;
  if (Object.keys(value).filter((key) => Object.hasOwn(shape.members, key)).length === 1)
    return true;
  const message = `must have exactly one of ${listNames(shape.members)}`;
  context.report({ code: "OPW013", message, at });
  return false;
}

function checkObject(
  shape: Extract<FormatShape, { kind: "object" }>,
  value: Json,
  at: Origin,
  { report, around }: Context,
): boolean {
  const here = { members: shape.members, depth: at.path.length, misplaced: new Set<string>() };
  const context = { report, around: [here, ...around] };
  /** What unknown keys were taken for: the same is not said twice, and is not missing. */
  const taken = new Set<string>();
  let isSound = true;
  for (const [key, item] of Object.entries(value)) {
    if (shape.hasExtensions === true && key.startsWith("x-")) continue;
    const member = own(shape.members, key);
    if (member !== undefined) {
      isSound = check(member.shape, item, inside(at, key), context) && isSound;
      continue;
    }
    isSound = false;
    const { member: meant, ...advice } = adviceOnKey(shape, key, at, around);
    const isTold = advice.hint !== undefined && taken.has(advice.hint);
    for (const one of [meant, advice.hint]) if (one !== undefined) taken.add(one);
    if (isTold) continue;
    const message = `unknown key ${JSON.stringify(key)}`;
    report({ code: "OPW010", message, at: keyOf(at, key), ...advice });
  }
  for (const [key, member] of Object.entries(shape.members)) {
    if (member.isRequired !== true || Object.hasOwn(value, key)) continue;
    isSound = false;
    if (taken.has(key) || here.misplaced.has(key)) continue;
    reportMissing(key, shape.members, value, at, report);
  }
  return isSound;
}

function reportMissing(
  key: string,
  members: Members,
  value: Json,
  at: Origin,
  report: Report,
): void {
  const member = members[key];
  const { missing } = member ?? {};
  if (missing === undefined) {
    const hint = exampleOf(key, member);
    report({
      code: "OPW012",
      message: `the key ${key} is missing`,
      at: { ...at, isKey: true },
      hint,
    });
    return;
  }
  const { code, message } = missing;
  const within = Object.keys(value).find((name) => {
    const inner = value[name];
    return members[name]?.shape.kind === "any" && isMap(inner) && typeof inner[key] === "string";
  });
  if (within === undefined) report({ code, message, at: { ...at, isKey: true } });
  else report({ code, ...missing.within(within), at: keyOf(inside(at, within), key) });
}

/** How a missing member is written. */
function exampleOf(key: string, member: Member | undefined): string | undefined {
  if (member === undefined) return undefined;
  const { shape, description } = member;
  const inner = shape.kind === "object" ? Object.entries(shape.members) : [];
  const required = inner.filter(([, { isRequired }]) => isRequired === true);
  return required.length === 0
    ? `Add \`${key}\`, ${describe(shape)}: ${lowerFirst(description)}`
    : `Add \`${key}: {${required.map(([name]) => `${name}: …`).join(", ")}}\`: ${lowerFirst(description)}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * What an unknown key of an object is likely meant for: a member, or one of an object around or
 * within it.
 */
function adviceOnKey(
  shape: Extract<FormatShape, { kind: "object" }>,
  key: string,
  at: Origin,
  around: readonly Around[],
): Advice & { readonly member?: string | undefined } {
  const { members, otherWords = {} } = shape;
  const { member, hint } = own(otherWords, key) ?? own(otherWords, camelCase(key)) ?? {};
  if (hint !== undefined) return { hint, member };
  const names = Object.keys(members);
  const known = member ?? names.find((name) => members[name]?.alsoCalled?.includes(key));
  const suggestion = meantOrNearest(known, key, names);
  if (suggestion !== undefined) return { suggestion, member: suggestionText(suggestion) };
  const outer = around.find((one) => Object.hasOwn(one.members, key));
  if (outer !== undefined) {
    outer.misplaced.add(key);
    const beside = String(at.path[outer.depth] ?? "");
    return { hint: `\`${key}\` belongs beside \`${beside}\`, not into it: indent it less.` };
  }
  const within = names.filter((name) => hasMember(members[name]?.shape, key));
  const [only] = within;
  return only === undefined || within.length > 1
    ? {}
    : { hint: `\`${key}\` belongs in \`${only}\`: \`${only}: {${key}: …}\`.` };
}

function hasMember(shape: FormatShape | undefined, key: string): boolean {
  if (shape?.kind === "either") return shape.of.some((option) => hasMember(option, key));
  return shape?.kind === "object" && Object.hasOwn(shape.members, key);
}

/** `softDelete` and `soft-delete` → `soft_delete`. */
function snakeCase(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

function wrongType(shape: FormatShape, value: unknown, at: Origin, report: Report): false {
  const given = value === null ? "nothing is given: " : "";
  const message = `${given}must be ${describe(shape)}`;
  report({ code: "OPW011", message, at, ...adviceOn(shape, value) });
  return false;
}

function isWithin(
  {
    kind,
    minimum,
    maximum = kind === "integer" ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY,
  }: Extract<FormatShape, { kind: "integer" | "number" }>,
  value: number,
  at: Origin,
  report: Report,
): boolean {
  if (value >= minimum && value <= maximum) return true;
  const message = value < minimum ? `must be at least ${minimum}` : `must be at most ${maximum}`;
  report({ code: "OPW013", message, at });
  return false;
}

function keyOf(at: Origin, key: string): Origin {
  return { file: at.file, path: [...at.path, key], isKey: true };
}
