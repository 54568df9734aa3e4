// `errors:`: errors of the author's own, which operations and hooks may answer with.
import { saidBy, wordsFor } from "../../load/other-words.js";
import { typeOrFields, mapOf, optional, required, text } from "../../load/format-parts.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";

/** Kinds whose statuses are about what the caller did. */
const kinds = [
  "malformed",
  "domain",
  "authentication",
  "authorization",
  "not_found",
  "validation",
  "conflict",
  "concurrency",
  "precondition",
  "throttled",
] as const;

const error = {
  kind: "object",
  otherWords: {
    ...saidBy(
      "The status follows from the kind: `kind: conflict` answers 409. Leave it out.",
      "status statusCode code",
    ),
    ...wordsFor("detail", "message text title description"),
    ...wordsFor("context", "details data params"),
    ...wordsFor("kind", "type"),
  },
  members: {
    kind: required({ kind: "oneOf", values: kinds }, "What kind it is, which gives the status."),
    detail: required(text, "One sentence for whoever reads the answer.", "None are left."),
    context: optional(typeOrFields, "What it tells besides: fields, or a type's name.", {
      left: "integer",
    }),
    retryable: optional(
      { kind: "boolean" },
      "Whether the same request may succeed later without being changed.",
    ),
  },
} as const satisfies FormatShape;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly errors: Readonly<Record<string, Declared<typeof error>>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  errors: optional(
    mapOf(error, undefined, undefined, "sold_out"),
    "Errors of the author's own, by their codes.",
  ),
};
