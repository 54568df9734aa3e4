// `operations:`: the author's own.
import {
  deprecation,
  duration,
  errorCode,
  extensions,
  typeOrFields,
  hooksByPhase,
  listOf,
  mapOf,
  optional,
  policyName,
  handlerReference,
  required,
  text,
  urlPath,
  requiredGuard,
} from "../../load/format-parts.js";
import { limits } from "../../../runtime/contract/limits.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";
import { operationWords } from "./other-words.js";

const headerName = {
  kind: "string",
  pattern: /^[A-Za-z][A-Za-z0-9-]*$/,
  what: "the name of a header",
  example: "X-Trace",
} as const satisfies FormatShape;

const cookiePath = {
  kind: "string",
  pattern: /^\/[A-Za-z0-9._~!$&'()*+,=:@%/-]*$/,
  what: "a path such as /shop",
  form: "path",
  example: "/shop",
} as const satisfies FormatShape;

const cookie = {
  kind: "object",
  members: {
    max_age: optional(duration, "How long it is kept; until the browser ends where left out."),
    path: optional(cookiePath, "The paths that it is sent to; / where left out."),
    same_site: optional(
      { kind: "oneOf", values: ["lax", "strict", "none"] },
      "Whether other sites' requests bring it along; lax where left out.",
    ),
    http_only: optional({ kind: "boolean" }, "Whether scripts don't see it; true where left out."),
  },
} as const satisfies FormatShape;

const reply = {
  kind: "object",
  members: {
    status: optional(
      listOf({ kind: "integer", minimum: 200 }, 1),
      "Further statuses of success, from 200 to 299.",
    ),
    headers: optional(listOf(headerName, 1), "Headers that it may set."),
    cookies: optional(
      mapOf(cookie, /^[A-Za-z0-9_-]+$/, "the name of a cookie", "basket"),
      "Cookies that it may set and remove, always `Secure`.",
    ),
    redirect: optional(
      listOf({ kind: "integer", minimum: 300 }, 1),
      "Statuses with which it may send the caller on: 301, 302, 303, 307, 308.",
    ),
  },
} as const satisfies FormatShape;

const operation = {
  kind: "object",
  ...extensions,
  shown: ["post", "in"],
  otherWords: operationWords,
  members: {
    get: optional(urlPath, "The path of a GET.", "/tasks/{id}/note"),
    post: optional(urlPath, "The path of a POST."),
    put: optional(urlPath, "The path of a PUT.", "/tasks/{id}/note"),
    patch: optional(urlPath, "The path of a PATCH.", "/tasks/{id}/note"),
    delete: optional(urlPath, "The path of a DELETE.", "/tasks/{id}/note"),
    summary: optional(text, "One line for the documents.", "Complete a task."),
    description: optional(text, "More, in Markdown.", "Tells whoever watches the task."),
    in: optional(typeOrFields, "The input: fields, or a type's name.", { id: "uuid" }),
    body: optional(
      { kind: "oneOf", values: ["raw", "form"] },
      "A body that is no JSON: `raw` is the bytes as they were sent, `input.body`; `form` the fields of a form without files.",
    ),
    out: optional(
      typeOrFields,
      "The output; nothing where left out. Answers are cut to it and checked.",
      { done: "boolean" },
    ),
    stream: optional(
      { kind: "boolean" },
      "true answers with any number of outputs, one after the other: the handler returns an iterable or is a generator.",
    ),
    media: optional(
      {
        kind: "string",
        pattern: /^[a-z]+\/[a-z0-9][a-z0-9.+-]*(?:; ?[a-z-]+=[a-zA-Z0-9._-]+)*$/,
        what: "a media type such as text/csv",
        example: "text/csv",
      },
      "The type of an answer that is no JSON: the handler returns text or bytes. With `out`, text/csv answers with rows, whose columns are its fields.",
    ),
    status: optional(
      { kind: "integer", minimum: 200 },
      "The status of success: 200, or 204 without an output.",
    ),
    headers: optional(
      listOf(headerName, 1),
      "Headers of the request that the handler reads: `context.headers`.",
    ),
    reply: optional(reply, "What the handler may say besides the body: `context.reply`."),
    run: required(handlerReference, "The handler, as file#export."),
    guard: requiredGuard(policyName, "The policy."),
    credentials: optional(
      { kind: "oneOf", values: ["ignore"] },
      "`ignore` does not look at credentials, for operations whose body says who is calling; an invalid one is 401 otherwise.",
    ),
    errors: optional(listOf(errorCode), "Errors of `errors` that the handler may throw."),
    deprecated: optional(deprecation, "Since when it is deprecated, and when it may be gone."),
    hooks: optional(hooksByPhase, "Hooks by phase, in order."),
    deadline: optional(duration, "The time budget."),
    idempotency: optional({ kind: "boolean" }, "Whether the operation honours Idempotency-Key."),
    transaction: optional(
      { kind: "oneOf", values: ["read", "write"] },
      "Whether the handler runs in a transaction that commits; read for GET, else write.",
    ),
    isolation: optional(
      { kind: "oneOf", values: ["serializable"] },
      "`serializable`: such operations of a tenant run one after another.",
    ),
    retry: optional(
      { kind: "integer", minimum: 0, maximum: limits.maxTransactionRetries },
      "How often the transaction is tried again after a conflict with others (`core.concurrency`); 0 where left out.",
    ),
  },
} as const satisfies FormatShape;

export const methods = ["get", "post", "put", "patch", "delete"] as const;
export type MethodKey = (typeof methods)[number];

export type OperationDeclaration = Declared<typeof operation>;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly operations: Readonly<Record<string, OperationDeclaration>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  operations: {
    ...optional(
      mapOf(operation, /^/, "an operation key", "tasks.complete"),
      "Operations of the author's own, by <namespace>.<operation>.",
    ),
    alsoCalled: ["paths", "endpoints", "routes", "actions", "functions", "handlers"],
  },
};
