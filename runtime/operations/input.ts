// How an operation's input is bound to a request, as data: generated routes state it, transports
// read it.
import { isObject } from "../contract/json-pointer.js";
import type { Validator } from "../contract/validation.js";

/**
 * Types a value in a path or query string can have. Each has one spelling; anything else is
 * refused. A list is one of texts, with commas.
 */
export type ParameterType = "string" | "uuid" | "integer" | "number" | "boolean" | "list";

/**
 * One value that travels as text, outside the body or as the field of a form. `revision` is
 * `?rev=` or `If-Match`, whichever is there; a header is passed on as it was sent.
 */
export interface Parameter<T> {
  readonly in: "path" | "query" | "field" | "revision" | "header";
  readonly type: ParameterType;
  readonly required: boolean;
  /** The field of a header, in lower case. */
  readonly field?: string;
  /** Never set; it only keeps `T` in the type. */
  readonly carries?: T;
}

function parameter<T>(
  place: Parameter<T>["in"],
  type: ParameterType,
  required: boolean,
): Parameter<T> {
  return { in: place, type, required };
}

function requireParameters(place: Parameter<unknown>["in"]) {
  return {
    string: parameter<string>(place, "string", true),
    uuid: parameter<string>(place, "uuid", true),
    integer: parameter<number>(place, "integer", true),
    number: parameter<number>(place, "number", true),
    boolean: parameter<boolean>(place, "boolean", true),
  };
}

function allowParameters(place: Parameter<unknown>["in"]) {
  return {
    string: parameter<string | undefined>(place, "string", false),
    uuid: parameter<string | undefined>(place, "uuid", false),
    integer: parameter<number | undefined>(place, "integer", false),
    number: parameter<number | undefined>(place, "number", false),
    boolean: parameter<boolean | undefined>(place, "boolean", false),
  };
}

/** Parameters that an operation takes from the path of its route. */
export const path = requireParameters("path");

/** An optional header field, given its name in lower case. */
export function header(field: string): Parameter<string | undefined> {
  return { in: "header", type: "string", required: false, field };
}

/** Parameters that an operation takes from the query of its URL. */
export const query = {
  ...requireParameters("query"),
  list: parameter<readonly string[]>("query", "list", true),
  optional: {
    ...allowParameters("query"),
    list: parameter<readonly string[] | undefined>("query", "list", false),
  },
};

/** Fields of a form without files. */
export const field = { ...requireParameters("field"), optional: allowParameters("field") };

/** The revision a write expects: an integer from 1, or `"any"` for `If-Match: *`. */
export type ExpectedRevision = number | "any";

/** The revision that a write expects, from `rev` or `If-Match`. */
export const revision = {
  required: parameter<ExpectedRevision>("revision", "integer", true),
  optional: parameter<ExpectedRevision | undefined>("revision", "integer", false),
};

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The object that a set of parameters makes; absent optional ones are left out. */
export type ParameterValues<P extends Parameters> = {
  readonly [
    Name in keyof P as undefined extends ParameterCarries<P[Name]> ? never : Name
  ]: ParameterCarries<P[Name]>;
} & {
  readonly [
    Name in keyof P as undefined extends ParameterCarries<P[Name]> ? Name : never
  ]?: Exclude<ParameterCarries<P[Name]>, undefined>;
};

type ParameterCarries<P> = P extends Parameter<infer T> ? T : never;

/** Parses a JSON body into a value of type `T`, or throws a `ServiceError`. */
export type Parser<T> = (body: unknown) => T;

/**
 * The JSON body: the whole of the input, one member of it, or the members that are no parameters.
 * Or a form, as a member.
 */
export interface BodyBinding {
  readonly as: "input" | "members" | { readonly member: string };
  /** Whether a request without any body counts as one with `{}`. */
  readonly isOptional?: boolean;
  /** Whether the body is a form with a file, which is read when the handler asks for it. */
  readonly isForm?: boolean;
  /** What else the body is if it is no JSON: the bytes as they are, or the fields of a form. */
  readonly media?: "bytes" | "fields";
  readonly check:
    | { readonly validate: Validator<unknown> }
    | { readonly parse: Parser<unknown> }
    | undefined;
}

