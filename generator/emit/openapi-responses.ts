// The responses of an operation in openapi.json: what succeeds, what reads answer besides, and
// errors by their status.
import { isOfObject } from "../kernel/operation.js";
import { errorCodesOf, statusOf } from "../model/error-codes.js";
import { pascalCase } from "../model/names.js";
import { outputTypeName } from "../model/operation-types.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { errorResponse } from "./openapi-errors.js";
import {
  deprecationHeaders,
  errorTraits,
  partHeaders,
  redirectHeaders,
  successHeaders,
  unchangedHeaders,
} from "./openapi-headers.js";
import { furtherResponses } from "./openapi-replies.js";
import { publishSchema } from "./published-schema.js";
import type { SharedComponents } from "./shared-components.js";

type Responses = Readonly<Record<string, object>>;

const anyBytes = { "*/*": { schema: { type: "string", format: "binary" } } };

/** Every response by its status. `links` are those of the success. */
export function responsesOf(
  operation: OperationModel,
  model: RegistryModel,
  components: SharedComponents,
  links: object,
): Responses {
  const { route } = operation;
  const reply = route?.reply ?? null;
  const success = successResponse(operation, components);
  const status = String(route?.status ?? 200);
  return {
    [status]: isBare(operation, links)
      ? components.refer("responses", sharedName(status, operation), () => success)
      : { ...success, ...links },
    ...furtherResponses(reply, success, redirectHeaders(operation, components)),
    ...readResponses(operation, components),
    ...errorResponses(operation, model, components),
  };
}

/** Whether the success says nothing of its own, so that all such operations share it. */
function isBare({ output, route, idempotencyKey }: OperationModel, links: object): boolean {
  const isSilent = output.schema === null && !output.isBytes && !idempotencyKey;
  return isSilent && route?.reply === null && Object.keys(links).length === 0;
}

/** The name of a response that operations share: its status, and what announces a deprecation. */
function sharedName(status: string, operation: OperationModel): string {
  return [status, ...deprecationHeaders(operation).slice(-1)].join(".").toLowerCase();
}

function successResponse(operation: OperationModel, components: SharedComponents): object {
  const { schema } = operation.output;
  return {
    description: schema === null ? "Done." : pascalCase(operation.key),
    ...withHeaders(successHeaders(operation, components)),
    ...(schema === null
      ? {}
      : {
          content: valueContent(
            operation,
            components.schema(outputTypeName(operation), publishSchema(schema)),
          ),
        }),
    ...contentOf(operation),
  };
}

/** A value, or any number of them: OpenAPI 3.2 says that by `itemSchema`. */
function valueContent({ output }: OperationModel, schema: unknown): object {
  if (output.isStream !== true) return { "application/json": { schema } };
  const items = { schema: { type: "string" }, "x-itemSchema": schema };
  if (output.mediaType !== null) return { [output.mediaType]: items };
  return { "application/jsonl": items, "text/event-stream": items };
}

/** The bytes that an operation answers with; those of HEAD are none. */
function contentOf({ output, route }: OperationModel): object {
  const { isBytes, mediaType } = output;
  if (isBytes && mediaType !== null)
    return { content: { [mediaType]: { schema: { type: "string" } } } };
  return isBytes && route?.method === "GET" ? { content: anyBytes } : {};
}

/** What reads answer besides the whole: a part of a file, and 304. */
function readResponses(operation: OperationModel, components: SharedComponents): Responses {
  const { output, route } = operation;
  const isGet = route?.method === "GET";
  const part = (): object => ({
    description: "The part that Range asks for.",
    ...withHeaders(partHeaders(operation, components)),
    content: anyBytes,
  });
  const unchanged = (): object => ({
    description: "Not changed.",
    ...withHeaders(unchangedHeaders(operation, components)),
  });
  return {
    ...(isOfObject(output) && isGet
      ? { "206": components.refer("responses", sharedName("206", operation), part) }
      : {}),
    ...(isOfObject(output) || (output.hasEntityTag && isGet)
      ? { "304": components.refer("responses", sharedName("304", operation), unchanged) }
      : {}),
  };
}

/** The errors of each status. Operations that answer them alike share them. */
function errorResponses(
  operation: OperationModel,
  model: RegistryModel,
  components: SharedComponents,
): Responses {
  const statuses = new Set(errorCodesOf(operation).map((code) => statusOf(code, model)));
  return Object.fromEntries(
    [...statuses].sort().map((status) => {
      const traits = errorTraits(operation, status);
      const name = [sharedName(String(status), operation), ...traits.names].join(".");
      const made = (): object => errorResponse(status, traits.headers, model, components);
      return [String(status), components.refer("responses", name, made)];
    }),
  );
}

/** The headers of a response, where it has some of its own. */
function withHeaders(headers: object): object {
  return Object.keys(headers).length === 0 ? {} : { headers };
}
