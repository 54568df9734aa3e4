// One document of each kind, in the order of their references, with a change that fits it.

export type Ids = Readonly<Record<string, string>>;

export interface Sample {
  readonly name: string;
  readonly body: (ids: Ids) => Readonly<Record<string, unknown>>;
  /** Nothing may be changed where there is none. */
  readonly patch: Readonly<Record<string, unknown>>;
  /** What still refers to it in the end, so that it stays. */
  readonly keptBy?: string;
}

const usd = { amount_currency: "USD" };
const standard = { model: "standard", amount: "0.05", pricing_group_keys: [] };

const settings: readonly Sample[] = [
  {
    name: "organizations",
    body: () => ({ name: "Acme", slug: `acme-${Math.random().toString(36).slice(2)}` }),
    patch: { invoice_grace_period: 3 },
  },
  {
    name: "taxes",
    body: () => ({ name: "VAT", code: "vat", rate: 20.25 }),
    patch: { description: "Value added" },
  },
  {
    name: "invoice_custom_sections",
    body: () => ({ name: "Notes", code: "notes", details: "Thanks" }),
    patch: { display_name: "Note" },
  },
  {
    name: "dunning_campaigns",
    body: () => ({ name: "Remind", code: "remind", applied_to_organization: true }),
    patch: { max_attempts: 4 },
  },
  {
    name: "dunning_campaign_thresholds",
    body: (i) => ({ dunning_campaign: i["dunning_campaigns"], currency: "USD", amount_cents: 100 }),
    patch: { amount_cents: 200 },
  },
  {
    name: "billing_entities",
    body: (i) => ({
      name: "Acme Inc.",
      code: "acme",
      applied_dunning_campaign: i["dunning_campaigns"],
      taxes: [i["taxes"]],
      invoice_custom_sections: [i["invoice_custom_sections"]],
    }),
    patch: { net_payment_term: 30, payment_term: { days: 30, kind: "net" } },
    keptBy: "customers",
  },
  {
    name: "inbound_webhooks",
    body: () => ({ source: "stripe", event_type: "charge.succeeded", payload: { id: "ch_1" } }),
    patch: { status: "processing" },
  },
  { name: "ai_conversations", body: () => ({ name: "How much?" }), patch: { name: "Revenue" } },
  {
    name: "data_exports",
    body: () => ({ resource_type: "invoices" }),
    patch: { resource_query: { currency: "USD" } },
  },
  {
    name: "data_export_parts",
    body: (i) => ({ data_export: i["data_exports"], index: 0, object_ids: [i["taxes"]] }),
    patch: { completed: true, csv_lines: "a,b" },
  },
];

const catalog: readonly Sample[] = [
  {
    name: "billable_metrics",
    body: () => ({ name: "Calls", code: "calls", aggregation_type: "sum_agg", field_name: "n" }),
    patch: { rounding_function: "ceil", rounding_precision: 2 },
    keptBy: "charges",
  },
  {
    name: "billable_metric_filters",
    body: (i) => ({ billable_metric: i["billable_metrics"], key: "region", values: ["eu", "us"] }),
    patch: { values: ["eu"] },
  },
  {
    name: "groups",
    body: (i) => ({ billable_metric: i["billable_metrics"], key: "region", value: "eu" }),
    patch: { value: "us" },
  },
  {
    name: "add_ons",
    body: (i) => ({
      name: "Setup",
      code: "setup",
      amount_cents: 5000,
      ...usd,
      taxes: [i["taxes"]],
    }),
    patch: { description: "Once" },
  },
  {
    name: "plans",
    body: (i) => ({
      name: "Pro",
      code: "pro",
      interval: "monthly",
      amount_cents: 4900,
      ...usd,
      pay_in_advance: true,
      taxes: [i["taxes"]],
    }),
    patch: { trial_period: 14, bill_charges_monthly: true },
    keptBy: "enriched_events",
  },
  {
    name: "charges",
    body: (i) => ({
      plan: i["plans"],
      billable_metric: i["billable_metrics"],
      code: "calls",
      properties: standard,
    }),
    patch: { properties: { ...standard, amount: "0.06" }, min_amount_cents: 100 },
    keptBy: "enriched_events",
  },
  {
    name: "group_properties",
    body: (i) => ({ charge: i["charges"], group: i["groups"], values: { amount: "1" } }),
    patch: { invoice_display_name: "Europe" },
  },
  {
    name: "charge_filters",
    body: (i) => ({ charge: i["charges"], code: "eu", properties: standard }),
    patch: { invoice_display_name: "Europe" },
  },
  {
    name: "charge_filter_values",
    body: (i) => ({
      charge_filter: i["charge_filters"],
      billable_metric_filter: i["billable_metric_filters"],
      values: ["eu"],
    }),
    patch: { values: ["eu", "us"] },
  },
  {
    name: "fixed_charges",
    body: (i) => ({
      plan: i["plans"],
      add_on: i["add_ons"],
      code: "seats",
      units: 5,
      properties: standard,
    }),
    patch: { prorated: true, units: 7.5 },
  },
  {
    name: "commitments",
    body: (i) => ({ plan: i["plans"], amount_cents: 10_000, taxes: [i["taxes"]] }),
    patch: { amount_cents: 20_000 },
  },
  {
    name: "pricing_units",
    body: () => ({ name: "Tokens", code: "tok", short_name: "TK" }),
    patch: { name: "Token" },
  },
  {
    name: "applied_pricing_units",
    body: (i) => ({
      pricing_unit: i["pricing_units"],
      charge: i["charges"],
      conversion_rate: "0.000123456789012",
    }),
    patch: { conversion_rate: "1.5" },
  },
  {
    name: "entitlement_features",
    body: () => ({ code: "seats", name: "Seats" }),
    patch: { description: "People" },
  },
  {
    name: "entitlement_privileges",
    body: (i) => ({ feature: i["entitlement_features"], code: "max", value_type: "integer" }),
    patch: { name: "At most" },
  },
  {
    name: "entitlement_entitlements",
    body: (i) => ({ feature: i["entitlement_features"], plan: i["plans"] }),
    patch: {},
  },
  {
    name: "entitlement_entitlement_values",
    body: (i) => ({
      privilege: i["entitlement_privileges"],
      entitlement: i["entitlement_entitlements"],
      value: "10",
    }),
    patch: { value: "20" },
  },
  {
    name: "coupons",
    body: () => ({
      name: "Ten off",
      code: "ten",
      coupon_type: "percentage",
      percentage_rate: 10.5,
      frequency: "forever",
      expiration: "no_expiration",
    }),
    patch: { description: "For friends" },
    keptBy: "applied_coupons",
  },
  { name: "coupon_targets", body: (i) => ({ coupon: i["coupons"], plan: i["plans"] }), patch: {} },
];

