// The samples whose references lead to documents that operations make: invoices and payments.
import { salesSamples } from "./sales-samples.js";
import type { Sample } from "./samples.js";

const usd = { amount_currency: "USD" };
const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;

const wallets: readonly Sample[] = [
  {
    name: "wallets",
    body: (i) => ({
      customer: i["customers"],
      name: "Prepaid",
      code: "main",
      balance_currency: "USD",
      rate_amount: 1.5,
      billable_metrics: [i["billable_metrics"]],
      invoice_custom_sections: [i["invoice_custom_sections"]],
    }),
    patch: { priority: 1 },
    keptBy: "wallet_transactions",
  },
  {
    name: "recurring_transaction_rules",
    body: (i) => ({ wallet: i["wallets"], interval: "monthly", paid_credits: 10.1234 }),
    patch: { granted_credits: 0.5 },
  },
  {
    name: "usage_monitoring_alerts",
    body: () => ({
      subscription_external_id: "s-1",
      alert_type: "current_usage_amount",
      code: "high",
    }),
    patch: { name: "High" },
  },
  {
    name: "usage_monitoring_alert_thresholds",
    body: (i) => ({ alert: i["usage_monitoring_alerts"], value: 50.5, code: "warn" }),
    patch: { notify_on: ["triggered", "resolved"] },
  },
  {
    name: "usage_monitoring_triggered_alerts",
    body: (i) => ({
      alert: i["usage_monitoring_alerts"],
      subscription: i["subscriptions"],
      current_value: 60,
      previous_value: 40,
      triggered_at: day(1),
    }),
    patch: { kind: "resolved", fully_resolved: true },
  },
];

const invoices: readonly Sample[] = [
  {
    name: "invoices",
    body: (i) => ({
      customer: i["customers"],
      billing_entity: i["billing_entities"],
      currency: "USD",
    }),
    patch: { purchase_order_number: "PO-7" },
  },
  {
    name: "invoice_subscriptions",
    body: (i) => ({
      invoice: i["invoices"],
      subscription: i["subscriptions"],
      invoicing_reason: "subscription_starting",
      recurring: true,
      charges_from_datetime: day(1),
      charges_to_datetime: day(2),
    }),
    patch: { timestamp: day(2) },
  },
  {
    name: "invoice_metadata",
    body: (i) => ({ invoice: i["invoices"], key: "po", value: "7" }),
    patch: { value: "8" },
  },
  {
    name: "invoices_taxes",
    body: (i) => ({
      invoice: i["invoices"],
      tax: i["taxes"],
      tax_code: "vat",
      tax_name: "VAT",
      ...usd,
    }),
    patch: { tax_rate: 20, amount_cents: 3 },
  },
  {
    name: "applied_invoice_custom_sections",
    body: (i) => ({ invoice: i["invoices"], name: "Notes", code: "notes" }),
    patch: { details: "Thanks" },
  },
  {
    name: "applied_usage_thresholds",
    body: (i) => ({ usage_threshold: i["usage_thresholds"], invoice: i["invoices"] }),
    patch: { lifetime_usage_amount_cents: 9 },
  },
  {
    name: "integrations",
    body: () => ({ name: "Xero", code: "xero", type: "xero" }),
    patch: { settings: { region: "eu" } },
  },
  {
    name: "integration_customers",
    body: (i) => ({
      integration: i["integrations"],
      customer: i["customers"],
      type: "xero",
      category: "accounting",
      is_default: true,
    }),
    patch: { external_customer_id: "x-1" },
  },
  {
    name: "invoice_connections",
    body: (i) => ({
      invoice: i["invoices"],
      integration_customer: i["integration_customers"],
      category: "accounting",
    }),
    patch: { category: "tax" },
  },
  {
    name: "fees",
    body: (i) => ({
      invoice: i["invoices"],
      billing_entity: i["billing_entities"],
      fee_type: "charge",
      charge: i["charges"],
      charge_filter: i["charge_filters"],
      subscription: i["subscriptions"],
      amount_cents: 1200,
      precise_amount_cents: "1199.999999999999999",
      ...usd,
    }),
    patch: { payment_status: "succeeded", succeeded_at: day(3) },
  },
  {
    name: "fees_taxes",
    body: (i) => ({ fee: i["fees"], tax: i["taxes"], tax_code: "vat", tax_name: "VAT", ...usd }),
    patch: { amount_cents: 240 },
  },
  {
    name: "adjusted_fees",
    body: (i) => ({
      invoice: i["invoices"],
      fee: i["fees"],
      charge: i["charges"],
      fee_type: "charge",
    }),
    patch: { adjusted_units: true, units: 2 },
  },
  {
    name: "pricing_unit_usages",
    body: (i) => ({
      fee: i["fees"],
      pricing_unit: i["pricing_units"],
      short_name: "TK",
      amount_cents: 5,
    }),
    patch: { conversion_rate: "0.5" },
  },
  {
    name: "presentation_breakdowns",
    body: (i) => ({ fee: i["fees"], presentation_by: [{ region: "eu" }], units: 1 }),
    patch: { units: 3 },
  },
  {
    name: "credits",
    body: (i) => ({
      invoice: i["invoices"],
      applied_coupon: i["applied_coupons"],
      amount_cents: 1,
      ...usd,
    }),
    patch: { before_taxes: true },
  },
  {
    name: "credit_notes_taxes",
    body: (i) => ({
      credit_note: i["credit_notes"],
      tax: i["taxes"],
      tax_code: "vat",
      tax_name: "VAT",
      ...usd,
    }),
    patch: { base_amount_cents: 5 },
  },
];

