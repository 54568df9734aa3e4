// Values that only stand for rules: Lago's partial unique indexes, which hold for some rows only.
// Each is null, or a key of its own, where the rule doesn't hold.
import type { ChargeModel, Pricing } from "../generated/types/models.js";

interface Versioned {
  readonly code: string;
  readonly parent?: string | null;
}

/** Overridden plans and charges have their parent's code, so only those without one count. */
export const topCode = ({ code, parent }: Versioned): string | null =>
  parent === null || parent === undefined ? code : null;

export const openCode = (entity: {
  readonly code: string;
  readonly archived_at?: string | null;
}): string | null => ((entity.archived_at ?? null) === null ? entity.code : null);

export const recurringFor = (threshold: {
  readonly recurring?: boolean;
  readonly plan?: string | null;
  readonly subscription?: string | null;
}): string | null =>
  threshold.recurring === true ? (threshold.plan ?? threshold.subscription ?? null) : null;

export const appliedOnce = (campaign: {
  readonly applied_to_organization: boolean;
}): boolean | null => (campaign.applied_to_organization ? true : null);

export const defaultFor = (given: {
  readonly is_default: boolean;
  readonly customer: string;
}): string | null => (given.is_default ? given.customer : null);

export const defaultOf = (given: {
  readonly is_default: boolean;
  readonly category?: string | null;
}): string | null => (given.is_default ? (given.category ?? null) : null);

export const metricOrNone = (alert: { readonly billable_metric?: string | null }): string =>
  alert.billable_metric ?? "none";

export const recurringOf = (threshold: {
  readonly recurring: boolean;
  readonly alert: string;
}): string | null => (threshold.recurring ? threshold.alert : null);

/** A subscription is billed once for its start, and once for its end. */
export const onceBilled = (given: {
  readonly invoicing_reason?: string | null;
  readonly regenerated_invoice?: string | null;
}): string | null => {
  const { invoicing_reason: reason = null, regenerated_invoice: again = null } = given;
  const isOnce = reason === "subscription_starting" || reason === "subscription_terminating";
  return isOnce && again === null ? reason : null;
};

/** An event in advance has one fee for each charge and filter. */
export const advanceKey = (fee: {
  readonly pay_in_advance?: boolean;
  readonly duplicated_in_advance?: boolean;
  readonly original_fee?: string | null;
  readonly pay_in_advance_event_transaction_id?: string | null;
  readonly charge?: string | null;
  readonly charge_filter?: string | null;
}): string | null => {
  const transaction = fee.pay_in_advance_event_transaction_id ?? null;
  const isFirst = fee.duplicated_in_advance !== true && (fee.original_fee ?? null) === null;
  if (fee.pay_in_advance !== true || transaction === null || !isFirst) return null;
  return JSON.stringify([transaction, fee.charge ?? null, fee.charge_filter ?? null]);
};

export const underWayFor = (payment: {
  readonly payment_type?: string;
  readonly payable_payment_status?: string;
  readonly invoice?: string | null;
  readonly payment_request?: string | null;
}): string | null => {
  const { payment_type: type, payable_payment_status: status } = payment;
  const isUnderWay = status === "pending" || status === "processing";
  return type === "provider" && isUnderWay
    ? (payment.invoice ?? payment.payment_request ?? null)
    : null;
};

export const activeFor = (intent: {
  readonly status: string;
  readonly invoice: string;
}): string | null => (intent.status === "active" ? intent.invoice : null);

export const activeCode = (wallet: {
  readonly status: string;
  readonly code?: string | null;
}): string | null => (wallet.status === "active" ? (wallet.code ?? null) : null);

export const liveOf = (version: {
  readonly status: string;
  readonly quote: string;
}): string | null => (version.status === "voided" ? null : version.quote);

export const liveKey = ({ status }: { readonly status: string }): string | null =>
  status === "pending" || status === "active" ? status : null;

/** Nulls are distinct in a unique rule, and here they must not be. */
export const entityKey = (mapping: { readonly billing_entity?: string | null }): string =>
  mapping.billing_entity ?? "none";

export const valueKey = ({ value = null }: { readonly value?: string | null }): string =>
  value === null ? "any" : `=${value}`;

export const chargeModel = ({ properties }: { readonly properties: Pricing }): ChargeModel =>
  properties.model;

export const rateModel = ({
  rate_properties,
}: {
  readonly rate_properties: Pricing;
}): ChargeModel => rate_properties.model;
