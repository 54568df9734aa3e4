// The operations of webhooks, as a table.
import { bodyOf, idInPath, type BuiltInVerb } from "../../kernel/built-in.js";
import { uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import type { ParameterModel } from "../../model/registry.js";
import type { WebhooksModel } from "./model.js";

const deliveryInPath: ParameterModel = { ...idInPath, name: "delivery" };

const before: ParameterModel = {
  name: "before",
  in: "query",
  type: "uuid",
  required: false,
  schema: { ...uuidSchema, description: "The last delivery of the page before." },
};

/** A URL may contain a secret, so the audit log leaves it out (see `audit` of `create`). */
const url: JsonSchema = {
  examples: ["https://example.com/hook"],
  type: "string",
  format: "uri",
  minLength: 1,
  maxLength: 2_000,
  description: "An HTTPS URL of a public address.",
};

/** The operations by name. The input of `create` lists the events that callers may subscribe to. */
export function webhookVerbs(model: WebhooksModel): Readonly<Record<string, BuiltInVerb>> {
  return { create: creating(model), ...others };
}

function creating({ events }: WebhooksModel): BuiltInVerb {
  const subscribed: JsonSchema = {
    type: "array",
    items: events.length === 0 ? false : { type: "string", enum: [...events] },
    minItems: 1,
    uniqueItems: true,
  };
  return {
    verb: "create",
    summary: "Subscribe to integration events",
    method: "POST",
    path: "/",
    status: 201,
    takesSpec: true,
    isWrite: true,
    body: bodyOf({ url, events: subscribed }),
    audit: ["events"],
    output: "WebhookCreated",
    errors: ["webhooks_limit"],
  };
}

const others: Readonly<Record<string, BuiltInVerb>> = {
  list: {
    verb: "list",
    summary: "List the caller's webhooks",
    method: "GET",
    path: "/",
    status: 200,
    takesSpec: true,
    isWrite: false,
    output: "WebhookList",
    errors: [],
  },
  delete: {
    verb: "delete",
    summary: "End a webhook",
    method: "DELETE",
    path: "/{id}",
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
  test: {
    verb: "test",
    summary: "Send an event to a webhook to try it",
    method: "POST",
    path: "/{id}/test",
    status: 202,
    takesSpec: true,
    isWrite: true,
    parameters: [idInPath],
    output: "WebhookDelivery",
    errors: ["core.not_found"],
  },
  deliveries: {
    verb: "deliveries",
    summary: "List what a webhook was sent, the newest first",
    method: "GET",
    path: "/{id}/deliveries",
    status: 200,
    takesSpec: true,
    isWrite: false,
    parameters: [idInPath, before],
    output: "WebhookDeliveryPage",
    errors: ["core.not_found"],
  },
  redeliver: {
    verb: "redeliver",
    summary: "Send an event to a webhook again",
    method: "POST",
    path: "/{id}/deliveries/{delivery}/redeliver",
    status: 202,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath, deliveryInPath],
    output: null,
    errors: ["core.not_found"],
  },
};
