// The port of webhooks: what callers subscribe to, and what has been delivered to them.
import { storeKey } from "./store-key.js";

/** A subscription as it is stored. Times in this file are epoch milliseconds. */
export interface Webhook {
  readonly id: string;
  readonly tenant: string;
  readonly principalId: string;
  readonly url: string;
  /** Names of integration events. */
  readonly events: readonly string[];
  /** Sealed, that is encrypted. */
  readonly secret: string;
  readonly createdAt: number;
}

/** Whose webhooks. */
export type WebhookOwner = Pick<Webhook, "tenant" | "principalId">;

/** An integration event that goes to webhooks. */
export interface WebhookEvent {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Sealed. */
  readonly payload: string;
  /**
   * The shape in which it was kept (operations/kept-values.ts); null if an earlier version of
   * opwright has kept it.
   */
  readonly shape: string | null;
  /** Where what has staged it was in a trace, as W3C `traceparent`; null if it was in none. */
  readonly traceparent: string | null;
  readonly createdAt: number;
}

/** The delivery of one event to one webhook. */
export interface WebhookDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  readonly createdAt: number;
  readonly attempts: number;
  /** When it is next tried; null once it has been delivered or given up. */
  readonly dueAt: number | null;
  readonly deliveredAt: number | null;
  /** The HTTP status of the answer to the last attempt; null if there was none. */
  readonly status: number | null;
  readonly error: string | null;
}

/** A webhook with a delivery that is due, and whose it is. */
export type WaitingWebhook = Pick<Webhook, "id" | "tenant" | "principalId">;

/** A delivery that is to be tried now, with everything that this takes. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhook: WaitingWebhook & Pick<Webhook, "url" | "secret">;
  /** Whether its owner is active and a member, and its tenant is active. */
  readonly hasStanding: boolean;
  readonly event: WebhookEvent;
  /** The number of this attempt, counted from 1. */
  readonly attempt: number;
}

/** One attempt of a delivery. */
export type DeliveryAttempt = Pick<ClaimedDelivery, "id" | "attempt">;

/** Which of the due deliveries are claimed. */
export interface ClaimWindow {
  readonly now: number;
  /** Until then nobody else can claim them. */
  readonly leaseUntil: number;
  /** The last webhook that was looked at; null begins with the first one. */
  readonly after: string | null;
  /** After so many attempts whose outcome nobody noted, a delivery is given up. */
  readonly maxAttempts: number;
  /** Events that this process knows; deliveries of others are left to those that do. */
  readonly events: readonly string[];
  /** Whose deliveries are claimed, in order: a webhook once for each of them. */
  turnsOf(waiting: readonly WaitingWebhook[]): readonly WaitingWebhook[];
}

/** What became of a claim. */
export interface Claim {
  readonly claimed: readonly ClaimedDelivery[];
  /** Deliveries that were given up, because each of their attempts ended with its process. */
  readonly givenUp: readonly { readonly id: string; readonly webhookId: string }[];
  /** Continue after this webhook; null if all have been looked at. */
  readonly last: string | null;
}

/** The outcome of an attempt. */
export interface DeliveryOutcome {
  readonly at: number;
  readonly isDelivered: boolean;
  /** When it is tried again; null for never. */
  readonly dueAt: number | null;
  readonly status: number | null;
  readonly error: string | null;
}

/** How far deliveries are behind. They are counted up to 10 000. */
export interface WebhookState {
  readonly pending: number;
  /** How long the delivery that is most overdue has waited, in milliseconds; 0 if none is. */
  readonly lagMillis: number;
}

/** The key of the store below. */
export const webhookStore = storeKey<WebhookStore>("webhooks");

/** Webhooks within one transaction. */
export interface WebhookStore {
  add(webhook: Webhook): Promise<void>;
  /** The webhooks of a caller, oldest first. */
  list(owner: WebhookOwner): Promise<readonly Webhook[]>;
  find(owner: WebhookOwner, id: string): Promise<Webhook | null>;
  /** Removes a webhook, which ends its deliveries; returns whether it was there. */
  remove(owner: WebhookOwner, id: string): Promise<boolean>;
  /** Up to `limit` webhooks, in the order of their ids, after an id. */
  walkSecrets(
    after: string | null,
    limit: number,
  ): Promise<readonly Pick<Webhook, "id" | "secret">[]>;
  /** Stores a secret as it is sealed now, unless it has changed. */
  setSecret(from: Pick<Webhook, "id" | "secret">, sealed: string): Promise<void>;
  /** Removes all webhooks of somebody in a tenant, or with null in every one. */
  removeOf(owner: { readonly principalId: string; readonly tenant: string | null }): Promise<void>;
  /**
   * Up to `limit` events of which no delivery waits any more, in the order of their ids, after an
   * id.
   */
  walkEnded(
    after: string | null,
    limit: number,
  ): Promise<readonly Pick<WebhookEvent, "id" | "payload">[]>;
  /** Removes events with their deliveries. */
  removeEvents(ids: readonly string[]): Promise<void>;
  /**
   * How many webhooks a caller has. Until the transaction ends, nobody else counts them, so that a
   * cap on them holds.
   */
  count(owner: WebhookOwner): Promise<number>;
  /**
   * The subscribers in a tenant to an event of any of these names, except inactive ones and former
   * members.
   */
  subscribers(tenant: string, events: readonly string[]): Promise<readonly WaitingWebhook[]>;
  /** Creates deliveries of an event to these webhooks. Returns their ids. */
  stage(event: WebhookEvent, ...to: readonly Pick<Webhook, "id">[]): Promise<readonly string[]>;
  /** Up to `limit` deliveries of a webhook, newest first: those before the delivery `before`. */
  deliveries(
    webhookId: string,
    before: string | undefined,
    limit: number,
  ): Promise<readonly WebhookDelivery[]>;
  /** Makes a delivery due again as if it had never been tried; returns whether it is there. */
  redeliver(webhookId: string, id: string, now: number): Promise<boolean>;
  hasDue(now: number): Promise<boolean>;
  /** Claims due deliveries of some webhooks; counts the attempt of each before it begins. */
  claim(window: ClaimWindow): Promise<Claim>;
  /**
   * Makes a claimed delivery due again at once, as if it had not been claimed. Nothing happens if a
   * later attempt has begun.
   */
  release(attempt: DeliveryAttempt, now: number): Promise<void>;
  /**
   * Stores the outcome of an attempt. Returns false, and changes nothing, if the delivery was made
   * before, or this is the failure of an attempt behind which another has begun or which was given
   * up.
   */
  settle(attempt: DeliveryAttempt, outcome: DeliveryOutcome): Promise<boolean>;
  /**
   * Removes deliveries and events older than `before`, up to `limit` of each; returns whether there
   * may be more.
   */
  prune(before: number, limit: number): Promise<boolean>;
  state(now: number): Promise<WebhookState>;
}
