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
export function webhookVerbs(model: WebhooksModel): readonly BuiltInVerb[] {
  return [createVerb(model), ...others];
}

function createVerb({ events }: WebhooksModel): BuiltInVerb {
  const subscribed: JsonSchema = {
    type: "array",
    items: events.length === 0 ? false : { type: "string", enum: [...events] },
    minItems: 1,
    uniqueItems: true,
  };
  return {
    name: "create",
    handler: "create",
    summary: "Subscribe to integration events",
    route: ["POST", "/"],
    status: 201,
    takesSpec: true,
    isWrite: true,
    body: bodyOf({ url, events: subscribed }),
    audit: ["events"],
    output: "WebhookCreated",
    errors: ["webhooks_limit"],
  };
}

const others: readonly BuiltInVerb[] = [
  {
    name: "list",
    handler: "list",
    summary: "List the caller's webhooks",
    route: ["GET", "/"],
    takesSpec: true,
    isWrite: false,
    output: "WebhookList",
    errors: [],
  },
  {
    name: "delete",
    handler: "delete",
    summary: "End a webhook",
    route: ["DELETE", "/{id}"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
  {
    name: "test",
    handler: "test",
    summary: "Send an event to a webhook to try it",
    route: ["POST", "/{id}/test"],
    status: 202,
    takesSpec: true,
    isWrite: true,
    parameters: [idInPath],
    output: "WebhookDelivery",
    errors: ["core.not_found"],
  },
  {
    name: "deliveries",
    handler: "deliveries",
    summary: "List what a webhook was sent, the newest first",
    route: ["GET", "/{id}/deliveries"],
    takesSpec: true,
    isWrite: false,
    parameters: [idInPath, before],
    output: "WebhookDeliveryPage",
    errors: ["core.not_found"],
  },
  {
    name: "redeliver",
    handler: "redeliver",
    summary: "Send an event to a webhook again",
    route: ["POST", "/{id}/deliveries/{delivery}/redeliver"],
    status: 202,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath, deliveryInPath],
    output: null,
    errors: ["core.not_found"],
  },
];