const customers: readonly Sample[] = [
  {
    name: "customers",
    body: (i) => ({
      external_id: "c-1",
      name: "Ann",
      email: "ann@example.test",
      currency: "USD",
      billing_entity: i["billing_entities"],
      taxes: [i["taxes"]],
    }),
    patch: { city: "Berlin", country: "DE" },
    keptBy: "applied_coupons",
  },
  {
    name: "customer_metadata",
    body: (i) => ({ customer: i["customers"], key: "tier", value: "gold" }),
    patch: { display_in_invoice: true },
  },
  {
    name: "customers_invoice_custom_sections",
    body: (i) => ({
      billing_entity: i["billing_entities"],
      customer: i["customers"],
      invoice_custom_section: i["invoice_custom_sections"],
    }),
    patch: {},
  },
  {
    name: "pending_vies_checks",
    body: (i) => ({ billing_entity: i["billing_entities"], customer: i["customers"] }),
    patch: { attempts_count: 1, last_error_type: "timeout" },
  },
  {
    name: "applied_add_ons",
    body: (i) => ({ add_on: i["add_ons"], customer: i["customers"], amount_cents: 1, ...usd }),
    patch: { amount_cents: 2 },
  },
  {
    name: "payment_providers",
    body: () => ({ name: "Stripe", code: "stripe", type: "stripe" }),
    patch: { settings: { success_redirect_url: "https://example.test" } },
  },
  {
    name: "payment_provider_customers",
    body: (i) => ({
      customer: i["customers"],
      payment_provider: i["payment_providers"],
      type: "stripe",
      is_default: true,
    }),
    patch: { provider_customer_id: "cus_1" },
  },
  {
    name: "payment_methods",
    body: (i) => ({
      customer: i["customers"],
      payment_provider: i["payment_providers"],
      payment_provider_customer: i["payment_provider_customers"],
      provider_method_id: "pm_1",
      details: { last4: "4242" },
    }),
    patch: { is_default: true },
  },
  {
    name: "subscriptions",
    body: (i) => ({
      customer: i["customers"],
      plan: i["plans"],
      external_id: "s-1",
      billing_time: "anniversary",
      payment_method: i["payment_methods"],
    }),
    patch: { name: "Main", purchase_order_number: "PO-1" },
    keptBy: "enriched_events",
  },
  {
    name: "subscription_activation_rules",
    body: (i) => ({ subscription: i["subscriptions"], type: "payment", timeout_hours: 24 }),
    patch: { status: "pending" },
  },
  {
    name: "subscription_fixed_charge_units_overrides",
    body: (i) => ({ subscription: i["subscriptions"], fixed_charge: i["fixed_charges"], units: 3 }),
    patch: { units: 4 },
  },
  {
    name: "entitlement_subscription_feature_removals",
    body: (i) => ({ subscription: i["subscriptions"], feature: i["entitlement_features"] }),
    patch: {},
  },
  {
    name: "usage_thresholds",
    body: (i) => ({ plan: i["plans"], amount_cents: 1000 }),
    patch: { recurring: true },
  },
  {
    name: "lifetime_usages",
    body: (i) => ({ subscription: i["subscriptions"] }),
    patch: { current_usage_amount_cents: 7 },
  },
  {
    name: "daily_usages",
    body: (i) => ({
      customer: i["customers"],
      subscription: i["subscriptions"],
      external_subscription_id: "s-1",
      from_datetime: "2026-01-01T00:00:00.000Z",
      to_datetime: "2026-02-01T00:00:00.000Z",
      refreshed_at: "2026-01-15T00:00:00.000Z",
      usage_date: "2026-01-15",
    }),
    patch: { usage: { amount_cents: 12 } },
  },
];

const usage: readonly Sample[] = [
  {
    name: "quantified_events",
    body: (i) => ({
      external_subscription_id: "s-1",
      billable_metric: i["billable_metrics"],
      group: i["groups"],
      added_at: "2026-01-01T00:00:00.000Z",
    }),
    patch: { removed_at: "2026-01-02T00:00:00.000Z" },
  },
  {
    name: "cached_aggregations",
    body: (i) => ({
      timestamp: "2026-01-01T00:00:00.000Z",
      external_subscription_id: "s-1",
      charge: i["charges"],
      current_aggregation: 1.5,
    }),
    patch: { max_aggregation: 2.25 },
  },
  {
    name: "fixed_charge_events",
    body: (i) => ({ subscription: i["subscriptions"], fixed_charge: i["fixed_charges"], units: 1 }),
    patch: { units: 2 },
  },
];

export const firstSamples = [...settings, ...catalog, ...customers, ...usage];
