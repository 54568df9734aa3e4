// `operations:`: the author's own.
import {
  deprecation,
  duration,
  errorCode,
  extensions,
  fieldType,
  hooksByPhase,
  listOf,
  mapOf,
  optional,
  policyName,
  handlerReference,
  required,
  text,
  urlPath,
} from "../../load/format-parts.js";
import type { Member, Shape } from "../../load/shape.js";

const operation: Shape = {
  kind: "object",
  ...extensions,
  members: {
    get: optional(urlPath, "The path of a GET."),
    post: optional(urlPath, "The path of a POST."),
    put: optional(urlPath, "The path of a PUT."),
    patch: optional(urlPath, "The path of a PATCH."),
    delete: optional(urlPath, "The path of a DELETE."),
    summary: optional(text, "One line for the documents."),
    description: optional(text, "More, in Markdown."),
    in: optional(fieldType, "The input: fields, or a type's name."),
    out: optional(
      fieldType,
      "The output; nothing where left out. Answers are cut to it and checked.",
    ),
    status: optional(
      { kind: "integer", minimum: 200 },
      "The status of success: 200, or 204 without an output.",
    ),
    run: required(handlerReference, "The handler, as file#export."),
    guard: required(policyName, "The policy."),
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
  },
};

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  operations: optional(
    mapOf(operation, /^/, "an operation key"),
    "Operations of the author's own, by <namespace>.<operation>.",
  ),
};
