// A destination that calls an HTTP webhook.
import { signedMessage } from "../../operations/standard-webhook.js";
import type { Destination } from "./spec.js";

const timeoutMillis = 10_000;

/** POSTs each event, signed. Any answer but 2xx, a redirect among them, is a failed attempt. */
export function webhook(url: string, secrets: readonly Buffer[]): Destination {
  return async ({ id, name, data, tenant, created_at: createdAt }) => {
    const { headers, body } = signedMessage({ id, name, tenant, createdAt, data }, secrets);
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMillis),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
  };
}
