// Events come in once each, and are counted by the charges of their subscription's plan.
import { collection, ServiceError, type ExecutionContext } from "opwright/runtime";
import { billableMetricsSpec } from "../generated/documents/billable_metrics.js";
import { chargesSpec } from "../generated/documents/charges.js";
import { enrichedEventsSpec } from "../generated/documents/enriched_events.js";
import { eventsSpec } from "../generated/documents/events.js";
import { subscriptionsSpec } from "../generated/documents/subscriptions.js";
import { fail } from "../generated/errors.js";
import type { EventsIngestHandler } from "../generated/types/events.js";
import type { SubscriptionsUsageHandler } from "../generated/types/subscriptions.js";

export const ingestEvent: EventsIngestHandler = async (given, context) => {
  const { transaction_id, external_subscription_id, code } = given;
  const events = collection(eventsSpec, context);
  const subscription = await collection(subscriptionsSpec, context).first({
    filters: { $values: { external_id: external_subscription_id, status: "active" } },
  });
  if (subscription === null) throw fail("subscription_unknown");
  const metric = await collection(billableMetricsSpec, context).first({
    filters: { $values: { code } },
  });
  if (metric === null) throw fail("metric_unknown");
  const timestamp = given.timestamp ?? new Date(context.clock.now()).toISOString();
  const properties = given.properties ?? {};
  try {
    const { id } = await events.create({
      transaction_id,
      external_subscription_id,
      code,
      timestamp,
      properties,
      precise_total_amount_cents: given.precise_total_amount_cents ?? null,
      customer: subscription.customer,
      subscription: subscription.id,
    });
    const value = metric.field_name === null ? null : (properties[metric.field_name] ?? null);
    const charges = await collection(chargesSpec, context).find({
      filters: { $values: { plan: subscription.plan, billable_metric: metric.id } },
      size: 100,
    });
    await collection(enrichedEventsSpec, context).createMany(
      charges.map((charge) => ({
        event: id,
        transaction_id,
        external_subscription_id,
        code,
        timestamp,
        subscription: subscription.id,
        plan: subscription.plan,
        charge: charge.id,
        value: value === null ? null : String(value),
        decimal_value: metric.aggregation_type === "count_agg" ? 1 : decimalOf(value),
      })),
    );
    return { event: id, is_new: true };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "unique_violation") throw error;
    const there = await events.first({
      filters: { $values: { external_subscription_id, transaction_id } },
    });
    if (there === null) throw error;
    return { event: there.id, is_new: false };
  }
};

function decimalOf(value: unknown): number {
  const number = Math.round(Number(value) * 10_000) / 10_000;
  return Number.isFinite(number) ? number : 0;
}

/** The units and events of each charge of a subscription, within a period where one is given. */
export async function unitsByCharge(
  context: ExecutionContext,
  subscription: string,
  period?: { readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, { readonly units: number; readonly events: number }>> {
  const { hits } = await collection(enrichedEventsSpec, context).aggregate({
    aggregates: {
      $groups: { charge: "charge" },
      $computed: { units: { $sum: "decimal_value" }, events: { $count: {} } },
    },
    filters: {
      $values: {
        subscription,
        ...(period === undefined ? {} : { timestamp: { $gte: period.from, $lt: period.to } }),
      },
    },
    size: 1000,
  });
  return new Map(
    hits.map(({ charge, units, events }) => [
      String(charge),
      { units: Number(units ?? 0), events: Number(events) },
    ]),
  );
}

export const countUsage: SubscriptionsUsageHandler = async ({ id }, context) => {
  const { plan } = await collection(subscriptionsSpec, context).get(id);
  const charges = await collection(chargesSpec, context).find({
    filters: { $values: { plan } },
    sorts: { code: "asc" },
    size: 1000,
  });
  const units = await unitsByCharge(context, id);
  return {
    used: charges.map((charge) => ({
      code: charge.code,
      units: 0,
      events: 0,
      ...units.get(charge.id),
    })),
  };
};
