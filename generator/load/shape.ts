// Shapes: the registry format as data. One description checks files and prints the JSON Schema for editors.
import { didYouMean } from "../did-you-mean.js";
import { inside, type Origin, type Report } from "../diagnostics.js";
import { own } from "../model/records.js";

export type FormatShape =
  | {
      readonly kind: "string";
      readonly pattern?: RegExp;
      readonly what: string;
      /** What the function is that it names as `file#export`; other texts name none. */
      readonly names?: "handler" | "hook" | "value";
      /** What kind of text the pattern is, where others spell such texts in other ways. */
      readonly form?: TextForm;
      readonly example?: string;
    }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer"; readonly minimum: number; readonly maximum?: number }
  | { readonly kind: "constant"; readonly value: string | number | boolean }
  | { readonly kind: "oneOf"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly of: FormatShape; readonly minItems?: number }
  | {
      readonly kind: "map";
      readonly of: FormatShape;
      readonly key: RegExp;
      readonly keyIs: string;
      readonly keyExample?: string;
    }
  | {
      readonly kind: "object";
      readonly members: Readonly<Record<string, Member>>;
      /** Whether `x-*` keys are carried along. */
      readonly hasExtensions?: boolean;
      /** Members that an example has besides those that are required. */
      readonly shown?: readonly string[];
    }
  /** An object with exactly one of the members, and what may stand beside it. */
  | {
      readonly kind: "choice";
      readonly members: Readonly<Record<string, Member>>;
      readonly beside?: Readonly<Record<string, Member>>;
    }
  /** The first alternative whose JSON type is that of the value. */
  | { readonly kind: "either"; readonly of: readonly FormatShape[] }
  /** Checked by a reader of its own. */
  | { readonly kind: "any"; readonly what: string; readonly example?: unknown }
  /** A name of something declared, for completion in editors. */
  | {
      readonly kind: "name";
      readonly of: "policies" | "errors" | "namespaces";
    };

export type TextForm = "duration" | "bytes" | "rate" | "path" | "reference" | "version" | "name";

export interface Member {
  readonly shape: FormatShape;
  readonly isRequired?: boolean;
  readonly description: string;
  /** A value, where that of the shape says too little. */
  readonly example?: unknown;
}

/** What a value is that a shape accepts, so that a format is said once and its declaration follows. */
export type Declared<Of extends FormatShape> = Of extends { kind: "string" | "name" }
  ? string
  : Of extends { kind: "boolean" }
    ? boolean
    : Of extends { kind: "integer" }
      ? number
      : Of extends { kind: "constant"; value: infer Value }
        ? Value
        : Of extends { kind: "oneOf"; values: readonly (infer Value)[] }
          ? Value
          : Of extends { kind: "list"; of: infer Item extends FormatShape }
            ? readonly Declared<Item>[]
            : Of extends { kind: "map"; of: infer Value extends FormatShape }
              ? Readonly<Record<string, Declared<Value>>>
              : Of extends { kind: "object"; members: infer Members extends MembersOfShape }
                ? DeclaredMembers<Members>
                : Of extends { kind: "choice"; members: infer Members extends MembersOfShape }
                  ? DeclaredChoice<Members, Of>
                  : Of extends { kind: "either"; of: readonly (infer One extends FormatShape)[] }
                    ? Declared<One>
                    : unknown;

type MembersOfShape = Readonly<Record<string, Member>>;

/** Members as they are declared: those that are required, and those that may be left out. */
type DeclaredMembers<Members extends MembersOfShape> = {
  readonly [Name in RequiredOf<Members>]: Declared<Members[Name]["shape"]>;
} & {
  readonly [Name in Exclude<keyof Members, RequiredOf<Members>>]?: Declared<Members[Name]["shape"]>;
};

/** One of the members, which the reader asks for one by one, and what stands beside it. */
type DeclaredChoice<Members extends MembersOfShape, Of> = {
  readonly [Name in keyof Members]?: Declared<Members[Name]["shape"]>;
} & (Of extends { beside: infer Beside extends MembersOfShape }
  ? DeclaredMembers<Beside>
  : unknown);

type RequiredOf<Members extends MembersOfShape> = {
  [Name in keyof Members]: Members[Name] extends { isRequired: true } ? Name : never;
}[keyof Members];

/** All members that may stand in an object or a choice. */
export function membersOf(
  shape: Extract<FormatShape, { kind: "object" | "choice" }>,
): Readonly<Record<string, Member>> {
  return shape.kind === "object" ? shape.members : { ...shape.members, ...shape.beside };
}

/** Checks a value against a shape and reports every fault. Returns whether there was none. */
export function checkShape(
  shape: FormatShape,
  value: unknown,
  at: Origin,
  report: Report,
): boolean {
  switch (shape.kind) {
    case "any":
      return true;
    case "string":
    case "name":
      return checkString(shape, value, at, report);
    case "boolean":
      return typeof value === "boolean" || wrongType(shape, at, report);
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value))
        return wrongType(shape, at, report);
      return isWithin(shape, value, at, report);
    case "constant":
      if (value === shape.value) return true;
      report({ code: "OPW013", message: `must be ${String(shape.value)}`, at });
      return false;
    case "oneOf":
      return checkOneOf(shape.values, value, at, report);
    case "list":
      if (!Array.isArray(value)) return wrongType(shape, at, report);
      if (value.length < (shape.minItems ?? 0)) {
        report({ code: "OPW013", message: `needs at least ${shape.minItems} entries`, at });
        return false;
      }
      return value
        .map((item, index) => checkShape(shape.of, item, inside(at, index), report))
        .every(Boolean);
    case "map":
      return isMap(value) ? checkMap(shape, value, at, report) : wrongType(shape, at, report);
    case "object":
      return isMap(value) ? checkObject(shape, value, at, report) : wrongType(shape, at, report);
    case "choice":
      if (!isMap(value)) return wrongType(shape, at, report);
      if (!checkObject({ kind: "object", members: membersOf(shape) }, value, at, report))
        return false;
      if (Object.keys(value).filter((key) => Object.hasOwn(shape.members, key)).length === 1)
        return true;
      report({ code: "OPW013", message: `must have exactly one of ${named(shape.members)}`, at });
      return false;
    case "either": {
      const alternative = alternativeOf(shape, value);
      if (alternative === undefined) return wrongType(shape, at, report);
      return checkShape(alternative, value, at, report);
    }
  }
}

