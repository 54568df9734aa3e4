// From a request to an operation's input: path, query and body, each checked before the operation
// runs.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { fail } from "../../contract/errors.js";
import { isExactNumber } from "../../contract/exact-number.js";
import { pointer } from "../../contract/json-pointer.js";
import { limits } from "../../contract/limits.js";
import { nulFault, type ValidationFault, type Validator } from "../../contract/validation.js";
import {
  bytesMember,
  type BodyBinding,
  type ExpectedRevision,
  type InputBinding,
  type Parameter,
} from "../../operations/input.js";
import { isUuid } from "../../contract/uuid.js";
import { incomingForm } from "./incoming-form.js";
import { listsRevision } from "../../operations/preconditions.js";
import { expectNoBody, hasBody, readBytes, readFormText, readJsonBody } from "./read-body.js";

/**
 * The parts of a request that carry input. `path` holds decoded placeholders; `query` is what
 * follows `?`, undecoded.
 */
export interface RequestParts {
  readonly req: IncomingMessage;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly query: string;
}

/**
 * Reads the input of an operation; `sent` learns what it is made of. Throws `parameter_malformed`
 * (400), `core.validation` (422), `revision_required`, `revision_ambiguous`, or an error of the
 * body reader.
 */
export function readInput<Input>(
  binding: InputBinding<Input>,
  parts: RequestParts,
  maxBodyBytes: number,
  sent: Sent = () => undefined,
): Input | Promise<Input> {
  const values = readParameters(binding, parts);
  const { body } = binding;
  if (body === undefined) {
    sent(values);
    const input = checkValue(binding.validate, values) as Input;
    return hasBody(parts.req) ? expectNoBody(parts.req).then(() => input) : input;
  }
  if (body.media === "bytes")
    return readBytes(parts.req, maxBodyBytes, (bytes) => {
      sent({ ...values, [bytesMember]: hashOf(bytes) });
      const input = checkValue(binding.validate, values) as Record<string, unknown>;
      return { ...input, [bytesMember]: bytes } as Input;
    });
  if (body.media === "fields")
    return readFormText(parts.req, maxBodyBytes, (text) => {
      const given = { ...values, ...readFields(binding, parseQuery(text)) };
      sent(given);
      return checkValue(binding.validate, given) as Input;
    });
  if (body.isForm === true) return assemble(binding, body, values, incomingForm(parts.req));
  if (body.isOptional === true && !hasBody(parts.req))
    return assemble(binding, body, values, {}, sent);
  return readJsonBody(parts.req, maxBodyBytes, (content) =>
    assemble(binding, body, values, content, sent),
  );
}

/**
 * The fields of a form, by the types that they have, as browsers send them: what isn't filled in is
 * empty, and a ticked box is `on` (HTML, constructing the entry list). Refuses other fields.
 */
function readFields(
  { parameters }: InputBinding<unknown>,
  fields: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const faults: ValidationFault[] = [];
  for (const name of fields.keys())
    if (!Object.hasOwn(parameters, name) || parameters[name]?.in !== "field")
      faults.push({
        path: pointer("", name),
        keyword: "additionalProperties",
        message: "is not a field of this form",
      });
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter.in !== "field") continue;
    const sent = fields.get(name);
    const isEmpty = sent === "" && !parameter.required;
    const raw = isEmpty ? undefined : sent === "on" && parameter.type === "boolean" ? "true" : sent;
    const value = readParameter(name, raw, parameter, faults);
    if (value !== undefined) values[name] = value;
  }
  if (faults.length > 0) throw invalid(faults);
  return values;
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64url");
}

/** Learns what was sent as input, before it is checked and defaults are filled in. */
type Sent = (sent: unknown) => void;

function assemble<Input>(
  binding: InputBinding<Input>,
  body: BodyBinding,
  values: Record<string, unknown>,
  content: unknown,
  sent: Sent = () => undefined,
): Input {
  if (body.as === "members") {
    if (typeof content !== "object" || content === null || Array.isArray(content)) {
      throw invalid([{ path: "", keyword: "type", message: "must be object" }]);
    }
    const clash = Object.keys(values).find((name) => Object.hasOwn(content, name));
    if (clash !== undefined) {
      throw invalid([
        { path: `/${clash}`, keyword: "additionalProperties", message: "belongs in the URL" },
      ]);
    }
    const given = { ...content, ...values };
    sent(given);
    return checkValue(binding.validate, given) as Input;
  }
  sent(body.as === "input" ? content : { ...values, [body.as.member]: content });
  const parsed =
    body.check === undefined
      ? content
      : "parse" in body.check
        ? body.check.parse(content)
        : checkValue(body.check.validate, content);
  if (body.as === "input") return parsed as Input;
  values[body.as.member] = parsed;
  // The parameters and the body have been checked one by one against what makes up Input.
  return values as Input;
}

