// What is kept of customers goes on request; what providers give us is written and never read.
import { collection } from "opwright/runtime";
import { customersSpec } from "../generated/documents/customers.js";
import { inboundWebhooksSpec } from "../generated/documents/inbound_webhooks.js";
import { integrationsSpec } from "../generated/documents/integrations.js";
import { paymentProvidersSpec } from "../generated/documents/payment_providers.js";
import type { InboxCleanJob } from "../generated/jobs.js";
import type { CustomersAnonymizeHandler } from "../generated/types/customers.js";
import type { IntegrationsSetSecretsHandler } from "../generated/types/integrations.js";
import type { PaymentProvidersSetSecretsHandler } from "../generated/types/payment_providers.js";

const personal = {
  name: null,
  firstname: null,
  lastname: null,
  email: null,
  phone: null,
  url: null,
  logo_url: null,
  address_line1: null,
  address_line2: null,
  city: null,
  state: null,
  zipcode: null,
  shipping_address_line1: null,
  shipping_address_line2: null,
  shipping_city: null,
  shipping_zipcode: null,
  shipping_state: null,
  legal_name: null,
  legal_number: null,
  tax_identification_number: null,
};

export const anonymizeCustomer: CustomersAnonymizeHandler = async ({ id }, context) => {
  const customers = collection(customersSpec, context);
  await customers.update(id, "any", personal);
  return { revisions: await customers.purgeRevisions(id) };
};

export const setProviderSecrets: PaymentProvidersSetSecretsHandler = async (
  { id, secrets },
  context,
) => {
  await collection(paymentProvidersSpec, context).update(id, "any", { secrets });
};

export const setIntegrationSecrets: IntegrationsSetSecretsHandler = async (
  { id, secrets },
  context,
) => {
  await collection(integrationsSpec, context).update(id, "any", { secrets });
};

/** `retention` removes what was deleted; what is only old is removed here. */
export const cleanInbox: InboxCleanJob = async (_input, context, { plannedAt, commit }) => {
  const before = new Date(new Date(plannedAt).getTime() - 90 * 86_400_000).toISOString();
  const filters = { $values: { status: "succeeded" as const, created_at: { $lt: before } } };
  for (let batch = 0; batch < 1000; batch += 1) {
    const old = await collection(inboundWebhooksSpec, context).find({ filters, size: 500 });
    if (old.length === 0) return;
    await commit(`batch ${batch}`, async (within) => {
      await collection(inboundWebhooksSpec, within).deleteMany(
        old.map(({ id, rev }) => ({ id, rev })),
      );
    });
  }
};
