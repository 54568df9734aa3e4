// Which headers each answer of an operation has, in openapi.json (OpenAPI 3.1 "Response Object").
import { isOfObject } from "../kernel/operation.js";
import { answerHeaders, type AnswerHeaderName } from "../../runtime/contract/answer-headers.js";
import type { OperationModel, ReplyDeclaration } from "../model/registry.js";
import { saidHeaders } from "./openapi-replies.js";
import type { SharedComponents } from "./shared-components.js";

type Headers = Readonly<Record<string, object>>;

/** What every answer has, whatever it says. */
const ofEvery: readonly AnswerHeaderName[] = [
  "Cache-Control",
  "Content-Security-Policy",
  "X-Content-Type-Options",
  "X-Correlation-ID",
  "X-Request-ID",
];

/**
 * What follows from how an answer is sent: whether its size is known, and whether it is compressed.
 */
const ofSending: readonly AnswerHeaderName[] = ["Content-Encoding", "Content-Length", "Vary"];

/**
 * The headers that any answer may have, which the document names once: with each they would be a
 * fifth of it.
 */
export function everyAnswersHeaders(components: SharedComponents): Headers {
  return headersNamed([...ofEvery, ...ofSending], components);
}

/** References to headers by their names. */
function headersNamed(names: readonly AnswerHeaderName[], components: SharedComponents): Headers {
  return Object.fromEntries(
    [...names].sort().map((name) => [
      name,
      components.refer("headers", name.replace(/^X-/, "").replaceAll("-", ""), () => {
        const { description, type } = answerHeaders[name];
        return { description, schema: { type } };
      }),
    ]),
  );
}

/** Headers with those that a handler may set, however it spells their names. */
function withSaid(headers: Headers, reply: ReplyDeclaration | null): Headers {
  const said = saidHeaders(reply);
  const taken = new Set(Object.keys(said).map((name) => name.toLowerCase()));
  const others = Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase()));
  return { ...Object.fromEntries(others), ...said };
}

/**
 * The headers that announce a deprecation (RFC 9745) and its sunset (RFC 8594), on every answer.
 */
export function deprecationHeaders({
  deprecated,
}: Pick<OperationModel, "deprecated">): readonly AnswerHeaderName[] {
  if (deprecated === null) return [];
  return deprecated.sunset === null ? ["Deprecation"] : ["Deprecation", "Sunset"];
}

/**
 * Headers that say which version an answer has. What was just added is never older than its second.
 */
function ofVersion({ output, adds }: OperationModel): readonly AnswerHeaderName[] {
  if (isOfObject(output)) return ["ETag", "Last-Modified"];
  if (!output.hasEntityTag) return [];
  return adds === null ? ["ETag", "Last-Modified"] : ["ETag"];
}

/** The headers of a success, besides those of every answer. */
export function successHeaders(operation: OperationModel, components: SharedComponents): Headers {
  const { output, idempotencyKey, route } = operation;
  const names: AnswerHeaderName[] = [...deprecationHeaders(operation), ...ofVersion(operation)];
  if (isOfObject(output)) names.push("Accept-Ranges", "Content-Disposition");
  if (idempotencyKey) names.push("Idempotency-Replayed");
  return withSaid(headersNamed(names, components), route?.reply ?? null);
}

/** The headers of a part of a file. */
export function partHeaders(operation: OperationModel, components: SharedComponents): Headers {
  return {
    ...successHeaders(operation, components),
    ...headersNamed(["Content-Range"], components),
  };
}

/** The headers of 304: those by which a cache brings up to date what it has (RFC 9110 §15.4.5). */
export function unchangedHeaders(operation: OperationModel, components: SharedComponents): Headers {
  return headersNamed([...deprecationHeaders(operation), ...ofVersion(operation)], components);
}

/** The headers of a redirect besides its `Location`. */
export function redirectHeaders(operation: OperationModel, components: SharedComponents): Headers {
  const names = deprecationHeaders(operation);
  return withSaid(headersNamed(names, components), operation.route?.reply ?? null);
}

/**
 * What errors of a status say besides their code: which credential to send, when to come again,
 * what is taken.
 */
const ofStatus: Readonly<Record<number, readonly AnswerHeaderName[]>> = {
  401: ["WWW-Authenticate"],
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/**
 * How the errors of an operation differ from those of others: in the name of their component, and
 * in headers.
 */
export function errorTraits(
  operation: OperationModel,
  status: number,
): { readonly names: readonly string[]; readonly headers: readonly AnswerHeaderName[] } {
  const announced = deprecationHeaders(operation);
  if (status === 415 && operation.route?.method === "PATCH")
    return { names: ["patch"], headers: ["Accept-Patch", ...announced] };
  // Of `idempotency_in_flight`.
  if (status === 409 && operation.idempotencyKey)
    return { names: ["idempotency"], headers: ["Retry-After", ...announced] };
  return { names: [], headers: announced };
}

/** The headers of an error of this status. */
export function errorHeaders(
  status: number,
  further: readonly AnswerHeaderName[],
  components: SharedComponents,
): Headers {
  const names = ["X-Error-Code", ...(ofStatus[status] ?? []), ...further] as const;
  return headersNamed(names, components);
}
