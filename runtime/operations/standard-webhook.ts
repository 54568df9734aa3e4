// A message to a webhook, signed as Standard Webhooks says (https://www.standardwebhooks.com,
// 1.0.0).
import { createHmac } from "node:crypto";
import { epochMillis } from "../ports/ambient.js";

/** A message to a webhook. */
export interface WebhookMessage {
  /** The same at every attempt, so that consumers can drop ids that they have seen. */
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly data: unknown;
}

/**
 * The body `{type, timestamp, tenant_id, data}` and its headers. `webhook-signature` has one
 * HMAC-SHA-256 for each secret, so that secrets rotate by overlap.
 */
export function signedMessage(
  { id, name, tenant, createdAt, data }: WebhookMessage,
  secrets: readonly Buffer[],
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const body = JSON.stringify({ type: name, timestamp: createdAt, tenant_id: tenant, data });
  const timestamp = String(Math.floor(epochMillis() / 1000));
  const signatures = secrets.map((secret) => {
    const mac = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`);
    return `v1,${mac.digest("base64")}`;
  });
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
  return { headers, body };
}
