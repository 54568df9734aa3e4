// Rules over several fields of documents that have references. Conditions can't say them: a type
// has either references or `if` and `then`. They run behind creates and updates by callers.
import { outputValue } from "opwright/runtime";
import { fail } from "../generated/errors.js";

type Row = Readonly<Record<string, unknown>>;

/** The document in the answer of a create, or of an update. */
function writtenOf(output: unknown): Row {
  const value = outputValue(output as never) as Row;
  return typeof value["data"] === "object" && "diff" in value ? (value["data"] as Row) : value;
}

const has = (row: Row, field: string): boolean => (row[field] ?? null) !== null;

function requireRule(holds: boolean, rule: string): void {
  if (!holds) throw fail("rule_broken", { rule });
}

/** A hook that wants one of the fields, and no more. */
const requireOne =
  (...fields: readonly string[]) =>
  (_input: unknown, _context: unknown, output: unknown): void => {
    const row = writtenOf(output);
    requireRule(
      fields.filter((field) => has(row, field)).length === 1,
      `one of ${fields.join(", ")}`,
    );
  };

export const requirePlanOrSubscription = requireOne("plan", "subscription");
export const requireFeatureOrPrivilege = requireOne("feature", "privilege");
export const requireSubscriptionIdOrWallet = requireOne("subscription_external_id", "wallet");
export const requireSubscriptionOrWallet = requireOne("subscription", "wallet");
export const requirePlanOrMetric = requireOne("plan", "billable_metric");
export const requirePlanOrContractCard = requireOne("plan_rate_card", "contract_rate_card");
export const requireOneOwner = requireOne("credit_note", "invoice", "plan", "subscription");

export function requireLegacyPlan(_input: unknown, _context: unknown, output: unknown): void {
  const plan = writtenOf(output);
  const missing = ["interval", "amount_cents", "pay_in_advance"].filter((one) => !has(plan, one));
  requireRule(
    plan["pricing_type"] !== "legacy" || missing.length === 0,
    "legacy plans have prices",
  );
}
export function requireSettlementSource(input: unknown, context: unknown, output: unknown): void {
  requireOne("source_payment", "source_credit_note")(input, context, output);
  const { settlement_type: type, ...row } = writtenOf(output);
  requireRule(has(row, `source_${String(type)}`), "the source is of the settlement's type");
}
export function requirePayable(input: unknown, context: unknown, output: unknown): void {
  requireOne("invoice", "payment_request")(input, context, output);
  const payment = writtenOf(output);
  const isNamed = payment["payment_type"] !== "manual" || has(payment, "reference");
  requireRule(isNamed, "manual payments have a reference");
}
export function requireRefundSource(_input: unknown, _context: unknown, output: unknown): void {
  const refund = writtenOf(output);
  const hasSource = has(refund, "credit_note") || has(refund, "wallet_transaction");
  requireRule(hasSource, "credit_note or wallet_transaction");
}
export function requireQuoteDates(_input: unknown, _context: unknown, output: unknown): void {
  const version = writtenOf(output);
  const status = version["status"];
  requireRule((status === "approved") === has(version, "approved_at"), "approved has a date");
  const isVoided = has(version, "voided_at") && has(version, "void_reason");
  const isSaid = has(version, "voided_at") || has(version, "void_reason");
  requireRule(status === "voided" ? isVoided : !isSaid, "voided has a date and a reason");
}

const items: Readonly<Record<string, readonly string[]>> = {
  charge: ["charge", "subscription"],
  fixed_charge: ["fixed_charge"],
  subscription: ["subscription"],
  commitment: ["subscription"],
  credit: ["wallet_transaction"],
};
export function requireFeeItem(_input: unknown, _context: unknown, output: unknown): void {
  const fee = writtenOf(output);
  const type = String(fee["fee_type"]);
  requireRule(
    (items[type] ?? []).every((field) => has(fee, field)),
    `a fee for ${type}`,
  );
}
