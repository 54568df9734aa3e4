// Periods become invoices, and invoices get their numbers.
import { collection, fail as refuse, ServiceError, type ExecutionContext } from "opwright/runtime";
import { addOnsSpec } from "../generated/documents/add_ons.js";
import { chargesSpec } from "../generated/documents/charges.js";
import { customersSpec } from "../generated/documents/customers.js";
import { feesSpec } from "../generated/documents/fees.js";
import { invoiceNumbersSpec } from "../generated/documents/invoice_numbers.js";
import { invoiceSubscriptionsSpec } from "../generated/documents/invoice_subscriptions.js";
import { invoicesSpec } from "../generated/documents/invoices.js";
import { plansSpec } from "../generated/documents/plans.js";
import { subscriptionsSpec } from "../generated/documents/subscriptions.js";
import { fail } from "../generated/errors.js";
import { enqueue, type BillingNightlyJob, type BillingPeriodJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import type { BillingRunHandler } from "../generated/types/billing.js";
import type {
  InvoicesAddFeeHandler,
  InvoicesFinalizeHandler,
  InvoicesVoidHandler,
} from "../generated/types/invoices.js";
import type { Pricing } from "../generated/types/models.js";
import type { SubscriptionsBillHandler } from "../generated/types/subscriptions.js";
import { spendCoupons } from "./credits.js";
import { nowOf } from "./subscriptions.js";
import { unitsByCharge } from "./usage.js";

interface Period {
  readonly from: string;
  readonly to: string;
}

export const billSubscription: SubscriptionsBillHandler = ({ id, from, to }, context) =>
  billPeriod(context, id, { from, to });

/** One period is billed once: invoice_subscriptions of a subscription don't overlap. */
async function billPeriod(context: ExecutionContext, id: string, { from, to }: Period) {
  if (from >= to) throw refuse("core.domain", { reason: "the period is empty" });
  const subscription = await collection(subscriptionsSpec, context).get(id);
  const customer = await collection(customersSpec, context).get(subscription.customer);
  const plan = await collection(plansSpec, context).get(subscription.plan);
  const invoices = collection(invoicesSpec, context);
  const invoice = await invoices.create({
    customer: customer.id,
    billing_entity: subscription.billing_entity ?? customer.billing_entity,
    invoice_type: "subscription",
    currency: plan.amount_currency,
  });
  await collection(invoiceSubscriptionsSpec, context).create({
    invoice: invoice.id,
    subscription: id,
    invoicing_reason: "subscription_periodic",
    recurring: true,
    timestamp: to,
    from_datetime: from,
    to_datetime: to,
    charges_from_datetime: from,
    charges_to_datetime: to,
  });
  const common = {
    invoice: invoice.id,
    billing_entity: invoice.billing_entity,
    subscription: id,
    amount_currency: plan.amount_currency,
  };
  const charges = await collection(chargesSpec, context).find({
    filters: { $values: { plan: plan.id, invoiceable: true } },
    size: 1000,
  });
  const used = await unitsByCharge(context, id, { from, to });
  const amount = plan.amount_cents ?? 0;
  await collection(feesSpec, context).createMany([
    {
      ...common,
      fee_type: "subscription",
      amount_cents: amount,
      unit_amount_cents: amount,
      units: 1,
    },
    ...charges.map((charge) => {
      const { units = 0, events = 0 } = used.get(charge.id) ?? {};
      return {
        ...common,
        fee_type: "charge" as const,
        charge: charge.id,
        units,
        events_count: events,
        amount_cents: Math.max(priceOf(charge.properties, units), charge.min_amount_cents),
      };
    }),
  ]);
  return { invoice: invoice.id, total_amount_cents: await addUp(context, invoice.id) };
}

/** In cents. Prices are texts, because they have more places than a decimal. */
function priceOf(pricing: Pricing, units: number): number {
  const cents = (text: string): number => Number(text) * 100;
  switch (pricing.model) {
    case "standard":
      return Math.round(cents(pricing.amount) * units);
    case "package": {
      const packages = Math.ceil(Math.max(0, units - pricing.free_units) / pricing.package_size);
      return Math.round(cents(pricing.amount) * packages);
    }
    case "percentage":
      return Math.round(Number(pricing.rate) * units + cents(pricing.fixed_amount ?? "0"));
    case "graduated":
      return Math.round(
        pricing.graduated_ranges.reduce((sum, range) => {
          const inRange =
            Math.min(units, range.to_value ?? units) - Math.max(range.from_value - 1, 0);
          if (inRange <= 0) return sum;
          return sum + inRange * cents(range.per_unit_amount) + cents(range.flat_amount);
        }, 0),
      );
    case "volume": {
      const range = pricing.volume_ranges.find(({ to_value: to }) => units <= (to ?? units));
      if (range === undefined || units === 0) return 0;
      return Math.round(units * cents(range.per_unit_amount) + cents(range.flat_amount));
    }
    default:
      return 0;
  }
}

/** The sums of an invoice follow its fees. */
async function addUp(context: ExecutionContext, id: string): Promise<number> {
  const { hits } = await collection(feesSpec, context).aggregate({
    aggregates: {
      $computed: { fees: { $sum: "amount_cents" }, taxes: { $sum: "taxes_amount_cents" } },
    },
    filters: { $values: { invoice: id } },
  });
  const [sums] = hits;
  const [fees, taxes] = [Number(sums?.fees ?? 0), Number(sums?.taxes ?? 0)];
  const invoices = collection(invoicesSpec, context);
  const { coupons_amount_cents: coupons } = await invoices.get(id);
  const total = fees - coupons + taxes;
  await invoices.update(id, "any", {
    fees_amount_cents: fees,
    taxes_amount_cents: taxes,
    sub_total_excluding_taxes_amount_cents: fees - coupons,
    sub_total_including_taxes_amount_cents: total,
    total_amount_cents: total,
  });
  return total;
}

export const addFee: InvoicesAddFeeHandler = async ({ id, add_on, units }, context) => {
  const invoice = await collection(invoicesSpec, context).get(id, { lock: true });
  const { amount_cents: price } = await collection(addOnsSpec, context).get(add_on);
  const fee = await collection(feesSpec, context).create({
    invoice: id,
    billing_entity: invoice.billing_entity,
    fee_type: "add_on",
    add_on,
    units,
    unit_amount_cents: price,
    amount_cents: Math.round(price * units),
    amount_currency: invoice.currency,
  });
  return { fee: fee.id, total_amount_cents: await addUp(context, id) };
};

export const finalizeInvoice: InvoicesFinalizeHandler = async ({ id }, context) => {
  const invoices = collection(invoicesSpec, context);
  const draft = await invoices.get(id, { lock: true });
  const { status } = draft;
  // To stay finalized is no move between states, so they don't refuse it.
  if (status === "finalized" || status === "voided") throw fail("no_draft", { status });
  const customer = await collection(customersSpec, context).get(draft.customer);
  const coupons = await spendCoupons(context, draft);
  const now = nowOf(context);
  await invoices.update(id, "any", {
    status: "finalized",
    finalized_at: now,
    issuing_date: draft.issuing_date ?? now.slice(0, 10),
    coupons_amount_cents: coupons,
  });
  const total = await addUp(context, id);
  const given = await collection(invoiceNumbersSpec, context).create({
    invoice: id,
    customer: customer.id,
  });
  const number = `${customer.slug}-${String(given.sequence).padStart(3, "0")}`;
  const { sequence: sequential_id } = given;
  await invoices.update(id, "any", { number, sequential_id });
  await stageEvent(context, "invoices.finalized", {
    invoice: id,
    number,
    customer: customer.id,
    total_amount_cents: total,
  });
  return { number, sequential_id, total_amount_cents: total, coupons_amount_cents: coupons };
};

export const voidInvoice: InvoicesVoidHandler = async ({ id }, context) => {
  const { status, number } = await collection(invoicesSpec, context).update(id, "any", {
    status: "voided",
    voided_at: nowOf(context),
  });
  await stageEvent(context, "invoices.voided", { invoice: id, number: number ?? "" });
  return { status };
};

/** Has each subscription billed that was active in a period; returns how many those are. */
async function enqueuePeriod(context: ExecutionContext, { from, to }: Period): Promise<number> {
  const subscriptions = collection(subscriptionsSpec, context);
  const filters = { $values: { status: "active" as const, started_at: { $lt: to } } };
  let count = 0;
  for (let after: string | null = ""; after !== null;) {
    const page = await subscriptions.cursor({
      filters,
      size: 500,
      ...(after === "" ? {} : { after }),
    });
    for (const { id } of page.hits)
      await enqueue(context, "billing.period", { subscription: id, from, to });
    count += page.hits.length;
    after = page.next_cursor;
  }
  return count;
}

export const billEverybody: BillingRunHandler = async (given, context) => ({
  subscriptions: await enqueuePeriod(context, given),
});

export const billOnce: BillingPeriodJob = async ({ subscription, from, to }, _context, run) => {
  try {
    await run.commit("bill", async (context) => {
      await billPeriod(context, subscription, { from, to });
    });
  } catch (error) {
    // It has been billed already.
    if (!(error instanceof ServiceError) || error.code !== "overlap_violation") throw error;
  }
};

/** On the first day of a month, bills the month before. */
export const billMonth: BillingNightlyJob = async (_input, context, { plannedAt, commit }) => {
  const to = new Date(plannedAt);
  if (to.getUTCDate() !== 1) return;
  to.setUTCHours(0, 0, 0, 0);
  const from = new Date(to);
  from.setUTCMonth(from.getUTCMonth() - 1);
  const month = { from: from.toISOString(), to: to.toISOString() };
  context.log.info(month, "a month is billed");
  await commit("enqueue", (within) => enqueuePeriod(within, month));
};
