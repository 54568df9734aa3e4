// Requests of an operation, made from what the document says of it: sound ones, and ones that are nearly so.
import fc from "fast-check";
import { changed } from "./changes.js";
import type { Json, OpenApiDocument, Operation, Parameter } from "./open-api.js";
import { SchemaValues, standIn } from "./schema-values.js";

/** `unsaid`: the document leaves open whether it is taken. */
export type Verdict = "valid" | "invalid" | "unsaid";

export interface Form {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly files: readonly string[];
}

/** A request before what exists takes the place of ids that stand for it. */
export interface Request {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, a form, or no body. */
  readonly body: string | Form | undefined;
  readonly verdict: Verdict;
}

type Told = Json | undefined;

/** What is sent, as values; `body` is the value of JSON or of a form. */
interface Parts {
  readonly parameters: Readonly<Record<string, Told>>;
  readonly body: Told;
}

/** Texts of JSON that are none, or that say something twice. */
const noJson = [
  "{",
  "",
  "[1,]",
  '{"a":1,"a":2}',
  "nul",
  '{"a":"\\ud800"}',
  "\ufeff{}",
  '{"a":1e400}',
  `${"[".repeat(120)}${"]".repeat(120)}`,
  '"',
  "{}{}",
];

/** The header fields in which any text is a parameter's, though not what the server can go by. */
const lenient = /^(?:If-|Range$)/;

/** Requests of an operation, of which some are sound. */
export function requestsOf(document: OpenApiDocument, operation: Operation): fc.Arbitrary<Request> {
  const values = new SchemaValues(document);
  const sound = partsOf(values, operation);
  const near = sound.chain(({ parameters, body }) =>
    fc.record({
      parameters: nearParameters(operation, parameters),
      body: body === undefined ? fc.constant<Told>(undefined) : changed(fc.constant(body)),
    }),
  );
  const nearBody = sound.chain(({ parameters, body }) =>
    fc.record({
      parameters: fc.constant(parameters),
      body: body === undefined ? fc.constant<Told>(undefined) : changed(fc.constant(body)),
    }),
  );
  const usual = fc
    .oneof(
      { weight: 4, arbitrary: sound },
      { weight: 3, arbitrary: nearBody },
      { weight: 2, arbitrary: near },
    )
    .map((parts) => toRequest(document, operation, parts));
  const { body } = operation;
  if (body === null || body.type !== "application/json") return usual;
  const broken = fc.tuple(usual, fc.constantFrom(...noJson)).map(([request, text]) => ({
    ...request,
    body: text,
    verdict: text === "" && !body.required ? ("unsaid" as const) : ("invalid" as const),
  }));
  return fc.oneof({ weight: 14, arbitrary: usual }, { weight: 1, arbitrary: broken });
}

function partsOf(values: SchemaValues, { parameters, body }: Operation): fc.Arbitrary<Parts> {
  const each = parameters.map((parameter) => {
    const value: fc.Arbitrary<Told> = lenient.test(parameter.name)
      ? conditions
      : values
          .of(parameter.schema)
          .filter((told) => isSendable(parameter, told))
          .map((told) => told ?? undefined);
    if (parameter.required) return value;
    const nothing = {
      weight: lenient.test(parameter.name) ? 9 : 1,
      arbitrary: fc.constant<Told>(undefined),
    };
    return fc.oneof(nothing, { weight: 2, arbitrary: value });
  });
  return fc
    .tuple(fc.tuple(...each), body === null ? fc.constant<Told>(undefined) : values.of(body.schema))
    .map(([given, told]) => ({
      parameters: Object.fromEntries(given.map((value, at) => [parameters[at]?.name ?? "", value])),
      body: told,
    }));
}

const conditions = fc.oneof(
  fc.constantFrom(
    "*",
    '"1"',
    'W/"1"',
    '"1", "2"',
    '"x"',
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "bytes=0-0",
    "bytes=-1",
    "bytes=5-2",
  ),
  fc
    .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 })
    .map((text) => text.trim() || "x"),
);

/** Path segments cannot be empty, and a header is visible ASCII here. */
function isSendable({ in: place }: Parameter, value: Told): boolean {
  const text = String(value);
  if (place === "path") return text !== "" && text !== "." && text !== ".." && text.isWellFormed();
  if (place === "header") return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  return text.isWellFormed();
}

