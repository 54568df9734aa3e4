// The model of a price, which Lago names in a column beside its properties.
import type { ChargeModel, Pricing } from "../generated/types/models.js";

export const chargeModel = ({ properties }: { readonly properties: Pricing }): ChargeModel =>
  properties.model;

export const rateModel = ({
  rate_properties,
}: {
  readonly rate_properties: Pricing;
}): ChargeModel => rate_properties.model;
