// How long a prescription is good, and what of it has been dispensed.
import { collection, type ExecutionContext } from "opwright/runtime";
import { prescriptionItemsSpec } from "../generated/documents/prescription_items.js";
import { prescriptionsSpec } from "../generated/documents/prescriptions.js";
import { fail } from "../generated/errors.js";
import type { PrescriptionsCancelHandler } from "../generated/types/prescriptions.js";

const day = 24 * 60 * 60 * 1000;
export const dateOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

export const validUntil = ({
  issued_on,
  valid_days,
}: {
  readonly issued_on: string;
  readonly valid_days: number;
}): string => dateOf(Date.parse(issued_on) + valid_days * day);

/** Dispenses so much of a drug, or refuses: it was prescribed, and is not dispensed yet. */
export async function dispense(
  id: string | null,
  { drug, quantity }: { readonly drug: string; readonly quantity: number },
  context: ExecutionContext,
): Promise<void> {
  if (id === null) throw fail("prescription_needed", { drug });
  const { status, valid_until } = await collection(prescriptionsSpec, context).get(id, {
    lock: true,
  });
  const items = collection(prescriptionItemsSpec, context);
  const item = await items.first({ filters: { $values: { prescription: id, drug } } });
  const isGood = status === "open" && valid_until >= dateOf(context.clock.now());
  if (!isGood || item === null || item.quantity - item.dispensed < quantity)
    throw fail("prescription_needed", { drug });
  await items.update(item.id, "any", { dispensed: item.dispensed + quantity });
}

/** What is dispensed to the last pack is done. */
export async function finish(id: string, context: ExecutionContext): Promise<void> {
  const items = collection(prescriptionItemsSpec, context);
  const rest = {
    $values: { prescription: id },
    $fields: { dispensed: { $lt: "quantity" as const } },
  };
  if (await items.exists({ filters: rest })) return;
  await collection(prescriptionsSpec, context).update(id, "any", { status: "dispensed" });
}

export const cancel: PrescriptionsCancelHandler = async ({ id }, context) => {
  await collection(prescriptionsSpec, context).update(id, "any", { status: "cancelled" });
};
