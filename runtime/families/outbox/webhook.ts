// A destination that calls an HTTP webhook, signed as Standard Webhooks says (https://www.standardwebhooks.com, 1.0.0).
import { createHmac } from "node:crypto";
import type { Destination } from "./spec.js";

const timeoutMillis = 10_000;

/**
 * POSTs `{type, timestamp, tenant_id, data}`. `webhook-signature` has one HMAC-SHA-256 for each secret, so that secrets
 * rotate by overlap. Any answer but 2xx, a redirect among them, is a failed attempt.
 */
export function webhook(url: string, secrets: readonly Buffer[]): Destination {
  return async ({ id, name, data, tenant, created_at: createdAt }) => {
    const body = JSON.stringify({ type: name, timestamp: createdAt, tenant_id: tenant, data });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signatures = secrets.map((secret) => {
      const mac = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`);
      return `v1,${mac.digest("base64")}`;
    });
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signatures.join(" "),
      },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMillis),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
  };
}