/**
 * The sources of the parts of an `Input`, and the check that they make one. The handler gets what
 * was read of it, hooks the input itself.
 */
export interface InputBinding<Input, Read = Input> {
  readonly parameters: Parameters;
  readonly body: BodyBinding | undefined;
  /** Checks parameters and body together. */
  readonly validate: Validator<Input> | undefined;
  /** Absent where the handler gets the input as it is. */
  readonly reading?: InputReading<Read>;
}

/** The input that a binding makes. */
export type BoundInput<Binding> = Binding extends InputBinding<infer Input> ? Input : never;

/** How inputs are read. Both throw what the parser throws. */
export interface InputReading<Read> {
  /** What was read when the input was checked. */
  recall(input: unknown): Read;
  /** Reads the input anew: somebody may have changed it since. */
  read(input: unknown): Read;
}

/** The body is the input. */
export function json<Input>(validate: Validator<Input>): InputBinding<Input> {
  return { parameters: {}, body: { as: "input", check: { validate } }, validate: undefined };
}

/** The body is the input; a request without one counts as `{}`. */
export function optionalJson<Input>(validate: Validator<Input>): InputBinding<Input> {
  const body = { as: "input", isOptional: true, check: { validate } } as const;
  return { parameters: {}, body, validate: undefined };
}

/** A binding whose handlers get what a parser reads of the body, whatever was sent. */
// oxlint-disable-next-line typescript/no-explicit-any -- generated routes say what hooks may expect
export type ParsedBody<Read> = InputBinding<any, Read>;

/** The body is the input, and handlers get what a parser reads that has errors of its own. */
export function parseWith<Read>(
  read: Parser<Read>,
  /** The body as hooks get it, once it has been read: with ids in one spelling. */
  inOneSpelling: (body: unknown) => unknown = (body) => body,
): ParsedBody<Read> {
  const known = new WeakMap<object, Read>();
  const check = {
    parse(body: unknown): unknown {
      const found = read(body);
      const given = inOneSpelling(body);
      if (isObject(given)) known.set(given, found);
      return given;
    },
  };
  const recall = (body: unknown): Read =>
    (isObject(body) ? known.get(body) : undefined) ?? read(body);
  const reading = { recall, read };
  return { parameters: {}, body: { as: "input", check }, validate: undefined, reading };
}

/** Parameters, and nothing else. */
export function params<P extends Parameters>(parameters: P): InputBinding<ParameterValues<P>> {
  return { parameters, body: undefined, validate: undefined };
}

/** Parameters, and the body as one further member. */
export function paramsWith<P extends Parameters, Member extends string, Body>(
  parameters: P,
  member: Member,
  validate: Validator<Body>,
): InputBinding<ParameterValues<P> & Readonly<Record<Member, Body>>> {
  return {
    parameters,
    body: { as: { member }, check: { validate } },
    validate: undefined,
  };
}

/** Parameters and the body's members make one object, which is checked as a whole. */
export function request<Input>(
  validate: Validator<Input>,
  parameters: Parameters = {},
): InputBinding<Input> {
  return { parameters, body: { as: "members", check: undefined }, validate };
}

/** The member of an input that has the bytes of its body. */
export const bytesMember = "body";

/**
 * The bytes of the body as they were sent, as `body`, and parameters beside them; the validator
 * looks at these alone.
 */
export function rawBody<Input>(
  validate: Validator<Input>,
  given: Parameters = {},
): InputBinding<Input> {
  const body = { as: { member: bytesMember }, media: "bytes", check: undefined } as const;
  return { parameters: given, body, validate };
}

/** The fields of a form without files, and parameters: together they are checked. */
export function formBody<Input>(
  validate: Validator<Input>,
  given: Parameters,
): InputBinding<Input> {
  return {
    parameters: given,
    body: { as: "members", media: "fields", check: undefined },
    validate,
  };
}

/** Parameters alone make the object that is checked. */
export function parameters<Input>(
  validate: Validator<Input>,
  given: Parameters = {},
): InputBinding<Input> {
  return { parameters: given, body: undefined, validate };
}

/** No input. */
export const nothing: InputBinding<Readonly<Record<never, never>>> = params({});
