// The samples of what is quoted, ordered and priced by rate cards.
import type { Sample } from "./samples.js";

const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;

export const salesSamples: readonly Sample[] = [
  {
    name: "quotes",
    body: (i) => ({ customer: i["customers"], order_type: "one_off" }),
    patch: { order_type: "subscription_creation" },
  },
  {
    name: "quote_versions",
    body: (i) => ({ quote: i["quotes"], currency: "USD" }),
    patch: { status: "approved", approved_at: day(5) },
  },
  {
    name: "order_forms",
    body: (i) => ({ customer: i["customers"], quote_version: i["quote_versions"] }),
    patch: { status: "signed", signed_at: day(6) },
  },
  {
    name: "orders",
    body: (i) => ({ customer: i["customers"], order_form: i["order_forms"] }),
    patch: { status: "executed", executed_at: day(7) },
  },
  {
    name: "product_categories",
    body: () => ({ code: "api", name: "API" }),
    patch: { description: "All" },
  },
  {
    name: "products",
    body: (i) => ({
      product_category: i["product_categories"],
      billable_metric: i["billable_metrics"],
      product_type: "usage",
      code: "calls",
      name: "Calls",
    }),
    patch: { description: "Calls of the API" },
  },
  {
    name: "product_filters",
    body: (i) => ({ product: i["products"], name: "Europe", code: "eu" }),
    patch: { description: "Within it" },
  },
  {
    name: "product_filter_values",
    body: (i) => ({
      product_filter: i["product_filters"],
      billable_metric_filter: i["billable_metric_filters"],
    }),
    patch: { value: "eu" },
  },
  {
    name: "rate_cards",
    body: (i) => ({ product: i["products"], code: "calls", name: "Calls", currency: "USD" }),
    patch: { billing_timing: "advance" },
  },
  {
    name: "rate_card_rates",
    body: (i) => ({
      rate_card: i["rate_cards"],
      code: "v1",
      effective_from: day(1),
      rate_properties: { model: "package", amount: "1", free_units: 0, package_size: 100 },
      billing_interval_unit: "month",
    }),
    patch: { min_amount_cents: 100 },
  },
  {
    name: "rate_overrides",
    body: () => ({ rate_properties: { model: "dynamic", pricing_group_keys: [] } }),
    patch: { min_amount_cents: 1 },
  },
  {
    name: "plan_rate_cards",
    body: (i) => ({ plan: i["plans"], rate_card: i["rate_cards"] }),
    patch: { units: 2 },
  },
  {
    name: "rate_phases",
    body: (i) => ({
      plan_rate_card: i["plan_rate_cards"],
      rate_override: i["rate_overrides"],
      code: "first",
      position: 0,
    }),
    patch: { billing_interval_cycle_count: 3 },
  },
  {
    name: "contracts",
    body: (i) => ({ customer: i["customers"], plan: i["plans"], external_id: "k-1" }),
    patch: { status: "active", started_at: day(1) },
  },
  {
    name: "contract_rate_cards",
    body: (i) => ({
      contract: i["contracts"],
      rate_card: i["rate_cards"],
      billing_anchor_date: "2026-01-01",
      next_billing_at: day(2),
      effective_date: "2026-01-01",
    }),
    patch: { ended_date: "2026-02-01" },
  },
  {
    name: "subscription_rate_cards",
    body: (i) => ({
      subscription: i["subscriptions"],
      rate_card: i["rate_cards"],
      billing_anchor_date: "2026-01-01",
      next_billing_at: day(2),
      started_at: day(1),
    }),
    patch: { ended_at: day(9) },
  },
];
