// What conditions among the fields of a document refuse: its name, a body, and the fault.
import type { World } from "./world.js";

export async function brokenRules(
  world: World,
): Promise<readonly (readonly [string, object, string])[]> {
  const subscription = await world.subscription("s-1");
  const wallet = await world.wallet();
  const customer = await world.customer();
  const quote = await world.make("quotes", { customer, order_type: "one_off" });
  const feature = await world.make("entitlement_features", { code: "seats" });
  const invoice = await world.draft(customer, 1);
  const usd = { amount_cents: 1, amount_currency: "USD" };
  const { plan, charge, entity: billing_entity } = world;
  const both = { plan, subscription, amount_cents: 1 };
  const payment = { customer, ...usd, status: "open" };
  const settlement = { billing_entity, target_invoice: invoice, ...usd };
  const alert = { alert_type: "wallet_balance_amount", code: "a" };
  const legacy = { name: "A", code: "a", amount_currency: "USD", interval: "monthly" };
  const constant = "must be equal to constant";
  return [
    ["usage_thresholds", both, `/subscription ${constant}`],
    ["usage_thresholds", { amount_cents: 1 }, "/subscription must be string"],
    ["plans", legacy, "/amount_cents must be integer"],
    ["entitlement_entitlements", { feature }, "/subscription must be string"],
    ["payments", payment, "/payment_request must be string"],
    ["payments", { ...payment, invoice, payment_type: "manual" }, "/reference must be string"],
    [
      "invoice_settlements",
      { ...settlement, settlement_type: "payment" },
      "/source_payment must be string",
    ],
    [
      "usage_monitoring_alerts",
      { ...alert, subscription_external_id: "s-1", wallet },
      `/wallet ${constant}`,
    ],
    [
      "fees",
      { billing_entity, fee_type: "charge", charge, ...usd },
      "/subscription must be string",
    ],
    ["fees", { billing_entity, fee_type: "credit", ...usd }, "/wallet_transaction must be string"],
    ["quote_versions", { quote, void_reason: "manual" }, `/void_reason ${constant}`],
    ["item_metadata", { value: {} }, "/subscription must be string"],
    ["item_metadata", { value: {}, plan, invoice }, `/plan ${constant}`],
  ];
}
