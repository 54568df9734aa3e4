// Errors in openapi.json: their body, the response of each status, and the errors that the registry
// declares.
import type { AnswerHeaderName } from "../../runtime/contract/answer-headers.js";
import { errorKinds, errors } from "../../runtime/contract/errors.js";
import { objectSchema, refTo } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import { statusOf } from "../model/error-codes.js";
import { errorHeaders } from "./openapi-headers.js";
import { publishSchema, type Schema } from "./published-schema.js";
import type { SharedComponents } from "./shared-components.js";

/** The schema of opwright's envelope. */
export function envelopeSchema(): Schema {
  return {
    ...objectSchema(
      {
        detail: { type: "string" },
        code: { type: "string" },
        kind: { type: "string", enum: Object.keys(errorKinds) },
        context: { type: "object", additionalProperties: true },
      },
      ["detail", "code", "kind", "context"],
    ),
    description: "The body of every error.",
  } as Schema;
}

/**
 * The response of an error status, which all operations share. It lists every code with this
 * status; an operation can answer those that are in its own list, too. `further` are headers of
 * some operations alone.
 */
export function errorResponse(
  status: number,
  further: readonly AnswerHeaderName[],
  model: RegistryModel,
  components: SharedComponents,
): object {
  const codes = [...Object.keys(errors), ...Object.keys(model.errors)].filter(
    (code) => statusOf(code, model) === status,
  );
  return {
    description: "One of these x-error-codes that the operation lists, too.",
    "x-error-codes": codes,
    headers: errorHeaders(status, further, components),
    content: {
      "application/json": {
        schema: {
          $ref: `#/components/schemas/${model.service.errors?.typeName ?? "ErrorEnvelope"}`,
        },
      },
    },
  };
}

/**
 * Describes an error of the registry under `x-errors`, once. Codes that the registry doesn't
 * declare are ignored.
 */
export function referToError(
  code: string,
  { errors }: RegistryModel,
  components: SharedComponents,
): void {
  const error = own(errors, code);
  if (error === undefined) return;
  const { kind, detail, retryable, contextType } = error;
  components.refer("x-errors", code, () => ({
    kind,
    status: errorKinds[kind],
    detail,
    retryable,
    ...(contextType === null ? {} : { context: publishSchema(refTo(contextType)) }),
  }));
}
