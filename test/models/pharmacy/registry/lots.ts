// Lots that expire within a month are told of once, while there are any left of them.
import { collection } from "opwright/runtime";
import { drugLotsSpec } from "../generated/documents/drug_lots.js";
import { inventorySpec } from "../generated/documents/inventory.js";
import type { LotsWarnJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import { dateOf } from "./prescriptions.js";

const month = 30 * 24 * 60 * 60 * 1000;

export const warn: LotsWarnJob = async (_input, context, { commit }) => {
  const now = context.clock.now();
  const lots = await collection(drugLotsSpec, context).find({
    filters: {
      $values: { warned_at: null, expire_date: { $lte: dateOf(now + month) } },
      $exists: { "inventory.drug_lot": { $values: { quantity: { $gt: 0 } } } },
    },
  });
  for (const { id: lot, drug, expire_date } of lots)
    await commit(lot, async (context) => {
      const filters = { $values: { drug_lot: lot } };
      const stocks = await collection(inventorySpec, context).find({ filters });
      const quantity = stocks.reduce((sum, { quantity }) => sum + quantity, 0);
      await stageEvent(context, "lots.expiring", { lot, drug, expire_date, quantity });
      const warned_at = new Date(now).toISOString();
      await collection(drugLotsSpec, context).update(lot, "any", { warned_at });
    });
};
