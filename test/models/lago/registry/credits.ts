// Coupons take something off invoices; credit notes give something back.
import { collection, type ExecutionContext } from "opwright/runtime";
import { appliedCouponsSpec } from "../generated/documents/applied_coupons.js";
import { couponsSpec } from "../generated/documents/coupons.js";
import { creditNoteItemsSpec } from "../generated/documents/credit_note_items.js";
import { creditNotesSpec } from "../generated/documents/credit_notes.js";
import { creditsSpec } from "../generated/documents/credits.js";
import { feesSpec } from "../generated/documents/fees.js";
import { invoicesSpec } from "../generated/documents/invoices.js";
import { fail } from "../generated/errors.js";
import type { CouponsApplyHandler } from "../generated/types/coupons.js";
import type {
  CreditNotesIssueHandler,
  CreditNotesVoidHandler,
} from "../generated/types/credit_notes.js";
import type { InvoicesDocument } from "../generated/types/models.js";
import { nowOf } from "./subscriptions.js";

export const applyCoupon: CouponsApplyHandler = async ({ id, customer }, context) => {
  const coupon = await collection(couponsSpec, context).get(id);
  const now = nowOf(context);
  if (coupon.status !== "active") throw fail("coupon_not_applicable", { reason: "terminated" });
  if (coupon.expiration_at !== null && coupon.expiration_at <= now)
    throw fail("coupon_not_applicable", { reason: "expired" });
  const applied = await collection(appliedCouponsSpec, context).create({
    coupon: id,
    customer,
    amount_cents: coupon.amount_cents,
    amount_currency: coupon.amount_currency,
    percentage_rate: coupon.percentage_rate,
    frequency: coupon.frequency,
    frequency_duration: coupon.frequency_duration,
    frequency_duration_remaining: coupon.frequency === "once" ? 1 : coupon.frequency_duration,
    reusable: coupon.reusable,
  });
  return { applied_coupon: applied.id };
};

/** What a customer's coupons take off an invoice. One that has been used up is not there. */
export async function spendCoupons(
  context: ExecutionContext,
  invoice: InvoicesDocument,
): Promise<number> {
  const coupons = collection(appliedCouponsSpec, context);
  const found = await coupons.find({
    filters: { $values: { customer: invoice.customer, status: "active" } },
    sorts: { created_at: "asc" },
    size: 100,
  });
  let left = invoice.fees_amount_cents;
  for (const { id } of found) {
    const applied = await coupons.get(id, { lock: true });
    const { frequency_duration_remaining: remaining, percentage_rate: rate } = applied;
    if (applied.status !== "active" || left === 0) continue;
    const worth =
      rate === null
        ? (applied.amount_cents ?? 0)
        : Math.round((invoice.fees_amount_cents * rate) / 100);
    const amount_cents = Math.min(left, worth);
    left -= amount_cents;
    await collection(creditsSpec, context).create({
      invoice: invoice.id,
      applied_coupon: id,
      amount_cents,
      amount_currency: invoice.currency,
      before_taxes: true,
    });
    if (remaining === null) continue;
    const isLast = remaining === 1;
    await coupons.update(id, applied.rev, {
      frequency_duration_remaining: remaining - 1,
      ...(isLast ? { status: "terminated", terminated_at: nowOf(context) } : {}),
    });
  }
  return invoice.fees_amount_cents - left;
}

export const issueCreditNote: CreditNotesIssueHandler = async (
  { invoice: id, reason, items },
  context,
) => {
  // Whoever else credits this invoice waits here, so what is left stays what it is.
  const invoice = await collection(invoicesSpec, context).get(id, { lock: true });
  const fees = collection(feesSpec, context);
  const credited = collection(creditNoteItemsSpec, context);
  const wanted = new Map<string, number>();
  for (const { fee, amount_cents } of items) wanted.set(fee, (wanted.get(fee) ?? 0) + amount_cents);
  for (const [feeId, amount] of wanted) {
    const fee = await fees.get(feeId);
    if (fee.invoice !== id) throw fail("nothing_left", { fee: feeId, left_cents: 0 });
    const { hits } = await credited.aggregate({
      aggregates: { $computed: { sum: { $sum: "amount_cents" } } },
      filters: { $values: { fee: feeId } },
    });
    const left_cents = fee.amount_cents - Number(hits[0]?.sum ?? 0);
    if (amount > left_cents) throw fail("nothing_left", { fee: feeId, left_cents });
  }
  const total = items.reduce((sum, { amount_cents }) => sum + amount_cents, 0);
  const notes = collection(creditNotesSpec, context);
  const note = await notes.create({
    customer: invoice.customer,
    invoice: id,
    reason,
    issuing_date: nowOf(context).slice(0, 10),
    total_amount_cents: total,
    total_amount_currency: invoice.currency,
    credit_amount_cents: total,
    credit_amount_currency: invoice.currency,
    balance_amount_cents: total,
    balance_amount_currency: invoice.currency,
    credit_status: "available",
  });
  await credited.createMany(
    items.map(({ fee, amount_cents }) => ({
      credit_note: note.id,
      fee,
      amount_cents,
      precise_amount_cents: String(amount_cents),
      amount_currency: invoice.currency,
    })),
  );
  const number = `${invoice.number ?? "DRAFT"}-CN${String(note.sequential_id).padStart(3, "0")}`;
  await notes.update(note.id, note.rev, { number });
  return { credit_note: note.id, number, total_amount_cents: total };
};

export const voidCreditNote: CreditNotesVoidHandler = async ({ id }, context) => {
  const { credit_status } = await collection(creditNotesSpec, context).update(id, "any", {
    credit_status: "voided",
    balance_amount_cents: 0,
    voided_at: nowOf(context),
  });
  return { credit_status: credit_status ?? "" };
};