function checkValue<T>(validate: Validator<T> | undefined, value: unknown): unknown {
  const faults = validate?.(value) ?? null;
  if (faults !== null) throw invalid(faults);
  return value;
}

function invalid(faults: readonly ValidationFault[]): Error {
  return fail("core.validation", { errors: faults.slice(0, limits.maxReportedErrors) });
}

function readParameters(
  binding: InputBinding<unknown>,
  parts: RequestParts,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const faults: ValidationFault[] = [];
  const given = parts.query === "" ? noQuery : parseQuery(parts.query);
  let used = 0;
  for (const name in binding.parameters) {
    const parameter = binding.parameters[name];
    if (parameter === undefined || parameter.in === "field") continue;
    if (parameter.in === "header") {
      const field = parts.req.headers[parameter.field ?? ""];
      if (typeof field === "string") values[name] = field;
      continue;
    }
    const raw = parameter.in === "path" ? parts.path[name] : given.get(name);
    if (raw !== undefined && parameter.in !== "path") used += 1;
    const value =
      parameter.in === "revision"
        ? readRevision(name, raw, parts.req.headers["if-match"], parameter.required)
        : readParameter(name, raw, parameter, faults);
    if (value !== undefined) values[name] = value;
  }
  if (used < given.size) {
    for (const name of given.keys()) {
      const parameter = Object.hasOwn(binding.parameters, name)
        ? binding.parameters[name]
        : undefined;
      if (parameter === undefined || !["query", "revision"].includes(parameter.in))
        faults.push({
          path: pointer("", name),
          keyword: "additionalProperties",
          message: "is not a query parameter of this operation",
        });
    }
  }
  if (faults.length > 0) throw invalid(faults);
  return values;
}

const noQuery: ReadonlyMap<string, string> = new Map();

/**
 * Query parameters by name. A repeated, bracketed or badly encoded one is `parameter_malformed`.
 */
export function parseQuery(query: string): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const part of query.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    if (name === "" || /[[\]]/.test(name) || given.has(name)) throw fail("parameter_malformed");
    given.set(name, equals < 0 ? "" : decode(part.slice(equals + 1)));
  }
  return given;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw fail("parameter_malformed");
  }
}

/** The value that a text stands for; undefined for none, and for one that `faults` learns of. */
function readParameter(
  name: string,
  raw: string | undefined,
  { type, required }: Parameter<unknown>,
  faults: ValidationFault[],
): unknown {
  if (raw === undefined) {
    if (required) faults.push({ path: `/${name}`, keyword: "required", message: "must be given" });
    return undefined;
  }
  const refuse = (keyword: string, message: string): undefined => {
    faults.push({ path: `/${name}`, keyword, message });
  };
  switch (type) {
    case "uuid":
      return isUuid(raw) ? raw.toLowerCase() : refuse("format", "must be a UUID");
    case "integer":
      return /^-?(?:0|[1-9]\d*)$/.test(raw) && isExactNumber(raw)
        ? Number(raw)
        : refuse("type", "must be integer");
    case "number":
      return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(raw) && isExactNumber(raw)
        ? Number(raw)
        : refuse("type", "must be number");
    case "boolean":
      return raw === "true" || raw === "false"
        ? raw === "true"
        : refuse("type", "must be true or false");
    case "string":
    case "list":
      if (raw.includes("\0")) faults.push(nulFault(`/${name}`));
      return type === "list" ? raw.split(",") : raw;
  }
}

/**
 * The revision that a write expects. `If-Match` alone leaves it to the precondition: a stale one is
 * 412 and never merges, where a stale `rev` is 409 or merges.
 */
function readRevision(
  name: string,
  raw: string | undefined,
  ifMatch: string | undefined,
  required: boolean,
): ExpectedRevision | undefined {
  if (raw === undefined) {
    if (ifMatch === undefined && required) throw fail("revision_required");
    return ifMatch === undefined ? undefined : "any";
  }
  const expected = parseRevision(name, raw);
  if (ifMatch !== undefined && !listsRevision(ifMatch, String(expected)))
    throw fail("revision_ambiguous");
  return expected;
}

function parseRevision(name: string, raw: string): number {
  if (/^[1-9]\d{0,15}$/.test(raw) && Number.isSafeInteger(Number(raw))) return Number(raw);
  throw invalid([{ path: `/${name}`, keyword: "type", message: "must be an integer from 1" }]);
}
