// The secret of a webhook: `whsec_` and 32 bytes in base64, as Standard Webhooks writes it; it is
// stored sealed.
import type { ExecutionContext } from "../../operations/context.js";
import type { Sealer } from "../../operations/sealer.js";
import type { Webhook } from "../../ports/webhooks.js";
import { drawBytes } from "../../ports/ambient.js";

/** A new secret: as its owner sees it, and as it is stored. */
export function newSecret(
  { resources }: ExecutionContext,
  webhookId: string,
): { readonly secret: string; readonly sealed: string } {
  const bytes = drawBytes(32).toString("base64");
  return { secret: `whsec_${bytes}`, sealed: resources.sealer.seal(bytes, webhookId) };
}

/** The bytes that sign. */
export function secretOf(sealer: Sealer, { id, secret }: Pick<Webhook, "id" | "secret">): Buffer {
  return Buffer.from(sealer.open(secret, id), "base64");
}