function checkString(
  shape: Extract<FormatShape, { kind: "string" | "name" }>,
  value: unknown,
  at: Origin,
  report: Report,
): boolean {
  if (typeof value !== "string") return wrongType(shape, at, report);
  if (shape.kind === "name" || shape.pattern === undefined || shape.pattern.test(value))
    return true;
  report({ code: "OPW013", message: `${JSON.stringify(value)} is not ${shape.what}`, at });
  return false;
}

function checkOneOf(
  values: readonly string[],
  value: unknown,
  at: Origin,
  report: Report,
): boolean {
  if (typeof value === "string" && values.includes(value)) return true;
  report({
    code: typeof value === "string" ? "OPW013" : "OPW011",
    message: `must be one of ${values.join(", ")}`,
    at,
    suggestion: typeof value === "string" ? didYouMean(value, values) : undefined,
  });
  return false;
}

function checkMap(
  shape: Extract<FormatShape, { kind: "map" }>,
  value: Readonly<Record<string, unknown>>,
  at: Origin,
  report: Report,
): boolean {
  let isSound = true;
  for (const [key, item] of Object.entries(value)) {
    if (!shape.key.test(key)) {
      report({
        code: "OPW013",
        message: `${JSON.stringify(key)} is not ${shape.keyIs}`,
        at: keyOf(at, key),
      });
      isSound = false;
    }
    isSound = checkShape(shape.of, item, inside(at, key), report) && isSound;
  }
  return isSound;
}

function checkObject(
  shape: Extract<FormatShape, { kind: "object" }>,
  value: Readonly<Record<string, unknown>>,
  at: Origin,
  report: Report,
): boolean {
  let isSound = true;
  for (const [key, item] of Object.entries(value)) {
    if (shape.hasExtensions === true && key.startsWith("x-")) continue;
    const member = own(shape.members, key);
    if (member === undefined) {
      report({
        code: "OPW010",
        message: `unknown key ${JSON.stringify(key)}`,
        at: keyOf(at, key),
        suggestion: didYouMean(key, Object.keys(shape.members)),
      });
      isSound = false;
      continue;
    }
    isSound = checkShape(member.shape, item, inside(at, key), report) && isSound;
  }
  for (const [key, member] of Object.entries(shape.members)) {
    if (member.isRequired !== true || Object.hasOwn(value, key)) continue;
    const isGuard = key === "guard";
    report({
      code: isGuard ? "OPW053" : "OPW012",
      message: isGuard
        ? "no guard is given; what is public names a policy that asks nothing, such as `open: []`"
        : `the key ${key} is missing`,
      at: { ...at, isKey: true },
    });
    isSound = false;
  }
  return isSound;
}

function wrongType(shape: FormatShape, at: Origin, report: Report): false {
  report({ code: "OPW011", message: `must be ${describe(shape)}`, at });
  return false;
}

function isWithin(
  { minimum, maximum = Number.POSITIVE_INFINITY }: Extract<FormatShape, { kind: "integer" }>,
  value: number,
  at: Origin,
  report: Report,
): boolean {
  if (value >= minimum && value <= maximum) return true;
  const message = value < minimum ? `must be at least ${minimum}` : `must be at most ${maximum}`;
  report({ code: "OPW013", message, at });
  return false;
}

/** What a value of the shape is, in words. */
export function describe(shape: FormatShape): string {
  switch (shape.kind) {
    case "string":
    case "any":
      return shape.what;
    case "name":
      return `the name of one of the ${shape.of}`;
    case "boolean":
      return "true or false";
    case "integer":
      return "an integer";
    case "constant":
      return String(shape.value);
    case "oneOf":
      return `one of ${shape.values.join(", ")}`;
    case "list":
      return "a list";
    case "map":
      return "a map";
    case "object":
      return `a map with ${Object.keys(shape.members).slice(0, 4).join(", ")}${Object.keys(shape.members).length > 4 ? " …" : ""}`;
    case "choice":
      return `a map with one of ${named(shape.members)}`;
    case "either":
      return shape.of.map(describe).join(", or ");
  }
}

function named(members: Readonly<Record<string, Member>>): string {
  return Object.keys(members).join(", ");
}

/** The alternative that a value is held against. */
export function alternativeOf(
  shape: Extract<FormatShape, { kind: "either" }>,
  value: unknown,
): FormatShape | undefined {
  return shape.of.find((option) => jsonTypeFits(option, value));
}

function jsonTypeFits(shape: FormatShape, value: unknown): boolean {
  switch (shape.kind) {
    case "any":
      return true;
    case "string":
    case "oneOf":
    case "name":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return typeof value === "number";
    case "constant":
      return value === shape.value;
    case "list":
      return Array.isArray(value);
    case "map":
    case "object":
    case "choice":
      return isMap(value);
    case "either":
      return shape.of.some((option) => jsonTypeFits(option, value));
  }
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function keyOf(at: Origin, key: string): Origin {
  return { file: at.file, path: [...at.path, key], isKey: true };
}
