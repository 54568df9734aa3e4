// Shapes: the registry format as data. One description checks files and prints the JSON Schema for
// editors.
import type { DiagnosticCode } from "../diagnostics/catalogue.js";
import type { Advice } from "../diagnostics/diagnostics.js";

export type FormatShape =
  | {
      readonly kind: "string";
      readonly pattern?: RegExp;
      readonly what: string;
      /** What the function is that it names as `file#export`; other texts name none. */
      readonly names?: "handler" | "hook" | "job" | "value";
      /** What kind of text the pattern is, where others spell such texts in other ways. */
      readonly form?: TextForm;
      readonly example?: string;
      readonly advice?: Adviser;
    }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer"; readonly minimum: number; readonly maximum?: number }
  | { readonly kind: "number"; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "constant"; readonly value: string | number | boolean }
  | { readonly kind: "oneOf"; readonly values: readonly string[]; readonly advice?: Adviser }
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
      readonly otherWords?: OtherWords;
    }
  /** An object with exactly one of the members, and what may stand beside it. */
  | {
      readonly kind: "choice";
      readonly members: Readonly<Record<string, Member>>;
      readonly beside?: Readonly<Record<string, Member>>;
      readonly otherWords?: OtherWords;
    }
  /** The first alternative whose JSON type is that of the value. */
  | { readonly kind: "either"; readonly of: readonly FormatShape[]; readonly advice?: Adviser }
  /** Checked by a reader of its own. */
  | {
      readonly kind: "any";
      readonly what: string;
      readonly example?: unknown;
      /** Whether it is a type, or fields. */
      readonly isType?: boolean;
    }
  /** A name of something declared, for completion in editors. */
  | {
      readonly kind: "name";
      readonly of: "policies" | "errors" | "namespaces";
      readonly advice?: Adviser;
    };

export type TextForm = "duration" | "bytes" | "rate" | "path" | "reference" | "version" | "name";

/** What is likely meant by a value that does not fit. */
export type Adviser = (given: unknown) => Advice | undefined;

/** Keys that other formats have, and how this one says it: by a member, or in a sentence. */
export type OtherWords = Readonly<Record<string, OtherWord>>;

export interface OtherWord {
  /** The member that says it here. */
  readonly member?: string;
  readonly hint?: string;
}

export interface Member {
  readonly shape: FormatShape;
  readonly isRequired?: boolean;
  readonly description: string;
  /** A value, where that of the shape says too little. */
  readonly example?: unknown;
  /** What other formats call it. */
  readonly alsoCalled?: readonly string[];
  /** What is said where it is missing, if more than that. */
  readonly missing?: MissingMember;
}

/** A finding of its own for a member that is missing. */
export interface MissingMember {
  readonly code: DiagnosticCode;
  readonly message: string;
  /** What is said where the member stands within another one, which takes it for something else. */
  readonly within: (name: string) => { readonly message: string; readonly hint: string };
}

/**
 * What a value is that a shape accepts, so that a format is said once and its declaration follows.
 */
export type Declared<Of extends FormatShape> = Of extends { kind: "string" | "name" }
  ? string
  : Of extends { kind: "boolean" }
    ? boolean
    : Of extends { kind: "integer" | "number" }
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
    case "number":
      return "a number";
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
      return `a map with one of ${listNames(shape.members)}`;
    case "either":
      return shape.of.map(describe).join(", or ");
  }
}

/** The names of members. */
export function listNames(members: Readonly<Record<string, Member>>): string {
  return Object.keys(members).join(", ");
}

/** The alternative that a value is held against. */
export function alternativeOf(
  shape: Extract<FormatShape, { kind: "either" }>,
  value: unknown,
): FormatShape | undefined {
  return shape.of.find((option) => jsonTypeFits(option, value));
}

/** Whether a value has the JSON type that a shape asks for. */
export function jsonTypeFits(shape: FormatShape, value: unknown): boolean {
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
    case "number":
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
