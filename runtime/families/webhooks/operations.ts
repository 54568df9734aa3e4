// The operations of webhooks that generated routes name.
import { firstName, presentName } from "../../contract/former-names.js";
import { fail } from "../../contract/errors.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import { settingsOf } from "../../operations/family.js";
import { heldSession } from "../../operations/held-session.js";
import { sessionOf } from "../../operations/identity.js";
import type { Handler } from "../../operations/operation.js";
import {
  webhookStore,
  type Webhook,
  type WebhookDelivery,
  type WebhookOwner,
} from "../../ports/webhooks.js";
import { isCallable } from "./address.js";
import { webhookEntry, type WebhookEntry } from "./entry.js";
import { webhooksFamily } from "./index.js";
import { newSecret } from "./secret.js";
import { testEvent, type WebhooksSpec } from "./spec.js";

/** Deliveries of one answer. */
const pageSize = 100;

interface CreateRequest {
  readonly url: string;
  readonly events: readonly string[];
}

/** The answer of create: the only place where the secret is ever seen. */
export interface CreatedWebhook extends WebhookEntry {
  readonly secret: string;
}

export interface WebhookDeliveryEntry {
  readonly id: string;
  readonly event: string;
  readonly event_id: string;
  readonly state: "pending" | "delivered" | "failed";
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly delivered_at: string | null;
}

interface ById {
  readonly id: string;
}

/** Handlers of webhooks. A caller has those that it made in its tenant, and sees no others. */
export const webhooks = {
  /**
   * Throws `core.validation` for an address that may not be called, `core.authorization` for an
   * event that the caller may not hear, and `webhooks_limit`.
   */
  create:
    (spec: WebhooksSpec): Handler<CreateRequest, CreatedWebhook> =>
    async ({ url, events }, context) => {
      const { reach } = settingsOf(context.resources, webhooksFamily);
      if (!isCallable(url, reach)) throw fail("core.validation", { errors: [notPublic] });
      const owner = ownerOf(context);
      await mayHearAll(spec, context, events);
      // The webhook outlives the session and would outlive the membership.
      await heldSession(context);
      const store = context.transaction.of(webhookStore);
      const { most } = spec;
      if ((await store.count(owner)) >= most) throw fail("webhooks_limit", { most });
      const id = uuidv7();
      const { secret, sealed } = newSecret(context, id);
      const webhook: Webhook = {
        ...owner,
        id,
        url,
        events: events.map((event) => firstName(spec.was, event)),
        secret: sealed,
        createdAt: context.clock.now(),
      };
      await store.add(webhook);
      context.note({ webhook_id: id });
      return { ...webhookEntry(spec, webhook), secret };
    },

  /** The caller's webhooks, oldest first. */
  list:
    (
      spec: WebhooksSpec,
    ): Handler<Readonly<Record<never, never>>, { readonly webhooks: readonly WebhookEntry[] }> =>
    async (_input, context) => {
      const list = await context.transaction.of(webhookStore).list(ownerOf(context));
      return { webhooks: list.map((webhook) => webhookEntry(spec, webhook)) };
    },

  /**
   * Throws `core.not_found`, as all of the following, for one that is not there or somebody else's.
   */
  delete:
    (): Handler<ById, void> =>
    async ({ id }, context) => {
      if (!(await context.transaction.of(webhookStore).remove(ownerOf(context), id)))
        throw fail("core.not_found");
    },

  /** Sends `webhook.test` to it alone. */
  test:
    (spec: WebhooksSpec): Handler<ById, WebhookDeliveryEntry> =>
    async ({ id }, context) => {
      const webhook = await findWebhook(context, id);
      const store = context.transaction.of(webhookStore);
      const eventId = uuidv7();
      const payload = context.resources.sealer.seal(JSON.stringify({ webhook_id: id }), eventId);
      const event = {
        id: eventId,
        name: testEvent,
        tenant: context.tenant,
        payload,
        shape: null,
        traceparent: context.metadata.traceparent ?? null,
        createdAt: context.clock.now(),
      };
      await store.stage(event, webhook);
      context.follow(() => context.resources.wake(webhookStore));
      const [delivery] = await store.deliveries(id, undefined, 1);
      if (delivery === undefined) throw fail("core.not_found");
      return deliveryOf(spec, delivery);
    },

  /** The newest first; `before` is the last one of the page before. */
  deliveries:
    (
      spec: WebhooksSpec,
    ): Handler<
      ById & { readonly before?: string },
      { readonly deliveries: readonly WebhookDeliveryEntry[]; readonly has_more: boolean }
    > =>
    async ({ id, before }, context) => {
      await findWebhook(context, id);
      const store = context.transaction.of(webhookStore);
      const rows = await store.deliveries(id, before, pageSize + 1);
      return {
        deliveries: rows.slice(0, pageSize).map((one) => deliveryOf(spec, one)),
        has_more: rows.length > pageSize,
      };
    },

  /** Delivers an event again, whatever became of it. */
  redeliver:
    (): Handler<ById & { readonly delivery: string }, void> =>
    async ({ id, delivery }, context) => {
      await findWebhook(context, id);
      const store = context.transaction.of(webhookStore);
      if (!(await store.redeliver(id, delivery, context.clock.now()))) throw fail("core.not_found");
      context.follow(() => context.resources.wake(webhookStore));
    },
};

const notPublic = {
  path: "/url",
  keyword: "address",
  message: "must be an HTTPS URL of a public address, without credentials and fragment",
};

/**
 * Whose webhooks the caller manages. A webhook outlives keys and delegations, so it takes a session
 * of the owner's own.
 */
function ownerOf(context: ExecutionContext): WebhookOwner {
  return { tenant: context.tenant, principalId: sessionOf(context).principalId };
}

/** Throws if the guard of one of the events refuses the caller. */
async function mayHearAll(
  { events: known }: WebhooksSpec,
  context: ExecutionContext,
  events: readonly string[],
): Promise<void> {
  for (const event of events)
    for (const { run } of known[event] ?? []) await run(undefined, context);
}

async function findWebhook(context: ExecutionContext, id: string): Promise<Webhook> {
  const webhook = await context.transaction.of(webhookStore).find(ownerOf(context), id);
  if (webhook === null) throw fail("core.not_found");
  return webhook;
}

function deliveryOf({ was }: WebhooksSpec, delivery: WebhookDelivery): WebhookDeliveryEntry {
  const { id, event, eventId, attempts, status, error, createdAt, dueAt, deliveredAt } = delivery;
  const isPending = dueAt !== null;
  return {
    id,
    event: presentName(was, event),
    event_id: eventId,
    state: isPending ? "pending" : deliveredAt === null ? "failed" : "delivered",
    attempts,
    status,
    error,
    created_at: timeOf(createdAt),
    next_attempt_at: isPending ? timeOf(dueAt) : null,
    delivered_at: deliveredAt === null ? null : timeOf(deliveredAt),
  };
}

function timeOf(millis: number): string {
  return new Date(millis).toISOString();
}