/** Texts where values of other types are, parameters that are not there, and ones that nobody knows. */
function nearParameters(
  { parameters }: Operation,
  given: Parts["parameters"],
): fc.Arbitrary<Parts["parameters"]> {
  const texts = fc.constantFrom(
    "",
    "x",
    "0",
    "-1",
    "1.5",
    "01",
    "+1",
    "1e3",
    " 1",
    "٣",
    "\0",
    "true",
    "TRUE",
    "null",
    "9007199254740993",
    "00000000-0000-4000-8000-00000000000",
    "ⅷ".repeat(300),
  );
  const each = parameters.map((parameter) =>
    fc
      .oneof(
        { weight: 2, arbitrary: fc.constant(given[parameter.name]) },
        { weight: 1, arbitrary: texts.filter((text) => isSendable(parameter, text)) },
        ...(parameter.in === "path" ? [] : [{ weight: 1, arbitrary: fc.constant(undefined) }]),
      )
      .map((value) => [parameter.name, value] as const),
  );
  return fc.tuple(...each).map((entries) => Object.fromEntries(entries));
}

/** What is sent of some parts, and what the document says of it. */
function toRequest(document: OpenApiDocument, operation: Operation, parts: Parts): Request {
  const sent: { readonly [place in Parameter["in"]]: Record<string, string> } = {
    path: {},
    query: {},
    header: {},
  };
  const verdicts: Verdict[] = [];
  for (const parameter of operation.parameters) {
    const value = parts.parameters[parameter.name];
    if (value === undefined) {
      if (parameter.required) verdicts.push("invalid");
      continue;
    }
    sent[parameter.in][parameter.name] = String(value);
    verdicts.push(verdictOf(document, parameter, value));
  }
  const { body } = operation;
  const form = body?.type === "multipart/form-data";
  if (body !== null && parts.body !== undefined)
    verdicts.push(
      form
        ? formVerdict(document, body.schema, parts.body)
        : jsonVerdict(document, body.schema, parts.body),
    );
  return {
    path: sent.path,
    query: sent.query,
    headers: sent.header,
    body:
      parts.body === undefined ? undefined : form ? formOf(parts.body) : JSON.stringify(parts.body),
    verdict: verdicts.includes("invalid")
      ? "invalid"
      : verdicts.includes("unsaid")
        ? "unsaid"
        : "valid",
  };
}

/** A parameter is a value of its schema in its one spelling; the same value in another is not said. */
function verdictOf(document: OpenApiDocument, { schema }: Parameter, value: Told): Verdict {
  if (typeof value !== "string") return document.isValid(schema, value) ? "valid" : "invalid";
  if (value.includes("\0")) return "invalid";
  if (document.isValid(schema, value)) return "valid";
  const read: unknown = value === "true" ? true : value === "false" ? false : Number(value);
  if (!document.isValid(schema, read)) return "invalid";
  return typeof read === "boolean" || String(read) === value ? "valid" : "unsaid";
}

function jsonVerdict(document: OpenApiDocument, schema: Parameter["schema"], value: Json): Verdict {
  const rest = partsOfValue(value);
  const texts = rest.filter((part) => typeof part === "string");
  if (texts.some((text) => text.includes("\0") || !text.isWellFormed())) return "invalid";
  if (!document.isValid(schema, value)) return "invalid";
  // Numbers that a double cannot hold exactly, and depths, are bounded for all operations.
  const numbers = rest.filter((part) => typeof part === "number");
  const isPlain = numbers.every((one) => !Number.isInteger(one) || Number.isSafeInteger(one));
  return isPlain && !texts.includes("__proto__") ? "valid" : "unsaid";
}

function formVerdict(document: OpenApiDocument, schema: Parameter["schema"], value: Json): Verdict {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "unsaid";
  const texts = partsOfValue(value).filter((part) => typeof part === "string");
  if (texts.some((text) => text.includes("\0") || !text.isWellFormed())) return "unsaid";
  if (Object.values(value).some((part) => typeof part !== "string")) return "unsaid";
  return document.isValid(schema, value) ? "valid" : "invalid";
}

function formOf(value: Json): Form {
  const members =
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [];
  const fields = members.flatMap(([name, part]) =>
    name !== "file" && typeof part === "string" ? [[name, part] as const] : [],
  );
  return {
    fields,
    files: members.flatMap(([name, part]) => (name === "file" ? [String(part)] : [])),
  };
}

/** The value, its members' names, and everything within it. */
function partsOfValue(value: Json): readonly Json[] {
  if (typeof value !== "object" || value === null) return [value];
  if (Array.isArray(value)) return value.flatMap(partsOfValue);
  return Object.entries(value).flatMap(([name, part]) => [name, ...partsOfValue(part)]);
}

/** A text with what exists in the place of ids that stand for it. */
export function withExisting(text: string, existing: (at: number) => string | undefined): string {
  return text.replaceAll(standIn, (id, at: string) => existing(Number.parseInt(at, 16)) ?? id);
}
