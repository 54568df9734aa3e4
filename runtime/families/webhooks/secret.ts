// The secret of a webhook: `whsec_` and 32 bytes in base64, as Standard Webhooks writes it; it is
// stored sealed.
import type { ExecutionContext } from "../../operations/context.js";
import type { Sealer } from "../../operations/sealer.js";
import type { Transaction } from "../../ports/database.js";
import { webhookStore, type Webhook } from "../../ports/webhooks.js";
import { hourly } from "../../operations/family.js";
import type { PeriodicJob } from "../../work/periodic.js";
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

/** Webhooks whose secrets one batch looks at. */
const batchSize = 1_000;

/**
 * Seals secrets anew that a former secret of the service has sealed, so that it can be taken away:
 * a webhook lives longer than any secret should.
 */
export function renewSecrets(sealer: Sealer): readonly PeriodicJob[] {
  if (!sealer.hasFormer) return [];
  let after: string | null = null;
  const renew = async (transaction: Transaction): Promise<boolean> => {
    const store = transaction.of(webhookStore);
    const page = await store.walkSecrets(after, batchSize);
    for (const { id, secret } of page) {
      const renewed = sealer.renew(secret, id);
      if (renewed !== null) await store.setSecret({ id, secret }, renewed);
    }
    const isMore = page.length === batchSize;
    after = isMore ? (page.at(-1)?.id ?? null) : null;
    return isMore;
  };
  return [hourly("webhooks.secrets", renew)];
}
