// A destination that calls an HTTP webhook.
import { post } from "../../operations/outgoing-call.js";
import { signedMessage } from "../../operations/standard-webhook.js";
import type { Destination } from "./spec.js";

/** POSTs each event, signed. Any answer but 2xx, a redirect among them, is a failed attempt. */
export function webhook(url: string, secrets: readonly Buffer[]): Destination {
  return async (
    { id, name, data, tenant, created_at: createdAt },
    { signal, clock, trace, metadata },
  ) => {
    const message = signedMessage({ id, name, tenant, createdAt, data }, secrets);
    const status = await post({
      url,
      ...message,
      clock,
      signal,
      trace,
      traceparent: metadata.traceparent,
    });
    if (status < 200 || status > 299) throw new Error(`the webhook answered ${status}`);
  };
}