const payments: readonly Sample[] = [
  {
    name: "payment_requests",
    body: (i) => ({
      customer: i["customers"],
      dunning_campaign: i["dunning_campaigns"],
      invoices: [i["invoices"]],
      amount_cents: 5,
      ...usd,
    }),
    patch: { payment_status: "failed", payment_attempts: 1 },
  },
  {
    name: "payment_intents",
    body: (i) => ({ invoice: i["invoices"], expires_at: day(4) }),
    patch: { status: "expired" },
  },
  {
    name: "payments",
    body: (i) => ({
      customer: i["customers"],
      payment_request: i["payment_requests"],
      payment_provider: i["payment_providers"],
      payment_provider_customer: i["payment_provider_customers"],
      amount_cents: 5,
      ...usd,
      status: "requires_action",
      provider_payment_id: "pi_1",
    }),
    patch: { payable_payment_status: "processing" },
  },
  {
    name: "refunds",
    body: (i) => ({
      payment: i["payments"],
      credit_note: i["credit_notes"],
      payment_provider_customer: i["payment_provider_customers"],
      amount_cents: 1,
      ...usd,
      provider_refund_id: "re_1",
    }),
    patch: { status: "succeeded" },
  },
  {
    name: "invoice_settlements",
    body: (i) => ({
      billing_entity: i["billing_entities"],
      target_invoice: i["invoices"],
      settlement_type: "payment",
      source_payment: i["payments"],
      amount_cents: 5,
      ...usd,
    }),
    patch: { amount_cents: 4 },
  },
  {
    name: "wallet_transaction_consumptions",
    body: (i) => ({
      inbound_wallet_transaction: i["wallet_transactions"],
      outbound_wallet_transaction: i["spent"],
      consumed_amount_cents: 1,
    }),
    patch: { consumed_amount_cents: 2 },
  },
  {
    name: "integration_collection_mappings",
    body: (i) => ({ integration: i["integrations"], mapping_type: "tax", type: "xero" }),
    patch: { settings: { id: "1" } },
  },
  {
    name: "integration_items",
    body: (i) => ({ integration: i["integrations"], item_type: "tax", external_id: "t-1" }),
    patch: { external_name: "VAT" },
  },
  {
    name: "integration_mappings",
    body: (i) => ({ integration: i["integrations"], add_on: i["add_ons"], type: "xero" }),
    patch: { settings: { id: "2" } },
  },
  {
    name: "integration_resources",
    body: (i) => ({
      integration: i["integrations"],
      invoice: i["invoices"],
      resource_type: "invoice",
    }),
    patch: { external_id: "inv-1" },
  },
  {
    name: "billing_object_connections",
    body: (i) => ({ wallet: i["wallets"], category: "payment", behavior: "skip" }),
    patch: { behavior: "specific" },
  },
  {
    name: "error_details",
    body: (i) => ({ invoice: i["invoices"], error_code: "tax_error" }),
    patch: { details: { tax: "unknown" } },
  },
  {
    name: "item_metadata",
    body: (i) => ({ credit_note: i["credit_notes"], value: { colour: "red" } }),
    patch: { value: { colour: "blue" } },
  },
];

export const walletSamples = wallets;
export const laterSamples = [...invoices, ...payments, ...salesSamples];
