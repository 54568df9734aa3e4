// The port of webhooks: what callers subscribe to, and what has been delivered to them.
import { storeKey } from "./store-key.js";

/** A subscription as it is kept. Times are epoch milliseconds. */
export interface Webhook {
  readonly id: string;
  readonly tenant: string;
  readonly principalId: string;
  readonly url: string;
  /** Names of integration events. */
  readonly events: readonly string[];
  /** Sealed. */
  readonly secret: string;
  readonly createdAt: number;
}

/** Whose webhooks are asked for. */
export type WebhookOwner = Pick<Webhook, "tenant" | "principalId">;

/** An integration event that goes to webhooks. */
export interface WebhookEvent {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Sealed. */
  readonly payload: string;
  readonly createdAt: number;
}

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  readonly createdAt: number;
  readonly attempts: number;
  /** When it is tried next; null once it has been delivered or given up. */
  readonly dueAt: number | null;
  readonly deliveredAt: number | null;
  /** The status that the last attempt was answered with; null where there was no answer. */
  readonly status: number | null;
  readonly error: string | null;
}

/** A delivery that is to be tried now, with all that it takes. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhook: Pick<Webhook, "id" | "url" | "secret">;
  readonly event: WebhookEvent;
  /** Counted from 1. */
  readonly attempt: number;
}

/** How much of what is due is taken. */
export interface ClaimWindow {
  readonly now: number;
  /** Until then nobody else takes what is claimed. */
  readonly leaseUntil: number;
  readonly limit: number;
  /** The webhook whose turn was last, null where the first one's is next. */
  readonly after: string | null;
  /** How many more of a webhook may be taken. */
  shareOf(webhookId: string): number;
}

/** What became of an attempt. */
export interface DeliveryOutcome {
  readonly at: number;
  readonly isDelivered: boolean;
  /** When it is tried again, or null. */
  readonly dueAt: number | null;
  readonly status: number | null;
  readonly error: string | null;
}

/** The key of the store below. */
export const webhookStore = storeKey<WebhookStore>("webhooks");

/** Webhooks within one transaction. */
export interface WebhookStore {
  add(webhook: Webhook): Promise<void>;
  /** The webhooks of a caller, oldest first. */
  list(owner: WebhookOwner): Promise<readonly Webhook[]>;
  find(owner: WebhookOwner, id: string): Promise<Webhook | null>;
  /** Whether it was there. Its deliveries end with it. */
  remove(owner: WebhookOwner, id: string): Promise<boolean>;
  /**
   * Puts an event on its way to those who subscribed to it in its tenant, unless they are inactive or no longer members of it;
   * or to the given one alone. Returns the deliveries.
   */
  stage(event: WebhookEvent, to?: Webhook): Promise<readonly string[]>;
  /** Deliveries of a webhook, the newest first, from before one of them. */
  deliveries(
    webhookId: string,
    before: string | undefined,
    limit: number,
  ): Promise<readonly WebhookDelivery[]>;
  /** Makes a delivery due as if it had not been tried. Whether it is there. */
  redeliver(webhookId: string, id: string, now: number): Promise<boolean>;
  hasDue(now: number): Promise<boolean>;
  /** Takes what is due of some webhooks in turn; `last` is the one to go on after, null where all had their turn. */
  claim(
    window: ClaimWindow,
  ): Promise<{ readonly claimed: readonly ClaimedDelivery[]; readonly last: string | null }>;
  settle(id: string, outcome: DeliveryOutcome): Promise<void>;
  /** Removes deliveries and events from before a time, at most so many of each. Whether there may be more. */
  prune(before: number, limit: number): Promise<boolean>;
}
